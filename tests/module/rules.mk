# SPDX-License-Identifier: GPL-2.0-or-later
# The driver as a module, on kernels as Debian ships them.
CHECKS += check-module

.PHONY: check-module check-module-long
check-module: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(PERFEX)
	@tests/module/run
check-module-long: all ## load and unload the module 1,000 times under load; the suites that are left out of "make check"
	@ROUNDS=1000 tests/module/run load
	@tests/module/run rest rest-6.1
