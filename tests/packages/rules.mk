# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the packages in roots of Debian's releases. They download these roots, so "make check" does not run them.

.PHONY: check-packages
check-packages: ## build, install, use, upgrade and purge the Debian packages in new roots of Debian 12 and 13
	@$(MAKE) --no-print-directory -j2 machine $(EXACT)/nops
	@tests/packages/run
