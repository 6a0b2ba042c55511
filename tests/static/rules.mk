# SPDX-License-Identifier: GPL-2.0-or-later
# Checkers that read the sources; and how many files of ours a command walks through.

CHECKS += check-static check-walk
LONG_CHECKS += lint

.PHONY: check-static check-walk lint
check-static:
	@tests/static/run

# What was reached; only less is better.
check-walk:
	@mkdir -p $(BUILD)
	@failed=0; for walk in '25 -e instructions true' '30 mark -e instructions true'; do \
		tests/static/walk --most $$walk || failed=$$((failed + 1)); \
	done; echo "walk: $$((2 - failed)) passed, $$failed failed"; [ "$$failed" = 0 ]

lint: ## check layers, names and widths, and let clang-tidy read library, perfex and tests: some minutes
	@tests/static/run structure clang-tidy
