# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of perfex exact. They boot the machine that "make machine" has packed.

EXACT := $(BUILD)/tests/exact
EXACT_PROGRAMS := $(addprefix $(EXACT)/,nops loop blocks string calls avx512 threads region no_ptrace)
ALL += $(EXACT_PROGRAMS)
CHECKS += check-exact

$(EXACT)/threads: tests/exact/threads.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $<

$(EXACT)/no_ptrace: tests/exact/no_ptrace.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<

$(EXACT)/region: tests/exact/region.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS)

$(EXACT)/%: tests/exact/asm/%.S
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(SAME_ANYWHERE) -nostdlib -static -Wl,-z,noexecstack -o $@ $<

.PHONY: check-exact
check-exact: $(EXACT_PROGRAMS) $(GUEST)/memory
	@tests/exact/run
