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
#define PERFCTR_FAST		0x80000000u	/* + n: RDPMC gives the low 32 bits, sooner */
#define PERFCTR_PAGE_SIZE	4096		/* bytes to map of a context, at offset 0 */

/* perfctr_pmu_info.features */
#define PERFCTR_FEATURE_TSC		(1u << 0)	/* virtual time stamp */
#define PERFCTR_FEATURE_RDPMC		(1u << 1)	/* threads may RDPMC what they mapped */
#define PERFCTR_FEATURE_GLOBAL_ENABLE	(1u << 2)	/* one MSR starts and stops everything */
#define PERFCTR_FEATURE_ISOLATED	(1u << 3)	/* nobody can read foreign counts */
#define PERFCTR_FEATURE_FAST_RDPMC	(1u << 4)	/* PERFCTR_FAST + n names counters too */

/* perfctr_pmu_info.pmu: whose registers evntsel and evntsel2 are */
#define PERFCTR_PMU_NONE	0	/* the time stamp alone */
#define PERFCTR_PMU_ARCH	1	/* Intel architectural PerfMon */
#define PERFCTR_PMU_P5		2	/* Pentium */
#define PERFCTR_PMU_P5_MMX	3	/* Pentium MMX */
#define PERFCTR_PMU_P6		4	/* Pentium Pro to Pentium M */
#define PERFCTR_PMU_P4		5	/* NetBurst */
#define PERFCTR_PMU_K7		6	/* Athlon */
#define PERFCTR_PMU_K8		7	/* Opteron, Athlon 64 */
#define PERFCTR_PMU_AMD		8	/* AMD family 10H and later */
#define PERFCTR_PMU_MII		9	/* Cyrix 6x86MX, MII, III */
#define PERFCTR_PMU_WINCHIP_C6	10	/* Centaur WinChip C6 */
#define PERFCTR_PMU_WINCHIP_2	11	/* Centaur WinChip 2, 3 */
#define PERFCTR_PMU_VIA_C3	12	/* VIA C3 */

/* perfctr_pmu_info.holder: who has the hardware counters now */
#define PERFCTR_HOLDER_NONE	0
#define PERFCTR_HOLDER_PERFCTR	1	/* contexts of this driver: they share, it is no obstacle */
#define PERFCTR_HOLDER_OTHER	2	/* perf_events or the NMI watchdog: control gives EBUSY */
/*
 * In: look for other holders, by taking the counters for a moment, in which others are refused.
 * Without it only PERFCTR_HOLDER_PERFCTR is told from _NONE.
 */
#define PERFCTR_HOLDER_ASK	0xffffffffu

