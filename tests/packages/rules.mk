# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the packages in roots of Debian's releases. They download these roots, so "make check" does not run them.

LONG_CHECKS += check-packages

# Other checks use the machine at the same time, so this one does not pack the machine a second time.
.PHONY: check-packages
check-packages: ## build, install, use, upgrade and purge the Debian packages in new roots of Debian 12 and 13
	@test -e $(BUILD)/machine/processors || $(MAKE) --no-print-directory -j2 machine
	@$(MAKE) --no-print-directory $(EXACT)/nops
	@tests/packages/run
