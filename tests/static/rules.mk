# SPDX-License-Identifier: GPL-2.0-or-later
# Checkers that read the sources.  "tests/static/walk" measures how many files of ours a command walks through.

CHECKS += check-static

.PHONY: check-static lint
check-static:
	@tests/static/run

lint: ## check layers, names and widths, and let clang-tidy read library, perfex and tests: some minutes
	@scripts/packages lint
	@tests/static/run structure clang-tidy
