# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the scripts that run the tests.

CHECKS += check-summary

.PHONY: check-summary
check-summary:
	@$(AS_BEFORE) -- tests/summary/run
	@tests/summary/as-before
