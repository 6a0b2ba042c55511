/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_BACKEND_BPF_GROUP_H
#define PERFCTR_BACKEND_BPF_GROUP_H

#include "bpf.h"

struct perfctr_bpf_group {
	struct perfctr_group handle;
	struct perfctr_bpf_handle bpf;
};

#endif
