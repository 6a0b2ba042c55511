# SPDX-License-Identifier: GPL-2.0-or-later
# The packages in roots of Debian's releases: it downloads these, so "make check" does not run it.

.PHONY: check-packages
check-packages: ## build, install, use, upgrade and purge the Debian packages in new roots of Debian 12 and 13
	@tests/packages/run
