# SPDX-License-Identifier: GPL-2.0-or-later
# The functions and lines that perfex samples finds at addresses, and those that other tools find there.

CHECKS += check-samples

.PHONY: check-samples
check-samples: $(PERFEX)
	@tests/samples/check $(PERFEX)
