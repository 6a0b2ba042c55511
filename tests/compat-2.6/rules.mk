# SPDX-License-Identifier: GPL-2.0-or-later
# Programs of perfctr 2.6, linked statically, as most of them were. The 32-bit machines here execute static programs
# only.

COMPAT_TEST := $(BUILD)/tests/compat-2.6
COMPAT_TEST_SOURCES := $(filter-out %/layout.c,$(wildcard tests/compat-2.6/*.c))
COMPAT_LAYOUTS := $(COMPAT_TEST)/layout-32 $(COMPAT_TEST)/layout-64
CHECKS += check-compat-2.6
LONG_CHECKS += check-compat-2.6-free
FREE_RUNNING += check-compat-2.6-free
CHECK_PROGRAMS += $(COMPAT_TEST)/old-32 $(COMPAT_TEST)/old-64 $(COMPAT_LAYOUTS)

$(COMPAT_TEST)/old-64: $(COMPAT_STATIC)
$(COMPAT_TEST)/old-32: $(COMPAT_STATIC_32)
$(COMPAT_TEST)/old-%: $(COMPAT_TEST_SOURCES) tests/compat-2.6/old.h tests/guest/loop.h include/perfctr-2.6/libperfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -Iinclude/perfctr-2.6 -m$* -static -pthread -o $@ $(filter %.c %.a,$^)

$(COMPAT_TEST)/layout-%: tests/compat-2.6/layout.c include/perfctr-2.6/libperfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -Iinclude/perfctr-2.6 -m$* -c -o $@ $<

.PHONY: check-compat-2.6 check-compat-2.6-free
check-compat-2.6 check-compat-2.6-free: $(COMPAT_TEST)/old-32 $(COMPAT_TEST)/old-64 $(COMPAT_LAYOUTS) $(BPFD)
check-compat-2.6:
	@DETERMINISTIC=1 tests/compat-2.6/run
check-compat-2.6-free:
	@tests/compat-2.6/run
