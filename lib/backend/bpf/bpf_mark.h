/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_BACKEND_BPF_MARK_H
#define PERFCTR_BACKEND_BPF_MARK_H

#include "bpf.h"

struct perfctr_bpf_mark {
	struct perfctr_mark handle;
	struct perfctr_bpf_handle bpf;
	unsigned int users; /* atomic: the handle, until it is closed, and sessions */
};

/* The last user frees the mark, and so takes it from all threads that bear it. */
void perfctr_bpf_mark_ref(struct perfctr_bpf_mark *mark);
void perfctr_bpf_mark_unref(struct perfctr_bpf_mark *mark);

#endif
