# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the driver as a module, on kernels as Debian ships them.
MODULE_MACHINES := $(addprefix check-module-,$(call machines_of,gate,tests/module/machines))
MODULE_LONG := $(addprefix check-module-,$(call machines_of,long,tests/module/machines) v6 p4)

CHECKS += $(MODULE_MACHINES) check-module-install
LONG_CHECKS += $(MODULE_LONG) check-module-rounds
FREE_RUNNING += $(filter-out $(addprefix check-module-,$(call same_each_time,tests/module/machines)), \
	$(MODULE_MACHINES) $(MODULE_LONG)) check-module-rounds

.PHONY: check-module check-module-install check-module-rounds $(MODULE_MACHINES) $(MODULE_LONG)
check-module: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(GUEST)/domains.policy $(PERFEX)
	@tests/module/run
check-module-install $(MODULE_MACHINES) $(MODULE_LONG): $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(GUEST)/domains.policy \
		$(PERFEX)
$(filter-out check-module-load,$(MODULE_MACHINES)) $(MODULE_LONG): check-module-%:
	@tests/module/run $*
check-module-load check-module-install: check-module-%:
	@$(AS_BEFORE) --with $(GUEST) -- tests/module/run $*
check-module-rounds: $(GUEST)/guest-tests $(GUEST_PROGRAMS) $(PERFEX)
check-module-rounds: ## load and unload the module 1,000 times under load; ROUNDS=
	@ROUNDS=$(or $(ROUNDS),1000) tests/module/run load-free
