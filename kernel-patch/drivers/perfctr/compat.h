/* SPDX-License-Identifier: GPL-2.0-only */
/* What Linux 6.1 lacks of the interfaces of 6.12, under the names of 6.12. */
#ifndef _PERFCTR_COMPAT_H
#define _PERFCTR_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/security.h>
#include <linux/slab.h>

#define SLAB_NO_MERGE	0	/* 6.1 cannot: other objects may share the cache */

/* No security module of 6.1 looks at the attributes. */
#define perf_allow_cpu()		perf_allow_cpu(NULL)
#define perf_allow_kernel()		perf_allow_kernel(NULL)
#define security_perf_event_open(type)	security_perf_event_open(NULL, type)

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

#endif
