/* SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note */
/*
 * perfctr: per-thread virtual performance counters, kernel/user ABI version 1.
 *
 * One device, /dev/perfctr, answers PERFCTR_IOC_INFO and PERFCTR_IOC_OPEN.  OPEN returns a
 * context: a file descriptor that stands for the virtual counters of one thread and answers
 * every other call.  A context outlives its thread; its last sums stay readable.
 *
 * Every struct begins with its own size in bytes, set by the caller, so that it can grow: a
 * longer struct is accepted when the part this kernel does not know is zero (otherwise E2BIG),
 * a shorter one as if filled up with zeros.  Unknown flags and reserved fields that are not
 * zero are refused with EINVAL.  All structs have one layout for 32- and 64-bit programs.
 *
 * Counters are named by the index that RDPMC takes in ECX (Intel SDM volume 2, RDPMC): 0, 1, ...
 * for general counters, PERFCTR_FIXED + n for fixed ones.
 */
#ifndef _UAPI_LINUX_PERFCTR_H
#define _UAPI_LINUX_PERFCTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PERFCTR_ABI_VERSION	1
#define PERFCTR_MAX_COUNTERS	32		/* events in one control */
#define PERFCTR_FIXED		0x40000000u	/* + n: fixed counter n */
#define PERFCTR_PAGE_SIZE	4096		/* bytes to map of a context, at offset 0 */

/* perfctr_pmu_info.features */
#define PERFCTR_FEATURE_TSC		(1u << 0)	/* virtual time stamp */
#define PERFCTR_FEATURE_RDPMC		(1u << 1)	/* threads may RDPMC what they mapped */
#define PERFCTR_FEATURE_GLOBAL_ENABLE	(1u << 2)	/* one MSR starts and stops everything */
#define PERFCTR_FEATURE_ISOLATED	(1u << 3)	/* nobody can read foreign counts */

/* perfctr_pmu_info.holder: who has the hardware counters now */
#define PERFCTR_HOLDER_NONE	0
#define PERFCTR_HOLDER_PERFCTR	1	/* contexts of this driver: they share, it is no obstacle */
#define PERFCTR_HOLDER_OTHER	2	/* perf_events or the NMI watchdog: control gives EBUSY */

/* What the machine has.  PERFCTR_IOC_INFO fills it in; the caller sets size only. */
struct perfctr_pmu_info {
	__u32 size;
	__u32 abi_version;	/* PERFCTR_ABI_VERSION */
	char  family[32];	/* "Intel architectural PerfMon v2", NUL-terminated */
	__u32 features;		/* PERFCTR_FEATURE_* */
	__u32 holder;		/* PERFCTR_HOLDER_* */
	__u32 n_general;	/* general counters 0 .. n_general - 1 */
	__u32 n_fixed;		/* fixed counters PERFCTR_FIXED + 0 .. n_fixed - 1 */
	__u32 general_bits;	/* width of a general counter */
	__u32 fixed_bits;	/* width of a fixed counter */
	__u64 evntsel_allowed;	/* bits of evntsel that may be set for a general counter */
	__u64 evntsel_required;	/* bits of evntsel that must be set for any counter */
	__u64 fixed_allowed;	/* bits of evntsel that may be set for a fixed counter */
	__u64 evntsel2_allowed;	/* bits of evntsel2 that may be set; 0: there is no second word */
	__u32 tsc_khz;		/* rate of the time stamp, 0 if unknown */
	__u32 n_contexts;	/* contexts that exist on the machine */
};

/* Which thread to open.  flags: PERFCTR_OPEN_*. */
struct perfctr_open {
	__u32 size;
	__u32 flags;
	__s32 tid;		/* in the caller's pid namespace; 0: the calling thread */
	__u32 reserved;
};

#define PERFCTR_OPEN_CREATE	(1u << 0)	/* make the context; EEXIST if there is one */

/* One event and the counter that counts it. */
struct perfctr_event_control {
	__u32 counter;		/* RDPMC index */
	__u32 flags;		/* 0 */
	__u64 evntsel;		/*
				 * event select register (SDM volume 3, 20.2.1.1; AMD PERF_CTL).
				 * For a fixed counter only USR (bit 16), OS (17) and EN (22).
				 */
	__u64 evntsel2;		/* second event select word where there is one, else 0 */
	__u64 period;		/* 0: room for counters that interrupt */
	__u32 signal;		/* 0: likewise */
	__u32 reserved;
};

/*
 * What a context counts.  event[i] is virtual counter i of the context.  Nothing changes when
 * the control is refused: what ran before goes on.  With EINVAL or EACCES from a particular
 * event, bad_event and bad_reason are written back; both are 0 on the way in.
 */
struct perfctr_control {
	__u32 size;		/* may end behind the last event used */
	__u32 flags;		/* PERFCTR_CONTROL_* */
	__u32 n_events;		/* 0: the virtual time stamp alone */
	__u32 bad_event;	/* index into event[] */
	__u32 bad_reason;	/* PERFCTR_BAD_*, 0 when no single event is at fault */
	__u32 reserved;
	__u64 p4_pebs_enable;	/* Pentium 4 IA32_PEBS_ENABLE, elsewhere 0 */
	__u64 p4_pebs_matrix_vert; /* Pentium 4 MSR_PEBS_MATRIX_VERT, elsewhere 0 */
	struct perfctr_event_control event[PERFCTR_MAX_COUNTERS];
};

