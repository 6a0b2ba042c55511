# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the spec file and of the recipe for spack, as far as Debian can run them.

LONG_CHECKS += check-rpm
.PHONY: check-rpm
check-rpm: ## build packages by the spec file, install and remove them, and build by the recipe for spack
	@tests/rpm/run
