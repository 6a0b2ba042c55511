# SPDX-License-Identifier: GPL-2.0-or-later
# Faults for the driver: whether the tests find them takes a kernel for each; whether they still apply is checked
# always.

CHECKS += check-mutants-apply
LONG_CHECKS += check-mutants

.PHONY: check-mutants-apply
check-mutants-apply:
	@tests/mutants/run --dry-run

.PHONY: check-mutants
check-mutants: all qemu ## put faults into the driver, one by one, and see that a test finds each
	@tests/mutants/run $(MUTANTS)
