# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the patch of a Linux source tree.

CHECKS += check-kernel-patch

.PHONY: check-kernel-patch
check-kernel-patch:
	@$(AS_BEFORE) -- tests/kernel-patch/run

.PHONY: patch
patch: ## write the kernel patch as one file, and as mails for "git am", to build/patch
	@for hooks in kernel-patch/linux-*.patch; do \
		version=$${hooks#*/linux-}; version=$${version%.patch}; \
		kernel-patch/make-series $$version $(CURDIR)/$(BUILD)/patch && \
		echo $(BUILD)/patch/perfctr-$$version.patch $(BUILD)/patch/perfctr-$$version/*.patch; \
	done
