# SPDX-License-Identifier: GPL-2.0-or-later
# Checkers that read the sources, and a count of the files of the project that a command walks through.

CHECKS += check-static check-walk
LONG_CHECKS += lint
FREE_RUNNING += check-walk

.PHONY: check-static check-walk lint
check-static:
	@tests/static/run

# The limits are the numbers that have been reached. They may only become smaller.
check-walk:
	@mkdir -p $(BUILD)
	@failed=0; for walk in '25 -e instructions true' '28 mark -e instructions true'; do \
		tests/static/walk --most $$walk || failed=$$((failed + 1)); \
	done; echo "walk: $$((2 - failed)) passed, $$failed failed"; [ "$$failed" = 0 ]

lint: ## check layers, names and widths, and let clang-tidy read library, perfex and tests: some minutes
	@tests/static/run structure clang-tidy