#define PERFCTR_CONTROL_STOPPED	(1u << 0)	/* install, but wait for PERFCTR_IOC_START */

#define PERFCTR_BAD_COUNTER	1	/* no such counter */
#define PERFCTR_BAD_DUPLICATE	2	/* counter already taken by an earlier event */
#define PERFCTR_BAD_EVNTSEL	3	/* evntsel has a bit outside *_allowed */
#define PERFCTR_BAD_EVNTSEL2	4	/* evntsel2 has a bit outside evntsel2_allowed */
#define PERFCTR_BAD_ENABLE	5	/* evntsel lacks a bit of evntsel_required */
#define PERFCTR_BAD_RING	6	/* neither USR nor OS: it would never count */
#define PERFCTR_BAD_PRIVILEGE	7	/* OS needs CAP_PERFMON or perf_event_paranoid <= 1 */
#define PERFCTR_BAD_FIELD	8	/* flags, period, signal or reserved is not 0 */

/* Sums of a context, exact at the moment of the call. */
struct perfctr_counts {
	__u32 size;
	__u32 flags;		/* in: 0.  out: PERFCTR_COUNTS_* */
	__u32 n_counters;	/* out: valid entries of counter[] */
	__u32 reserved;
	__u64 tsc;		/* ticks while the thread ran and was counted */
	__u64 switches;		/* times the started thread was put on a CPU */
	__u64 migrations;	/* ... on another CPU than the time before */
	__u64 counter[PERFCTR_MAX_COUNTERS];
};

#define PERFCTR_COUNTS_STARTED	(1u << 0)	/* the context counts whenever its thread runs */
#define PERFCTR_COUNTS_EXITED	(1u << 1)	/* the thread is gone: these sums are final */

/*
 * One virtual counter, or the virtual time stamp, as the thread itself reads it:
 *	t = ticket; b = bias; v = b + RDPMC(low half of t); valid if recheck == t then
 * ticket is new whenever bias is, and whenever the thread has been switched; recheck differs from
 * it while the hardware counter does not count for the context.
 */
struct perfctr_page_counter {
	__u64 bias;
	__u64 ticket;		/* ECX for RDPMC; above it a number that is new each time */
	__u64 recheck;
	__u64 sum;		/* at the last fold: what other threads may read, under seq */
};

/* The state page: mapped read-only, PERFCTR_PAGE_SIZE bytes at offset 0 of a context. */
struct perfctr_page {
	__u32 size;		/* bytes in use */
	__u32 abi_version;
	__u32 seq;		/* odd while the kernel changes sums and flags */
	__u32 flags;		/* PERFCTR_PAGE_* */
	__u32 n_counters;
	__u32 cpu;		/* where the thread last ran */
	__u64 switches;
	__u64 migrations;
	__u64 reserved[3];
	struct perfctr_page_counter tsc;	/* RDTSC instead of RDPMC */
	struct perfctr_page_counter counter[PERFCTR_MAX_COUNTERS];
};

#define PERFCTR_PAGE_STARTED	(1u << 0)	/* counts whenever the thread runs */
#define PERFCTR_PAGE_RDPMC	(1u << 1)	/* RDPMC does not fault while the page is mapped */

#define PERFCTR_IOC_MAGIC	0xd0

/*
 * On /dev/perfctr:
 *
 * INFO: EFAULT, EINVAL, E2BIG.
 *
 * OPEN returns a close-on-exec descriptor.  With CREATE it rules the context: when it is closed
 * for the last time and no page is mapped by it, the context is detached from its thread.  Without
 * CREATE it may only READ and be mapped.  EACCES (the caller may not ptrace the thread), EEXIST,
 * ENOENT (no context, no CREATE), ESRCH (no such thread, or it exits), EINVAL, E2BIG, EFAULT,
 * EINTR, EMFILE, ENOMEM.
 */
#define PERFCTR_IOC_INFO	_IOWR(PERFCTR_IOC_MAGIC, 0x20, struct perfctr_pmu_info)
#define PERFCTR_IOC_OPEN	_IOW(PERFCTR_IOC_MAGIC, 0x21, struct perfctr_open)

/*
 * On a context:
 *
 * CONTROL validates, then replaces the control, clears all sums and starts.  EINVAL, EACCES (see
 * bad_reason), EBUSY (another subsystem has the counters), ENODEV (events, but no PMU that is
 * known), EPERM (opened without CREATE), ESRCH (the thread has exited, or has executed a file that
 * changes its ids or that it may not read), E2BIG, EFAULT, ENOMEM.
 *
 * START and STOP go on and pause; sums stay.  EINVAL (START without a control), ESRCH, EPERM.
 *
 * READ: EINVAL, E2BIG, EFAULT, ENOMEM.
 */
#define PERFCTR_IOC_CONTROL	_IOWR(PERFCTR_IOC_MAGIC, 0x22, struct perfctr_control)
#define PERFCTR_IOC_START	_IO(PERFCTR_IOC_MAGIC, 0x23)
#define PERFCTR_IOC_STOP	_IO(PERFCTR_IOC_MAGIC, 0x24)
#define PERFCTR_IOC_READ	_IOWR(PERFCTR_IOC_MAGIC, 0x25, struct perfctr_counts)

#endif
