# SPDX-License-Identifier: GPL-2.0-or-later
# Tests that run inside the machine: one program with all suites, and the programs that it counts.

GUEST := $(BUILD)/tests/guest
GUEST_OBJECTS := $(patsubst tests/guest/%.c,$(GUEST)/%.o,$(wildcard tests/guest/*.c))
GUEST_PROGRAMS := $(addprefix $(GUEST)/,hot rounds loop loop32 loop-tiny loop-long loop-huge overflow noise fault-mix \
	signals smc memory memory32 lines lines32 fork exec die-9 die-15 rdpmc peek tree chain \
	abi32 p5mon-loop32 p5mon-misaligned32)

ALL += $(GUEST)/guest-tests $(GUEST_PROGRAMS)
GUEST_MACHINES := $(addprefix check-guest-,$(call machines_of,gate,tests/guest/machines))
GUEST_LONG := $(addprefix check-guest-,$(call machines_of,long,tests/guest/machines))
CHECKS += $(GUEST_MACHINES)
LONG_CHECKS += $(GUEST_LONG)
# On a deterministic machine a test has the same result each time.
FREE_RUNNING += $(filter-out $(addprefix check-guest-,$(call same_each_time,tests/guest/machines)), \
	$(GUEST_MACHINES) $(GUEST_LONG))

# -O2 comes after CFLAGS, and so prevails: a test counts the instructions of an inline read.
$(GUEST)/%.o: tests/guest/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(GUEST)/guest-tests: $(GUEST_OBJECTS) $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

# The object is made by a step of its own, under a fixed name: the linker notes the name, which would be a random one
# otherwise.
define GUEST_ASSEMBLE
$(SAY_CC)$(CC) $(SAME_ANYWHERE) $(GUEST_ASM_FLAGS) -c -o $@-asm.o $<
$(if $(filter 1,$(V)),,@)$(CC) $(GUEST_ASM_FLAGS) -nostdlib -static -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments \
	-o $@ $@-asm.o
endef

# The headers in asm/ are the same for both architectures. Without gcc-multilib the headers for 32 bits are missing.
ASM_HEADERS_OF_64 = -isystem /usr/include/$(shell $(CC) -print-multiarch)
$(GUEST)/%32: GUEST_ASM_FLAGS = -m32 $(ASM_HEADERS_OF_64)
$(GUEST)/lines32: tests/guest/asm/lines.S
	@mkdir -p $(@D)
	$(GUEST_ASSEMBLE)

$(GUEST)/%: tests/guest/asm/%.S
	@mkdir -p $(@D)
	$(GUEST_ASSEMBLE)

# Without a C library.
$(GUEST)/abi32: tests/guest/i386/abi.c include/linux/perfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -m32 -O2 -ffreestanding -fno-stack-protector -fno-pie -no-pie -nostdlib -static \
		-Wl,-z,noexecstack -Iinclude $(ASM_HEADERS_OF_64) -o $@ $<

# Iterations: TINY_LOOP, LONG_LOOP and HUGE_LOOP of guest.h.
$(GUEST)/loop-tiny: GUEST_ASM_FLAGS := -DITERATIONS=1000
$(GUEST)/loop-long: GUEST_ASM_FLAGS := -DITERATIONS=100000000
$(GUEST)/loop-huge: GUEST_ASM_FLAGS := -DITERATIONS=2200000000
$(GUEST)/loop-%: tests/guest/asm/loop.S
	@mkdir -p $(@D)
	$(GUEST_ASSEMBLE)

# Passes: HOT_PASSES of perfex_record.c.
$(GUEST)/hot: GUEST_ASM_FLAGS := -g -DPASSES=20000

$(GUEST)/die-9: GUEST_ASM_FLAGS := -DSIGNAL=9
$(GUEST)/die-15: GUEST_ASM_FLAGS := -DSIGNAL=15
$(GUEST)/die-%: tests/guest/asm/die.S
	@mkdir -p $(@D)
	$(GUEST_ASSEMBLE)

# Not in "make all": these programs need packages that "make run" does not need.
GUEST_OTHER_PROGRAMS := $(addprefix $(GUEST)/,regions-cxx regions32 domains.policy)
CHECK_PROGRAMS += $(GUEST_OTHER_PROGRAMS)

$(GUEST)/regions-cxx: tests/guest/cxx/regions.cc $(LIB_SHARED) $(wildcard include/*.h include/linux/*.h)
	@mkdir -p $(@D)
	$(SAY_CC)$(CXX) -std=c++11 $(SAME_ANYWHERE) -O2 -g -Wall -Wextra -Werror -Iinclude -o $@ $< -L$(BUILD)/lib \
		-lperfctr -Wl,-rpath,'$$ORIGIN/../../lib'

$(GUEST)/regions32: tests/guest/i386/regions.c $(LIB_STATIC_32) $(wildcard include/*.h include/linux/*.h)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -m32 -static -o $@ $(filter %.c %.a,$^)

# Version 33 of policies is known to Linux 6.1, too.
$(GUEST)/domains.policy: tests/guest/domains.cil
	@mkdir -p $(@D)
	$(if $(filter 1,$(V)),,@)secilc --policyvers=33 --filecontext=/dev/null --output=$@ $<

.PHONY: check-guest $(GUEST_MACHINES) $(GUEST_LONG)
check-guest: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(GUEST_OTHER_PROGRAMS) $(PERFEX)
	@tests/guest/run
$(GUEST_MACHINES) $(GUEST_LONG): check-guest-%: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(GUEST_OTHER_PROGRAMS) $(PERFEX)
$(filter-out check-guest-icount-perfex,$(GUEST_MACHINES)) $(GUEST_LONG): check-guest-%:
	@tests/guest/run --machine $*
# This machine waits for files of the host, so scripts/vm does not keep what it says.
check-guest-icount-perfex:
	@$(AS_BEFORE) --with $(GUEST) --with $(PERFEX) -- tests/guest/run --machine icount-perfex

# Runs the suites in which two processors share something, in other orders each day.
LONG_CHECKS += check-guest-seeds
.PHONY: check-guest-seeds
check-guest-seeds: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(GUEST_OTHER_PROGRAMS) $(PERFEX)
check-guest-seeds: ## let processors take turns in other orders: SEED=n, SEEDS=n
	@first=$(or $(SEED),$$(($$(date +%j) * 100))) && \
		SEEDS="$$(seq -s ' ' $$first $$((first + $(or $(SEEDS),20) - 1)))" \
		TEST_ROUNDS=0.1 tests/guest/run tree births forks members totals totals_life totals_large holding \
		remote record session session_marks session_pages session_safety mark conservation isolation rdpmc \
		protocol read page

# Boots a hundred machines for each way to count wrongly, which takes half an hour.
LONG_CHECKS += check-lies
FREE_RUNNING += check-lies
.PHONY: check-lies
check-lies: $(GUEST)/guest-tests $(PERFEX) ## let perfex validate find out 400 seeded lies of the emulated PMU
	@LIE_SEEDS=100 tests/guest/run validity_miscount

-include $(GUEST_OBJECTS:.o=.d)
