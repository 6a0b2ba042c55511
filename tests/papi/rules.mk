# SPDX-License-Identifier: GPL-2.0-or-later
# PAPI with perfctr's component, built by scripts/build-papi, in the emulated machine.

CHECKS += check-papi
CHECK_PROGRAMS += papi papi-plain

.PHONY: papi papi-plain
papi: $(LIB_SHARED) ## build PAPI with perfctr's component
	@scripts/build-papi
papi-plain:
	@scripts/build-papi --unpatched

.PHONY: check-papi
check-papi: $(LIB_SHARED)
	@tests/papi/run

.PHONY: check-papi-long
check-papi-long: $(LIB_SHARED) ## run PAPI's own tests on AMD's processors, too, and PAPI 7.2
	@tests/papi/run ctests-arch ctests-zen ctests-k8
	@PAPI=7.2 tests/papi/run absence cost arch zen k8 arch-v5 ctests-arch
