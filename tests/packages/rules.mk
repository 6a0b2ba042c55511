# SPDX-License-Identifier: GPL-2.0-or-later
# The package of the module in roots of Debian's releases: it downloads these, so "make check" does not run it.

.PHONY: check-packages
check-packages: ## install, upgrade and purge perfctr-dkms in new roots of Debian 12 and 13
	@tests/packages/run
