# SPDX-License-Identifier: GPL-2.0-or-later
# Which lines the tests execute: docs/coverage.md.

.PHONY: coverage
coverage: ## tell which lines of driver, library and perfex the tests execute: SUITES=of tests/guest
	@tests/coverage/run $(SUITES)