/* What the machine has.  PERFCTR_IOC_INFO fills it in; the caller sets size, and holder to ask. */
struct perfctr_pmu_info {
	__u32 size;
	__u32 abi_version;	/* PERFCTR_ABI_VERSION */
	char  family[32];	/* "Intel architectural PerfMon v2", NUL-terminated */
	__u32 features;		/* PERFCTR_FEATURE_* */
	__u32 holder;		/* in: PERFCTR_HOLDER_ASK or 0.  out: the others */
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
	/* Ticks per instruction, with the loop around it, measured at boot; 0: unknown */
	__u32 cost_rdtsc;
	__u32 cost_rdpmc;
	__u32 cost_rdmsr;	/* of a counter */
	__u32 cost_wrmsr;	/* to a counter */
	__u32 pmu;		/* PERFCTR_PMU_* */
	__u32 reserved;
	__u64 evntsel_user;	/* bits of evntsel that ask for user mode; 0: they are in evntsel2 */
	__u64 evntsel_kernel;
	__u64 evntsel2_user;
	__u64 evntsel2_kernel;
	__u64 p4_pebs_enable_allowed;
	__u64 p4_pebs_matrix_vert_allowed;
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
/*
 * Every process and thread that the thread creates from now on, and those that they create, get a
 * context of their own with the same control, from zero.  They are the members of its tree.
 */
#define PERFCTR_CONTROL_INHERIT	(1u << 1)
#define PERFCTR_CONTROL_RECORD	(1u << 2)	/* keep a record of each member that exits */

#define PERFCTR_BAD_COUNTER	1	/* no such counter */
#define PERFCTR_BAD_DUPLICATE	2	/* counter already taken by an earlier event */
#define PERFCTR_BAD_EVNTSEL	3	/* evntsel has a bit outside *_allowed */
#define PERFCTR_BAD_EVNTSEL2	4	/* evntsel2 has a bit outside evntsel2_allowed */
#define PERFCTR_BAD_ENABLE	5	/* evntsel lacks the bit that enables the counter */
#define PERFCTR_BAD_RING	6	/* neither user nor kernel mode: it would never count */
#define PERFCTR_BAD_PRIVILEGE	7	/* OS needs CAP_PERFMON or perf_event_paranoid <= 1 */
#define PERFCTR_BAD_FIELD	8	/* flags, period, signal or reserved is not 0 */
#define PERFCTR_BAD_ROUTE	9	/* this counter cannot count this event */
#define PERFCTR_BAD_CONFLICT	10	/* wants a register otherwise than an earlier event */
#define PERFCTR_BAD_PEBS	11	/* p4_pebs_* has a bit outside *_allowed; no single event */

/*
 * Sums, exact at the moment of the call, that of a thread that runs on another CPU too.
 *
 * When a member of a tree exits, its own sums and its children's are added to the children's sums
 * of the nearest member above it that has not exited, or of the tree's root, before its parent's
 * wait() can return.
 */
struct perfctr_counts {
	__u32 size;
	__u32 scope;		/* in: PERFCTR_SCOPE_* */
	__u32 flags;		/* in: 0.  out: PERFCTR_COUNTS_* */
	__u32 n_counters;	/* out: valid entries of counter[] */
	__u32 members;		/* out: threads that contribute and have not exited */
	__u32 reserved;
	__u64 tsc;		/* ticks while the thread ran and was counted */
	__u64 switches;		/* times the started thread was put on a CPU */
	__u64 migrations;	/* ... on another CPU than the time before */
	__u64 counter[PERFCTR_MAX_COUNTERS];
};

#define PERFCTR_SCOPE_SELF	0	/* the thread */
#define PERFCTR_SCOPE_CHILDREN	1	/* the members below it that have exited */
#define PERFCTR_SCOPE_TREE	2	/* the thread and all members below it */

#define PERFCTR_COUNTS_STARTED	(1u << 0)	/* the context counts whenever its thread runs */
#define PERFCTR_COUNTS_EXITED	(1u << 1)	/* the thread is gone: its own sums are final */
/*
 * All sums are of one instant: no member but the caller ran between the first and the last that was
 * added up.
 */
#define PERFCTR_COUNTS_CONSISTENT (1u << 2)

#define PERFCTR_MAX_RECORDS	65536	/* of a tree; what does not fit is counted as lost */

/* A member of the tree that has exited, or was dropped by an exec that changes ids. */
struct perfctr_record {
	__u32 size;
	__u32 lost;		/* out: records that did not fit before this one */
	__s32 tid;		/* in the pid namespace of the process that opened the tree */
	__s32 tgid;		/* its process */
	char  comm[16];		/* its last name, NUL-terminated */
	__u64 start;		/* of the process, in ns since boot: tgids are used again */
	struct perfctr_counts counts;	/* its own; counts.size is set by the kernel */
};

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

/* Numbers without a size: the structs carry theirs.  The argument points to the struct named. */
#define PERFCTR_IOC_MAGIC	0xd0

/*
 * On /dev/perfctr:
 *
 * INFO (struct perfctr_pmu_info): EFAULT, EINVAL, E2BIG.
 *
 * OPEN (struct perfctr_open) returns a close-on-exec descriptor.  With CREATE it rules the
 * context: when it is closed for the last time and no page is mapped by it, the context, and all
 * members of its tree, are detached from their threads.  Without CREATE it may only READ and be
 * mapped.  EACCES (the caller may not ptrace the thread), EEXIST, ENOENT (no context, no CREATE),
 * ESRCH (no such thread, or it exits), EINVAL, E2BIG, EFAULT, EINTR, EMFILE, ENOMEM.
 */
#define PERFCTR_IOC_INFO	_IO(PERFCTR_IOC_MAGIC, 0x20)
#define PERFCTR_IOC_OPEN	_IO(PERFCTR_IOC_MAGIC, 0x21)

/*
 * On a context:
 *
 * CONTROL (struct perfctr_control) validates, then replaces the control, clears all sums and
 * starts.  Members of a tree that an earlier control made are detached.  EINVAL, EACCES (see
 * bad_reason), EBUSY (another subsystem has the counters), ENODEV (events, but no PMU that is
 * known), EPERM (opened without CREATE), ESRCH (the thread has exited, or has executed a file that
 * changes its ids or that it may not read), E2BIG, EFAULT, ENOMEM.
 *
 * START and STOP (no argument) go on and pause, with all members below; sums stay.  EINVAL (START
 * without a control), ESRCH (all have exited), EPERM.
 *
 * READ (struct perfctr_counts): EINVAL, E2BIG, EFAULT, ENOMEM.
 *
 * RECORD (struct perfctr_record) takes the oldest record from the tree.  poll() says POLLIN when
 * there is one.  EAGAIN (none), EPERM, EINVAL, E2BIG, EFAULT, ENOMEM.
 */
#define PERFCTR_IOC_CONTROL	_IO(PERFCTR_IOC_MAGIC, 0x22)
#define PERFCTR_IOC_START	_IO(PERFCTR_IOC_MAGIC, 0x23)
#define PERFCTR_IOC_STOP	_IO(PERFCTR_IOC_MAGIC, 0x24)
#define PERFCTR_IOC_READ	_IO(PERFCTR_IOC_MAGIC, 0x25)
#define PERFCTR_IOC_RECORD	_IO(PERFCTR_IOC_MAGIC, 0x26)

#endif
