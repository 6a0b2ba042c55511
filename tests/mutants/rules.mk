# SPDX-License-Identifier: GPL-2.0-or-later
# Faults for the driver. It takes a kernel for each fault to check that the tests find it. "make check" only checks that
# the faults can still be put into the sources.

CHECKS += check-mutants-apply
LONG_CHECKS += check-mutants

.PHONY: check-mutants-apply
check-mutants-apply:
	@tests/mutants/run --dry-run

.PHONY: check-mutants
check-mutants: all qemu ## put faults into the driver, one by one, and see that a test finds each
	@tests/mutants/run $(MUTANTS)
