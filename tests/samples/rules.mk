# SPDX-License-Identifier: GPL-2.0-or-later
# Compares the functions and lines that perfex samples finds at addresses with those that other tools find there.

CHECKS += check-samples

.PHONY: check-samples
check-samples: $(PERFEX)
	@tests/samples/check $(PERFEX)
