# SPDX-License-Identifier: GPL-2.0-or-later
# Checkers that read the sources.

CHECKS += check-static

.PHONY: check-static lint
check-static:
	@tests/static/run

lint: ## let clang-tidy read library, perfex and tests: some minutes
	@scripts/packages lint
	@tests/static/run clang-tidy
