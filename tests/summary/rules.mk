# SPDX-License-Identifier: GPL-2.0-or-later
# The tests of what runs the tests.

CHECKS += check-summary

.PHONY: check-summary
check-summary:
	@$(AS_BEFORE) -- tests/summary/run
	@tests/summary/as-before
