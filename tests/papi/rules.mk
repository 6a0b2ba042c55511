# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of PAPI with perfctr's component, which scripts/build-papi builds, in the emulated machine.

CHECKS += check-papi
LONG_CHECKS += check-papi-long
FREE_RUNNING += check-papi-long
CHECK_PROGRAMS += papi
LONG_PROGRAMS += papi-plain

.PHONY: papi papi-plain
papi: $(LIB_SHARED) ## build PAPI with perfctr's component
	@scripts/build-papi
papi-plain:
	@scripts/build-papi --unpatched

.PHONY: check-papi
check-papi: $(LIB_SHARED)
	@tests/papi/run absence arch

.PHONY: check-papi-long
check-papi-long: $(LIB_SHARED)
check-papi-long: ## PAPI's own tests on Intel's and AMD's processors, its cost beside PAPI as it is, and PAPI 7.2
	@tests/papi/run
	@tests/papi/run ctests-zen ctests-k8
	@PAPI=7.2 tests/papi/run absence cost arch zen k8 arch-v5 ctests-arch
