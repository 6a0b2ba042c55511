# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of ci/gate. They boot the machine that "make machine" has packed.

CHECKS += check-ci

.PHONY: check-ci
check-ci: $(PERFEX) $(GOOGLE_BENCHMARK)
	@tests/ci/run
