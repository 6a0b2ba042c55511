# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the special properties of other kernels than the usual one, and of a machine without counters.

I386_TEST := $(BUILD)/tests/kernels/i386

# Not in "make all": it needs a package that "make run" does not need.
CHECKS += check-kernels-tsc
LONG_CHECKS += check-kernels check-linux7-guest check-linux7-families check-linux7-module
LONG_PROGRAMS += $(I386_TEST)
FREE_RUNNING += check-kernels-tsc check-kernels check-linux7-guest check-linux7-families check-linux7-module

$(I386_TEST): tests/kernels/i386.c tests/guest/loop.h include/perfctr.h include/linux/perfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -m32 -static -o $@ $<

.PHONY: check-kernels-tsc check-kernels
check-kernels-tsc: $(PERFEX) $(GUEST_PROGRAMS)
	@tests/kernels/run tsc
check-kernels: $(I386_TEST) $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(PERFEX) $(PERFEX_32)
	@tests/kernels/run

# Tests of the newest Linux that is supported; "make check" leaves them out. The cost of a switch is measured on 6.12
# only.
LINUX7_SUITES := counts control page life forks tree members record session session_marks session_pages mark \
	permission rdpmc isolation protocol read

.PHONY: linux7 check-linux7
linux7:
	@$(MAKE) --no-print-directory -j2 all qemu $(FAMILIES)/families-64 $(GUEST_OTHER_PROGRAMS)
	@scripts/build-kernel --linux 7.3
	@scripts/build-module --kernel debian-7.3
check-linux7: ## suites of the guest, five processors, and the module on Linux 7.3
	@scripts/check linux7 $(addprefix check-linux7-,guest families module)

.PHONY: check-linux7-guest check-linux7-families check-linux7-module
check-linux7-guest:
	@LINUX=7.3 tests/guest/run $(LINUX7_SUITES)
check-linux7-families:
	@LINUX=7.3 tests/families/run arch arch-v6 hybrid p4-64 zen-v2
check-linux7-module:
	@tests/module/run $(call machines_of,linux7,tests/module/machines)
