# SPDX-License-Identifier: GPL-2.0-or-later
# Ranks of an MPI program, and metrics.

CLUSTER_RANKS := $(BUILD)/tests/cluster/ranks

CHECKS += check-cluster
FREE_RUNNING += check-cluster
CHECK_PROGRAMS += $(CLUSTER_RANKS)

# With "-z now" all functions are bound before the first pass, which would count the binding otherwise.
$(CLUSTER_RANKS): tests/cluster/ranks.c tests/languages/loop.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)MPICH_CC=$(CC) mpicc.mpich $(CFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) -pthread -Wl,-z,now

.PHONY: check-cluster
check-cluster: $(CLUSTER_RANKS) $(PERFEX) $(GUEST_PROGRAMS)
	@$(AS_BEFORE) --with $(CLUSTER_RANKS) --with $(GUEST) --with $(PERFEX) -- tests/cluster/run
