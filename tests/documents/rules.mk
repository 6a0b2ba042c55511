# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the commands of the documents, and compares the output with the documents.

CHECKS += check-documents
FREE_RUNNING += check-documents

.PHONY: check-documents
check-documents: $(PERFEX) $(LIB_STATIC) $(LINUX_EVENTS)/index $(addprefix $(GUEST)/,loop memory) \
		$(BUILD)/tests/cluster/ranks $(BUILD)/examples/solver
	@tests/documents/run
