# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the runner. They need the machine, but nothing else that is built here.

CHECKS += check-vm check-deterministic
FREE_RUNNING += check-vm

.PHONY: check-vm check-deterministic
check-vm:
	@$(AS_BEFORE) -- tests/vm/run
check-deterministic: $(BUILD)/tests/stress/stress $(BUILD)/tests/stress/worker
	@$(AS_BEFORE) --with $(BUILD)/tests/stress -- tests/vm/deterministic
