# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of perfex exact. They boot the machine that "make machine" has packed.

EXACT := $(BUILD)/tests/exact
EXACT_PROGRAMS := $(addprefix $(EXACT)/,nops loop blocks string calls abis avx512 threads region no_ptrace i386)
ALL += $(EXACT_PROGRAMS)
CHECKS += check-exact

EXACT_HOSTS_PROGRAMS := $(addprefix $(EXACT)/,enter primes turns billion)
LONG_PROGRAMS += $(EXACT_HOSTS_PROGRAMS)
LONG_CHECKS += check-exact-hosts

$(EXACT)/threads: tests/exact/threads.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $<

$(EXACT)/no_ptrace: tests/exact/no_ptrace.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<

$(EXACT)/region: tests/exact/region.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS)

$(EXACT)/turns: tests/exact/threads.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread -static $(LDFLAGS) -o $@ $<

$(EXACT)/enter $(EXACT)/primes: $(EXACT)/%: tests/exact/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -static $(LDFLAGS) -o $@ $<

$(EXACT)/i386: SAME_ANYWHERE += -m32

$(EXACT)/%: tests/exact/asm/%.S
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(SAME_ANYWHERE) -nostdlib -static -Wl,-z,noexecstack -o $@ $<

# The tests of perfex exact need the perfex and the machine that are built, and neither their sources nor other tests:
# while the rest is the same, make shows the old output instead. As all of this is hidden, a test that reads it fails.
EXACT_NEEDS_NOT := $(BUILT_FROM) $(PROSE) examples $(filter-out docs/exact.md docs/man %.json,$(wildcard docs/*)) \
	$(filter-out tests/exact tests/unit tests/vm,$(wildcard tests/*))

.PHONY: check-exact check-exact-hosts
check-exact: $(EXACT_PROGRAMS) $(GUEST)/memory $(PERFEX)
	@scripts/as-before $(addprefix --without ,$(EXACT_NEEDS_NOT)) \
		$(addprefix --with ,$(PERFEX) $(BUILD)/machine $(EXACT) $(GUEST)/memory) -- tests/exact/run
# Other checks use the machine at the same time, so this one does not pack the machine a second time.
check-exact-hosts: $(EXACT_HOSTS_PROGRAMS) ## compare ten commands' counts on hosts of Debian 12 and 13, as root
	@test -e $(BUILD)/machine/processors || $(MAKE) --no-print-directory machine
	@$(MAKE) --no-print-directory --silent --old-file=machine machine-archive
	@tests/exact/hosts
