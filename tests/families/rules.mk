# SPDX-License-Identifier: GPL-2.0-or-later
# The same tests on every profile that has a line in tests/families/profiles.

FAMILIES := $(BUILD)/tests/families
FAMILIES_SOURCES := $(wildcard tests/families/*.c)
FAMILIES_HEADERS := tests/families/families.h tests/families/hybrid.h emulator/pmu/pmu-stats.h include/perfctr.h \
	include/linux/perfctr.h
CHECKS += check-families check-families-watchdog
LONG_CHECKS += check-families-long check-families-watchdog-long
FREE_RUNNING += check-families-long check-families-watchdog-long
CHECK_PROGRAMS += $(FAMILIES)/families-64
LONG_PROGRAMS += $(FAMILIES)/families-32 $(PERFEX_32)

# Linked statically: the 32-bit machines execute nothing else. Not in "make all": programs of 32 bits need a package
# that "make run" does not need.
$(FAMILIES)/families-64: $(LIB_STATIC)
$(FAMILIES)/families-32: $(LIB_STATIC_32)
$(FAMILIES)/families-%: $(FAMILIES_SOURCES) $(FAMILIES_HEADERS)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -Iemulator/pmu -m$* -static -o $@ $(filter %.c %.a,$^)

.PHONY: check-families check-families-long check-families-watchdog check-families-watchdog-long
check-families: $(FAMILIES)/families-64 $(GUEST_PROGRAMS) $(PERFEX)
	@DETERMINISTIC=1 FUZZ=5000 tests/families/run $(shell sed '/^#/d' tests/families/gate)
check-families-long: $(FAMILIES)/families-32 $(FAMILIES)/families-64 $(GUEST_PROGRAMS) $(PERFEX) $(PERFEX_32)
	@tests/families/run
# No processor on which RDPMC faults is tested here: perf_events itself crashes there when the watchdog is switched off.
check-families-watchdog: $(FAMILIES)/families-64 $(GUEST_PROGRAMS) $(PERFEX)
	@DETERMINISTIC=1 FUZZ=5000 WATCHDOG=1 tests/families/run $(shell sed '/^#/d' tests/families/gate-watchdog)
check-families-watchdog-long: $(FAMILIES)/families-64 $(GUEST_PROGRAMS) $(PERFEX)
	@WATCHDOG=1 tests/families/run arch-v1 arch-v6 hybrid zen-v2 p4-64 k8 p6-64 lie-no-registers \
		lie-zero-registers lie-zen lie-p4 hybrid-no-leaf
