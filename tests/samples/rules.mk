# SPDX-License-Identifier: GPL-2.0-or-later
# What perfex samples finds at addresses, and what others find there.

CHECKS += check-samples

.PHONY: check-samples
check-samples: $(PERFEX)
	@tests/samples/check $(PERFEX)
