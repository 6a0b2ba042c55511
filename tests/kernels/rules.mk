# SPDX-License-Identifier: GPL-2.0-or-later
# What is special on other kernels than the usual one, and on a machine that has no counters.

I386_TEST := $(BUILD)/tests/kernels/i386

# Not of "make all": it needs a package that "make run" can do without.
CHECKS += check-kernels
CHECK_PROGRAMS += $(I386_TEST)

$(I386_TEST): tests/kernels/i386.c tests/guest/loop.h include/perfctr.h include/linux/perfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -m32 -static -o $@ $<

.PHONY: check-kernels
check-kernels: $(I386_TEST) $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(PERFEX) $(PERFEX_32)
	@tests/kernels/run
