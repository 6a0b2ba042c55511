/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_BACKEND_BPF_GROUP_H
#define PERFCTR_BACKEND_BPF_GROUP_H

#include "bpf.h"

struct perfctr_bpf_group {
	struct perfctr_group handle;
	struct perfctr_bpf_handle bpf;
	unsigned int users; /* atomic: the handle, until it is closed, and sessions */
};

/* The last user frees the group, and thereby removes its marks. */
void perfctr_bpf_group_get(struct perfctr_bpf_group *group);
void perfctr_bpf_group_put(struct perfctr_bpf_group *group);

#endif
