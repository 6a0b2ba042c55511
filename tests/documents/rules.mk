# SPDX-License-Identifier: GPL-2.0-or-later
# The commands of the documents, and what these say that they print.

CHECKS += check-documents

.PHONY: check-documents
check-documents: $(PERFEX) $(LIB_STATIC) $(addprefix $(GUEST)/,loop memory)
	@tests/documents/run
