/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces of Linux 6.12 that 6.1 or 7.3 lack or name differently, under the names of 6.12. */
#ifndef _PERFCTR_COMPAT_H
#define _PERFCTR_COMPAT_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0)
#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/security.h>
#include <linux/slab.h>

#define PF_USER_WORKER	0	/* 6.1 has no user workers except those of io_uring */
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

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <linux/pid_namespace.h>
#include <asm/cpuid/api.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#define rdmsrl(msr, value)	rdmsrq(msr, value)
#define wrmsrl(msr, value)	wrmsrq(msr, value)
#define native_wrmsrl(msr, value)	native_wrmsrq(msr, value)
#define rdmsrl_safe(msr, value)	rdmsrq_safe(msr, value)
#define wrmsrl_safe(msr, value)	wrmsrq_safe(msr, value)
#define rdpmcl(counter, value)	((value) = rdpmc(counter))

#define PERFCTR_PID_MAX		init_pid_ns.pid_max
#else
#define PERFCTR_PID_MAX		pid_max
#endif

#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define system_unbound_wq	system_dfl_wq
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 12, 0) || LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <linux/task_work.h>

#define TWAF_NO_ALLOC	0	/* 6.1 lacks the flag; since 6.15 task_work_add() never allocates */
#endif

#endif
