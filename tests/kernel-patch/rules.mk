# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of what is done to a Linux source tree.

CHECKS += check-kernel-patch

.PHONY: check-kernel-patch
check-kernel-patch:
	tests/kernel-patch/run
