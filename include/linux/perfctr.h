/* SPDX-License-Identifier: LGPL-2.1-or-later WITH Linux-syscall-note */
/*
 * perfctr: virtual performance counters of threads, marks and CPUs; the interface between kernel
 * and user space.
 *
 * One device, /dev/perfctr, answers PERFCTR_IOC_INFO and makes three kinds of descriptors:
 *
 * a context (PERFCTR_IOC_OPEN), the virtual counters of one thread.  It outlives its thread; its
 * last sums stay readable;
 *
 * a mark (PERFCTR_IOC_OPEN_MARK), which threads bear (PERFCTR_IOC_MARK).  A thread bears at most
 * one mark.  The threads and processes that it creates are born with the mark;
 *
 * a session (PERFCTR_IOC_SESSION), which counts on CPUs: all threads that run there, or only
 * threads that bear its mark.  No context uses the session's counters, nor does another session of
 * the same CPUs.
 *
 * Every struct begins with its own size in bytes, set by the caller, so that it can grow: the
 * kernel accepts a longer struct if the part that it does not know is zero (otherwise E2BIG), and
 * treats a shorter one as if it were filled up with zeros.  It refuses unknown flags, and reserved
 * fields that are not zero, with EINVAL.  All structs have one layout for 32- and 64-bit programs.
 *
 * Counters are named by the index that RDPMC takes in ECX (Intel SDM volume 2, RDPMC): 0, 1, ...
 * for general counters, PERFCTR_FIXED + n for fixed ones.
 */
#ifndef _UAPI_LINUX_PERFCTR_H
#define _UAPI_LINUX_PERFCTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PERFCTR_ABI_VERSION	3
#define PERFCTR_MAX_COUNTERS	32		/* events in one control */
#define PERFCTR_MAX_KINDS	4		/* of cores in one machine */
#define PERFCTR_FIXED		0x40000000u	/* + n: fixed counter n */
#define PERFCTR_FAST		0x80000000u	/* + n: RDPMC is faster, gives the low 32 bits */
#define PERFCTR_PAGE_SIZE	4096		/* bytes of a context's state page, at offset 0 */

/* perfctr_pmu_info.features */
#define PERFCTR_FEATURE_TSC		(1u << 0)	/* virtual time stamp */
#define PERFCTR_FEATURE_RDPMC		(1u << 1)	/* threads with a mapped page may RDPMC */
#define PERFCTR_FEATURE_GLOBAL_ENABLE	(1u << 2)	/* one MSR starts and stops all counters */
#define PERFCTR_FEATURE_ISOLATED	(1u << 3)	/* no process can read another's counts */
#define PERFCTR_FEATURE_FAST_RDPMC	(1u << 4)	/* PERFCTR_FAST + n names counters too */
#define PERFCTR_FEATURE_MODULE		(1u << 5)	/* the driver is a module */
#define PERFCTR_FEATURE_INTERRUPT	(1u << 6)	/* events of contexts may have periods */
#define PERFCTR_FEATURE_TOTALS		(1u << 7)	/* PERFCTR_CONTROL_TOTALS */
#define PERFCTR_FEATURE_SIGNAL		(1u << 8)	/* signals at the ends of periods */

/* perfctr_pmu_info.pmu: the PMU to which evntsel and evntsel2 belong */
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

/* perfctr_pmu_info.holder: the part of the kernel that has the hardware counters now */
#define PERFCTR_HOLDER_NONE	0
#define PERFCTR_HOLDER_PERFCTR	1	/* this driver, for contexts and sessions */
#define PERFCTR_HOLDER_OTHER	2	/* perf_events or the NMI watchdog: a start gets EBUSY */
#define PERFCTR_HOLDER_ASK	0xffffffffu	/* in: accepted, without effect */

/*
 * A kind of core, on a machine with different cores (hybrid processors).  An event of one kind does
 * not count while its thread runs on a core of another kind: see perfctr_counts.kind_tsc.
 */
struct perfctr_kind {
	char  name[16];		/* "core", "atom", NUL-terminated */
	__u32 leaf_1a;		/* EAX of CPUID leaf 1AH: type, native model */
	__u32 reserved;
	__u64 counters;		/* of these cores, as in perfctr_pmu_info.context_counters */
	__u64 evntsel_allowed;	/* as in perfctr_pmu_info, on these cores */
};

/* Description of the machine.  PERFCTR_IOC_INFO fills it in.  The caller sets size and holder. */
struct perfctr_pmu_info {
	__u32 size;
	__u32 abi_version;	/* PERFCTR_ABI_VERSION */
	char  family[32];	/* "Intel architectural PerfMon v2", NUL-terminated */
	__u32 features;		/* PERFCTR_FEATURE_* */
	__u32 holder;		/* in: 0 or PERFCTR_HOLDER_ASK.  out: another PERFCTR_HOLDER_* */
	/* Counters, widths and bits that all kinds of cores have */
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
	/* Ticks per instruction, including the loop around it, measured at boot; 0: unknown */
	__u32 cost_rdtsc;
	__u32 cost_rdpmc;
	__u32 cost_rdmsr;	/* of a counter */
	__u32 cost_wrmsr;	/* to a counter */
	__u32 pmu;		/* PERFCTR_PMU_* */
	__u32 mute_cpus;	/* CPUs that are online and count no events */
	/* Bits that select user or kernel mode; all four 0: every event counts in both modes */
	__u64 evntsel_user;
	__u64 evntsel_kernel;
	__u64 evntsel2_user;
	__u64 evntsel2_kernel;
	/* Bits that may be set in these fields of perfctr_control; 0 except on a Pentium 4 */
	__u64 p4_pebs_enable_allowed;
	__u64 p4_pebs_matrix_vert_allowed;
	/* Bit n: general counter n; bit PERFCTR_FIXED_BIT + n: fixed counter n */
	__u64 context_counters;	/* used by contexts; further contexts may use them too */
	__u64 session_counters;	/* used by sessions, each on its CPUs; no context may use them */
	__u32 user_session_counters;	/* most that a user's unprivileged sessions may have */
	__u32 n_kinds;		/* of cores; 0: all CPUs are alike */
	__u64 disturbances;	/* times the driver found that others had written to the counters */
	struct perfctr_kind kind[PERFCTR_MAX_KINDS];
};

#define PERFCTR_FIXED_BIT	32

/* PERFCTR_IOC_KIND_CPUS: which CPUs are of a kind. */
struct perfctr_kind_cpus {
	__u32 size;
	__u32 kind;		/* 0 .. n_kinds - 1 */
	__u64 cpus;		/* address of a bitmap: out, online CPUs of this kind */
	__u32 cpus_bytes;	/* of the bitmap */
	__u32 reserved;
};

/* Which thread to open.  flags: PERFCTR_OPEN_*. */
struct perfctr_open_args {
	__u32 size;
	__u32 flags;
	__s32 tid;		/* in the caller's pid namespace; 0: the calling thread */
	__u32 reserved;
};

#define PERFCTR_OPEN_CREATE	(1u << 0)	/* make the context; EEXIST if there is one */
/*
 * With CREATE, and CAP_PERFMON: if the thread already has a context, no matter which process made
 * it, that context ends as it would if the thread exited.
 */
#define PERFCTR_OPEN_TAKE	(1u << 1)

/* One event and the counter that counts it. */
struct perfctr_event_control {
	__u32 counter;		/* RDPMC index */
	__u32 flags;		/*
				 * in a session: 0, or PERFCTR_EVENT_POLICY and a policy; in a
				 * context: 0 or PERFCTR_EVENT_STOP
				 */
	__u64 evntsel;		/*
				 * event select register (SDM volume 3, 20.2.1.1; AMD PERF_CTL).
				 * For a fixed counter only USR (bit 16), OS (17) and EN (22).
				 */
	__u64 evntsel2;		/* second event select word if the PMU has one, else 0 */
	__u64 period;		/*
				 * the counter interrupts each time it has counted this many
				 * events; 0: never.  Needs PERFCTR_FEATURE_INTERRUPT.  At most
				 * 2^63 - 1
				 */
	__u32 signal;		/*
				 * 1 to 64: the thread gets this signal at the end of each period.
				 * Needs PERFCTR_FEATURE_SIGNAL.  0: no signal
				 */
	__u32 kinds;		/*
				 * on a hybrid machine: if bit k is set, the event counts on cores
				 * of kind k, and on no kind whose bit is clear.  0: an
				 * architectural event (SDM volume 3, 20.2.1.2), which counts on all
				 * kinds, on a counter that all kinds have
				 */
};

/*
 * perfctr_event_control.flags, of an event with a period: at the end of each period the thread
 * begins to wait.  It runs on, but counts no event until PERFCTR_IOC_RESUME, PERFCTR_IOC_STOP or
 * another control.  The virtual time stamp goes on.
 */
#define PERFCTR_EVENT_STOP	(1u << 30)

/*
 * The signal at the end of a period has this si_code, and a mask in si_pid: bit i is set if a
 * period of event[i] is over.  Only the counted thread gets the signal, before it executes another
 * instruction of user mode.  If the thread is in a system call, the signal is sent when the call
 * returns.  There are exceptions: a call in which the thread is stopped or traced, io_uring_enter()
 * and KVM_RUN get the signal earlier, and may fail with EINTR as after any signal.  If several
 * periods end before the signal is sent, and their events have the same signal number, the thread
 * gets one signal.  PERFCTR_IOC_PERIODS reports each of these periods.
 *
 * Threads that the thread creates in its process get signals too, if they inherit the control, and
 * the wait of one does not stop the others.  Other processes, and programs after an exec, are
 * counted without signals and waits: an exec ends the wait.
 */
#define PERFCTR_SI_OVERFLOW	80

/*
 * The events that a context counts: event[i] is virtual counter i of the context.  If the kernel
 * refuses a control, nothing changes, and counting goes on under the old control.  If a particular
 * event is the cause, the kernel writes bad_event and bad_reason; the caller sets both to 0.
 */
struct perfctr_control {
	__u32 size;		/* may end after the last event used */
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
 * All processes and threads that the thread creates from now on, and all that these create, get
 * contexts of their own with the same control, which count from 0.  These contexts and the thread's
 * are the members of the thread's tree.
 */
#define PERFCTR_CONTROL_INHERIT	(1u << 1)
#define PERFCTR_CONTROL_EXIT_RECORDS (1u << 2)	/* keep a record of each member that exits */
/*
 * With INHERIT and without EXIT_RECORDS, else EINVAL: all members share the one context, which has
 * sums for each CPU.  A switch between two members changes nothing, and a member costs no memory.
 * Only the tree's totals exist: READ with another scope than TREE, and mmap(), are refused with
 * EOPNOTSUPP; a page that is mapped already shows a stopped context with all sums 0.  OPEN of a
 * member other than the root fails: with CREATE with EEXIST, without it with ENOENT.
 * perfctr_counts.switches is the number of times that a CPU began to count the tree; migrations is
 * 0.
 */
#define PERFCTR_CONTROL_TOTALS	(1u << 3)
/*
 * The first period of each event in each thread is shorter by a random part.  This gives threads
 * that count less than a period their share of the periods: on average, the number of periods that
 * are over in all threads of a tree is the count of these threads divided by the period.  Not with
 * TOTALS.
 */
#define PERFCTR_CONTROL_PHASE	(1u << 4)

/* perfctr_control.bad_reason.  Values from 0x100 on belong to the library. */
#define PERFCTR_BAD_COUNTER	1	/* no such counter */
#define PERFCTR_BAD_DUPLICATE	2	/* counter already taken by an earlier event */
#define PERFCTR_BAD_EVNTSEL	3	/* evntsel has a bit outside *_allowed */
#define PERFCTR_BAD_EVNTSEL2	4	/* evntsel2 has a bit outside evntsel2_allowed */
#define PERFCTR_BAD_ENABLE	5	/* evntsel lacks the bit that enables the counter */
#define PERFCTR_BAD_MODE	6	/*
					 * neither user nor kernel mode, so that the event would
					 * never count; or only one, on a counter that always counts
					 * in both
					 */
#define PERFCTR_BAD_PRIVILEGE	7	/* OS needs CAP_PERFMON or perf_event_paranoid <= 1 */
#define PERFCTR_BAD_FIELD	8	/* flags has a bit that is not for this kind of object */
#define PERFCTR_BAD_ROUTE	9	/* this counter cannot count this event */
#define PERFCTR_BAD_CONFLICT	10	/* needs a register value that an earlier event excludes */
#define PERFCTR_BAD_PEBS	11	/* p4_pebs_* has a bit outside *_allowed; no single event */
#define PERFCTR_BAD_TAKEN	12	/* EBUSY: a session has the counter, or contexts use it */
#define PERFCTR_BAD_POLICY	13	/* EACCES: more than an unprivileged session may count */
#define PERFCTR_BAD_ERRATUM	14	/* an erratum spoils its count, or those of other events */
#define PERFCTR_BAD_REGISTER	15	/* needs another register, which the driver does not set */
#define PERFCTR_BAD_KIND	16	/* no such kind, or no kinds and not architectural */
#define PERFCTR_BAD_PERIOD	17	/* not for a session, TOTALS or this machine; or too long */
/*
 * signal is more than 64; or the event has a signal or PERFCTR_EVENT_STOP, but no period, or is of
 * a session.  EACCES: the caller may not send signals to the thread, see CONTROL.
 */
#define PERFCTR_BAD_SIGNAL	18

/*
 * Sums, exact at the moment of the call, also those of a thread that runs on another CPU.
 *
 * When a member of a tree exits, its own sums and its children's sums are added to the children's
 * sums of the nearest member above it that has not exited, or else of the tree's root.  This
 * happens before wait() for the member can return.
 */
struct perfctr_counts {
	__u32 size;
	__u32 scope;		/* in: PERFCTR_SCOPE_* */
	__u32 flags;		/* in: see READ.  out: PERFCTR_COUNTS_* */
	__u32 n_counters;	/* out: valid entries of counter[] */
	__u32 members;		/* out: number of threads whose sums are not final yet */
	__u32 reserved;
	__u64 tsc;		/* ticks while the thread ran and was counted */
	__u64 switches;		/* times the started thread was put on a CPU */
	__u64 migrations;	/* ... on another CPU than the time before */
	__u64 counter[PERFCTR_MAX_COUNTERS];
	/*
	 * On a hybrid machine: the part of tsc spent on each kind of core.  The rest of tsc was
	 * spent on mute CPUs.  An event with kinds was not counted on cores of other kinds.
	 */
	__u64 kind_tsc[PERFCTR_MAX_KINDS];
};

#define PERFCTR_SCOPE_SELF	0	/* the thread */
#define PERFCTR_SCOPE_CHILDREN	1	/* the members below it that have exited */
#define PERFCTR_SCOPE_TREE	2	/* the thread and all members below it */

#define PERFCTR_COUNTS_STARTED	(1u << 0)	/* the context counts whenever its thread runs */
#define PERFCTR_COUNTS_EXITED	(1u << 1)	/* the thread is gone: its own sums are final */
/*
 * All sums are of one instant: no member but the caller ran between the read of the first sum and
 * the read of the last.
 */
#define PERFCTR_COUNTS_CONSISTENT (1u << 2)
/*
 * Since the last control the administrator has stopped the counting to free the counters
 * (PERFCTR_IOC_REVOKE).  The sums are right, but cover a shorter time.
 */
#define PERFCTR_COUNTS_REVOKED	(1u << 3)
/*
 * Another part of the kernel, or a user, wrote to the counters while they counted: the sums are
 * wrong.  The next timer tick detects the write, restores the registers, and sets the flag for the
 * contexts and sessions that the CPU counts at that moment.  A context that was counted there after
 * the write, but was switched away before the tick, does not get the flag.
 *
 * The flag is also set if a thread ran on a mute CPU (perfctr_pmu_info.mute_cpus): the events of
 * that time are missing.  A session does not count the time there, either.
 */
#define PERFCTR_COUNTS_DISTURBED (1u << 4)
/*
 * A thread that should have inherited the context, or the mark of a session, did not inherit it for
 * want of memory: the counts of that thread and of its children are missing.  If the driver is not
 * a module, such a fork fails with ENOMEM, unless the inheritance began during the fork.
 */
#define PERFCTR_COUNTS_INCOMPLETE (1u << 5)
#define PERFCTR_COUNTS_WAITING	(1u << 6)	/* a thread waits: see PERFCTR_EVENT_STOP */

/*
 * The number of periods that are over: for each event of a thread, the count divided by the event's
 * period.  With PERFCTR_CONTROL_PHASE or a jitter it may be one more or one less.  The numbers are
 * added up over a tree as the counts are.
 */
struct perfctr_periods {
	__u32 size;
	__u32 scope;		/* in: PERFCTR_SCOPE_* */
	__u32 n_counters;	/* out: valid entries of over[]; 0: no event has a period */
	__u32 reserved;
	__u64 late;		/* periods that no interrupt reported, of all events: perfctr(4) */
	__u64 over[PERFCTR_MAX_COUNTERS];	/* 0 for an event without a period */
	/*
	 * Signals that could not be sent: a signal below SIGRTMIN because a signal of the same
	 * number was pending already, any other because the user had as many signals pending as
	 * RLIMIT_SIGPENDING allows.
	 */
	__u64 lost_signals;
};

#define PERFCTR_MAX_EXIT_RECORDS 65536	/* of a tree; those that do not fit are counted as lost */

/* The record of a member that has exited, or that an exec with a change of ids has detached. */
struct perfctr_exit_record {
	__u32 size;
	__u32 lost;		/* out: records lost between the one before and this one */
	__s32 tid;		/* in the opener's pid namespace; 0: only lost is valid */
	__s32 tgid;		/* number of its process */
	char  comm[16];		/* its last name, NUL-terminated */
	__u64 start;		/* of the process, in ns since boot, as tgids are used again */
	struct perfctr_counts counts;	/* the member's own; the kernel sets counts.size */
};

/*
 * One virtual counter, or the virtual time stamp, as the thread itself reads it:
 *	t = ticket; b = bias; v = b + RDPMC(low half of t); valid if recheck == t then
 * ticket changes whenever bias does, and whenever the thread is switched; values repeat after 2^32
 * changes.  recheck differs from ticket while the hardware counter does not count for the context.
 * RDPMC's upper half, EDX, is 0: the kernel clears a counter before its value needs more than 32
 * bits.
 *
 * While an event has a period, no counter of the context can be read this way: recheck always
 * differs, and PERFCTR_PAGE_STARTED and _RDPMC are not set.  The sums go on, and the time stamp can
 * be read.
 *
 * While the thread runs on a mute CPU, recheck always differs, too, and PERFCTR_PAGE_STARTED is not
 * set; PERFCTR_PAGE_RDPMC stays as it is.
 */
struct perfctr_page_counter {
	__u64 bias;
	__u64 ticket;		/* ECX for RDPMC; above it a number that is new each time */
	__u64 recheck;
	__u64 sum;		/* at the last fold; other threads may read it, under seq */
};

/*
 * The state page: mapped read-only, PERFCTR_PAGE_SIZE bytes at offset 0 of a context.
 *
 * A session has one for each CPU, all in one mapping (struct perfctr_session_args): the counts of
 * that CPU until its last timer tick, or until its gate closed.  The sums of such a page are read
 * under seq, as those of a stopped context: PERFCTR_PAGE_STARTED and _RDPMC are not set and recheck
 * always differs, because RDPMC would read the reader's CPU.  switches: how often the gate opened.
 */
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
	__u32 kind;		/* kind of the core where the thread last ran; 0: all are alike */
	__u32 reserved2;
	__u64 kind_tsc[PERFCTR_MAX_KINDS + 1];	/* parts of tsc; [kind]: tsc less all others */
};

/* perfctr_page.kind while the thread runs on a mute CPU (perfctr_pmu_info.mute_cpus). */
#define PERFCTR_NO_KIND		PERFCTR_MAX_KINDS
#define PERFCTR_PAGE_STARTED	(1u << 0)	/* the context counts whenever the thread runs */
/*
 * RDPMC does not fault while the page is mapped.  Not set if the processor has no RDPMC, or if the
 * control has a counter that some kind of core lacks: on such a core RDPMC faults, and the kernel
 * executes it for the thread.
 */
#define PERFCTR_PAGE_RDPMC	(1u << 1)
#define PERFCTR_PAGE_DISTURBED	(1u << 2)	/* as PERFCTR_COUNTS_DISTURBED */
#define PERFCTR_PAGE_COUNTING	(1u << 3)	/* of a session's page: the CPU counts now */

/*
 * A policy: the parts of a CPU's work that a session does not count.  These are the bits of
 * POWER2's MMCR, with their names there.  A thread is marked if it bears the session's mark; in a
 * session without a mark no thread is marked.
 */
#define PERFCTR_EXCLUDE_ALL		(1u << 0)	/* DIS: everything */
#define PERFCTR_EXCLUDE_KERNEL		(1u << 1)	/* DP: privileged state */
#define PERFCTR_EXCLUDE_USER		(1u << 2)	/* DU: problem state */
#define PERFCTR_EXCLUDE_MARKED		(1u << 3)	/* DMS: while the mark is set */
#define PERFCTR_EXCLUDE_UNMARKED	(1u << 4)	/* DMR: while the mark is reset */
#define PERFCTR_EXCLUDE_IDLE		(1u << 5)	/* while the CPU's idle thread runs */
/* perfctr_event_control.flags: this event has a policy of its own, not the session's */
#define PERFCTR_EVENT_POLICY	(1u << 31)

/* PERFCTR_IOC_OPEN_MARK. */
struct perfctr_open_mark_args {
	__u32 size;
	__u32 flags;		/* 0 */
	__u64 id;		/* out: number of the mark; no later mark gets the same */
};

/* PERFCTR_IOC_MARK: sets, clears or shows the mark of threads. */
struct perfctr_mark_args {
	__u32 size;
	__u32 action;		/* PERFCTR_MARK_* */
	__u32 scope;		/* PERFCTR_MARK_THREAD, _PROCESS, _TREE */
	__s32 tid;		/* in the caller's pid namespace; 0: the caller */
	__s32 mark;		/* SET, CLEAR: descriptor of the mark; CLEAR: -1 for any mark */
	__u32 changed;		/* out: number of threads whose mark has changed */
	__u64 id;		/* out, GET: id of the mark of thread tid, 0: no mark */
};

#define PERFCTR_MARK_SET	1
#define PERFCTR_MARK_CLEAR	2
#define PERFCTR_MARK_GET	3

#define PERFCTR_MARK_THREAD	0	/* tid alone */
#define PERFCTR_MARK_PROCESS	1	/* all threads of tid's process */
#define PERFCTR_MARK_TREE	2	/* ... and of all processes below tid's process */

/* PERFCTR_IOC_MEMBERS, on a mark: the threads that bear the mark. */
struct perfctr_members_args {
	__u32 size;
	__u32 room;		/* in: elements of tids */
	__u32 n;		/* out: number of these threads; the first room are in tids */
	__u32 reserved;
	__u64 tids;		/* address of __s32 tids[room], in the caller's pid namespace */
};

/* PERFCTR_IOC_SESSION: properties of a session that cannot be changed later. */
struct perfctr_session_args {
	__u32 size;
	__u32 flags;		/* 0 */
	__s32 mark;		/* descriptor of a mark, -1: none */
	__u32 policy;		/* PERFCTR_EXCLUDE_*: of tsc, and of events without a policy */
	__u64 cpus;		/* address of a bitmap of CPUs, 0: all */
	__u32 cpus_bytes;	/* of the bitmap */
	__u32 trace_bytes;	/* of the records that each CPU's ring holds, 0: no trace */
	__u32 trace_ticks;	/* a record also every so many ticks; 0: only at changes */
	__u32 n_cpus;		/* out: number of state pages, one for each CPU */
	__u32 pages_bytes;	/* out: of all state pages, to map read-only at offset 0 */
	__u32 ring_bytes;	/* out: to map at PERFCTR_RING_OFFSET + cpu * ring_bytes */
	__u32 cpu_bytes;	/* out: from one CPU's struct perfctr_page to the next */
	__u32 reserved;
};

#define PERFCTR_RING_OFFSET	(1u << 24)
#define PERFCTR_MAX_RING_BYTES	(1u << 22)

/*
 * The trace of one CPU, mapped read-only: this header, then, at offset records, room for n_records
 * of record_bytes each.  The kernel writes record number n to place n % n_records.  Records tail to
 * head - 1 are valid.  PERFCTR_IOC_CONSUME moves tail.  Records for which there is no room are
 * counted as lost.
 */
struct perfctr_ring {
	__u32 size;		/* of this header */
	__u32 records;		/* offset in bytes */
	__u32 record_bytes;
	__u32 n_records;	/* room, a power of two */
	__u64 head;		/* number of the next record; read it before the records */
	__u64 tail;
	__u64 lost;
};

/*
 * One record: the session's counts on this CPU when a thread of the mark was switched in or out,
 * or at a tick.  Between two records the CPU ran the thread that the first one names.  tgid and tid
 * are in the pid namespace in which the session was opened.
 */
struct perfctr_trace_record {
	__u64 time;		/* time stamp counter */
	__u32 type;		/* PERFCTR_TRACE_* */
	__s32 tgid;		/* process of the thread that runs from now on */
	__s32 tid;		/* this thread; 0: a thread without the mark */
	__u32 lost;		/* records lost between the one before and this one */
	__u64 tsc;
	__u64 counter[];	/* n_counters of the control */
};

#define PERFCTR_TRACE_SWITCH	1
#define PERFCTR_TRACE_TICK	2
#define PERFCTR_TRACE_STOP	3	/* the session stops, or the CPU goes offline */

/*
 * PERFCTR_IOC_SAMPLES, on a context: under all controls that follow, each end of a period in the
 * context's tree leaves a sample in the ring of the CPU on which that end was found.  The rings are
 * mapped read-only like those of a session, at PERFCTR_RING_OFFSET + cpu * ring_bytes, and hold
 * struct perfctr_sample.  They hold samples of the last control only.
 */
struct perfctr_samples_args {
	__u32 size;
	__u32 flags;		/* PERFCTR_SAMPLES_*: contents of a sample beside the counts */
	__u32 room_bytes;	/* of the records that each ring holds, at least 4096 */
	__u32 depth;		/* with CHAIN: addresses at most, 1 to PERFCTR_MAX_DEPTH; else 0 */
	__u32 watermark;	/* POLLIN when a ring has so many records; 0: half its room */
	__u32 jitter;		/*
				 * percent of the period, 0 to 100: the nth period ends later than
				 * after n periods of events, by a random part of up to so much
				 */
	__u32 n_cpus;		/* out: number of rings */
	__u32 ring_bytes;	/* out: to map of each ring */
	__u64 max_samples;	/* of a control; sampling ends after this many.  0: no end */
	__u64 seed;		/* of jitter and PERFCTR_CONTROL_PHASE; 0: another each time */
};

#define PERFCTR_SAMPLES_REGISTERS	(1u << 0)	/* struct perfctr_sample_registers */
#define PERFCTR_SAMPLES_CHAIN		(1u << 1)	/* call chain, by frame pointers */
#define PERFCTR_MAX_DEPTH		127

/*
 * A sample: a thread has counted to the end of a period.  All counts are of the instant at which
 * the end was found, which is late events after the end itself.  After counter[] come, if the
 * caller asked for them, and in this order: struct perfctr_sample_registers; __u64 n, and room for
 * depth addresses, of which the first n are valid.  A ring's record_bytes is the size of all this.
 */
struct perfctr_sample {
	__u64 time;		/* time stamp counter */
	__u32 type;		/* PERFCTR_SAMPLE_PERIOD */
	__s32 tgid;		/* in the pid namespace in which the context was opened */
	__s32 tid;
	__u32 event;		/* the event with the period: index into the control's events */
	__u32 flags;		/* PERFCTR_SAMPLE_* */
	__u32 lost;		/* samples lost on this CPU between the one before and this one */
	__u64 periods;		/* that ended since the last sample; 1, or more if found late */
	__u64 late;		/* events since the end of the last of these periods */
	__u64 weight;		/* events from the end of the period before to that of the last */
	__u64 ip;		/* address of the next instruction */
	__u64 tsc;		/* the thread's virtual time stamp */
	__u64 counter[];	/* the thread's counts, n_events of the control */
};

#define PERFCTR_SAMPLE_PERIOD	1	/* type; skip other types, which later versions may add */

/* ip is an address of the kernel; the event counts kernel mode */
#define PERFCTR_SAMPLE_KERNEL	(1u << 0)
/*
 * The interrupt came when the thread was already in the kernel, but the event does not count kernel
 * mode: ip is where user mode goes on.
 */
#define PERFCTR_SAMPLE_SKIDDED	(1u << 1)
/*
 * No interrupt signalled the end: it was found when the thread was switched, read, stopped or
 * exited, or by a tick.  ip is where user mode goes on.
 */
#define PERFCTR_SAMPLE_FOUND	(1u << 2)
#define PERFCTR_SAMPLE_THROTTLED (1u << 3)	/* ... because there were too many interrupts */

/* Always of user mode.  A register that the processor or the program does not have is 0. */
struct perfctr_sample_registers {
	__u64 ax, bx, cx, dx, si, di, bp, sp;
	__u64 ip, flags;
	__u64 r8, r9, r10, r11, r12, r13, r14, r15;
};

/* PERFCTR_IOC_SAMPLED, on a context: numbers of samples since the last control. */
struct perfctr_sampled {
	__u32 size;
	__u32 flags;		/* out: PERFCTR_SAMPLED_* */
	__u32 n_counters;	/* out: valid entries of lost_weight[] */
	__u32 reserved;
	__u64 samples;		/* samples written to the rings */
	__u64 lost;		/* samples for which there was no room */
	__u64 lost_weight[PERFCTR_MAX_COUNTERS];	/* sum of their weights, by event */
};

/* max_samples have been written.  Ends of periods after that are in none of these numbers. */
#define PERFCTR_SAMPLED_ENDED	(1u << 0)

/* PERFCTR_IOC_CONSUME: the records of cpu before tail may be overwritten. */
struct perfctr_consume {
	__u32 size;
	__u32 cpu;
	__u64 tail;
};

/* A holder of counters: a tree or a session with something started that counts events. */
struct perfctr_holder {
	__u32 type;		/* PERFCTR_HOLDS_* */
	__s32 pid;		/* process that opened it; 0: not in the caller's namespace */
	__s32 tid;		/* thread of the context or of the tree's root; 0: it has exited */
	__u32 uid;		/* of the process at that time */
	__u64 counters;		/* as in perfctr_pmu_info.context_counters */
	__u32 started;		/* members of the tree that are started; 1 for a session */
	__u32 reserved;
	char  comm[16];		/* name of the process at that time */
};

#define PERFCTR_HOLDS_CONTEXT	1
#define PERFCTR_HOLDS_SESSION	2

/* PERFCTR_IOC_HOLDERS. */
struct perfctr_holders {
	__u32 size;
	__u32 room;		/* in: elements of holders */
	__u32 n;		/* out: number of holders; the first room of them are in holders */
	__u32 reserved;
	__u64 holders;		/* address of struct perfctr_holder holders[room] */
};

/*
 * Call numbers do not include a size, because each struct has its own in size.  The argument points
 * to the struct that is named.  Calls 0x20 to 0x2f are for the device; 0x30 to 0x3f for a context,
 * and for a session under the same names; 0x40 to 0x47 for a mark; 0x48 to 0x4f for a context or a
 * session with rings.  INFO is 0x20 in all versions.
 */
#define PERFCTR_IOC_MAGIC	0xd0

/*
 * On /dev/perfctr:
 *
 * INFO (struct perfctr_pmu_info): EFAULT, EINVAL, E2BIG.
 *
 * OPEN (struct perfctr_open_args) returns a close-on-exec descriptor.  With CREATE the descriptor
 * owns the context: when it is closed for the last time, and no page is mapped through it, the
 * context and all members of its tree are detached from their threads.  Without CREATE it only
 * allows READ, GET_CONTROL, PERIODS, poll() and mmap() of the state page.  TAKE needs CAP_PERFMON,
 * else EPERM.  EACCES (the caller may not ptrace the thread and does not have CAP_PERFMON, or
 * perf_event_paranoid or a security module forbids perf_events), EEXIST, ENOENT (no context, no
 * CREATE), ESRCH (there is no such thread, or it exits), EINVAL, E2BIG, EFAULT, EINTR, EMFILE (also
 * if the user has as much memory as the parameter user_kb allows), ENXIO (the driver is a module,
 * and the kernel's function tracer is off; also OPEN_MARK and SESSION), ENOMEM.
 */
#define PERFCTR_IOC_INFO	_IO(PERFCTR_IOC_MAGIC, 0x20)
#define PERFCTR_IOC_OPEN	_IO(PERFCTR_IOC_MAGIC, 0x21)
/* KIND_CPUS (struct perfctr_kind_cpus): ENOENT (no such kind), EINVAL, E2BIG, EFAULT, ENOMEM. */
#define PERFCTR_IOC_KIND_CPUS	_IO(PERFCTR_IOC_MAGIC, 0x22)
/*
 * OPEN_MARK (struct perfctr_open_mark_args) returns the close-on-exec descriptor of a new mark.
 * The mark ends when the descriptor has been closed for the last time and no session of the mark is
 * open.  poll() returns POLLIN if threads have borne the mark and none does any more.  EINVAL,
 * E2BIG, EFAULT, EMFILE, ENOMEM.
 *
 * MARK (struct perfctr_mark_args).  To set or clear a mark, the caller must be allowed to trace the
 * threads, or have CAP_PERFMON, else EACCES; to get a thread's mark, the caller must be able to see
 * the thread.  Threads and processes that are created during the call are marked too.  If the
 * creator got the mark after it had begun to create a thread, the new thread may lack the mark.  A
 * thread that runs on another CPU has the mark at once.  A mark made without CAP_PERFMON loses a
 * thread that executes a file which changes its ids, or which it may not read.  EBUSY (SET: some
 * thread bears another mark; nothing is changed unless the thread got that mark during the call),
 * EAGAIN (each of 100 searches has changed a thread: somebody undoes the changes, or threads are
 * created faster than they are found), ESRCH (all threads of scope have exited), EBADF (not a
 * mark), EINVAL, E2BIG, EFAULT, EINTR, ENOMEM.
 *
 * SESSION (struct perfctr_session_args) returns a close-on-exec descriptor.  EACCES (without
 * CAP_PERFMON a session must have a mark, and a policy that excludes kernel mode and unmarked
 * threads), EBADF, EINVAL, E2BIG, EFAULT, EMFILE, ENOMEM.
 */
#define PERFCTR_IOC_OPEN_MARK	_IO(PERFCTR_IOC_MAGIC, 0x23)
#define PERFCTR_IOC_MARK	_IO(PERFCTR_IOC_MAGIC, 0x24)
#define PERFCTR_IOC_SESSION	_IO(PERFCTR_IOC_MAGIC, 0x25)
/*
 * HOLDERS (struct perfctr_holders) lists the holders of the counters: all of them for a caller with
 * CAP_PERFMON, otherwise those of the caller's user.  EINVAL, E2BIG, EFAULT, ENOMEM.
 *
 * REVOKE (no argument) stops all contexts and sessions that count events.  None of them can be
 * started (EBUSY) until this descriptor of the device is closed.  EACCES (without CAP_PERFMON),
 * EINTR (the caller was killed, and some contexts or sessions go on).
 */
#define PERFCTR_IOC_HOLDERS	_IO(PERFCTR_IOC_MAGIC, 0x26)
#define PERFCTR_IOC_REVOKE	_IO(PERFCTR_IOC_MAGIC, 0x27)

/*
 * On a context (most calls also fail with EINTR if the caller is being killed):
 *
 * CONTROL (struct perfctr_control) checks the control, replaces the old one, clears all sums and
 * starts.  Members of a tree that an earlier control made are detached.  If the earlier control had
 * TOTALS, they are detached even if CONTROL fails because the thread exits meanwhile (ESRCH).
 * Signals to another process's thread need CAP_PERFMON and CAP_KILL, or the right to ptrace the
 * thread.  EMFILE (TOTALS: as OPEN), EINVAL, EACCES (see bad_reason), EBUSY (another subsystem has
 * the counters, or see bad_reason; perfctr holds them only while something is started), ENODEV
 * (events, but no known PMU), EPERM (opened without CREATE), ESRCH (the thread has exited, or has
 * executed a file that changes its ids or that it may not read), E2BIG, EFAULT, ENOMEM.
 *
 * START and STOP (no argument) continue and pause the counting of the thread and of all members
 * below it; sums stay.  EINVAL (START without a control), EBUSY (START: as for CONTROL), ESRCH (all
 * have exited), EPERM.
 *
 * READ (struct perfctr_counts): EACCES (the control counts kernel mode, which the caller may not
 * count; also START, EXIT_RECORD, PERIODS and mmap()), EOPNOTSUPP (see PERFCTR_CONTROL_TOTALS),
 * EINVAL, E2BIG, EFAULT, ENOMEM.
 *
 * EXIT_RECORD (struct perfctr_exit_record) takes the oldest record from the tree.  poll() of the
 * descriptor that owns the context returns POLLIN if there is one.  EAGAIN (none), EPERM, EINVAL,
 * E2BIG, EFAULT (if the structure cannot be written, the record counts as lost), ENOMEM.
 *
 * GET_CONTROL (struct perfctr_control; in: size alone) returns the control of the context, also
 * after the thread has exited: flags, with STOPPED if the context does not count now, and as many
 * events as there is room for.  n_events is the number of events.  ENOENT (no control yet), EACCES
 * (a security module forbids it), EINVAL, E2BIG, EFAULT, EINTR, ENOMEM.
 *
 * PERIODS (struct perfctr_periods; in: size and scope): EACCES, EINVAL, E2BIG, EFAULT, EINTR.
 *
 * RESUME (no argument) ends the wait of the calling thread, or, if that thread is no member of the
 * tree, the waits of all members.  They count again.  EALREADY (none waits), ESRCH (all have
 * exited), EPERM, EINTR.
 *
 * SAMPLES (struct perfctr_samples_args), before the first control.  If the caller may count kernel
 * mode at the time of this call, events of kernel mode can be sampled later, and only callers that
 * may count kernel mode can map the rings.  Otherwise CONTROL refuses such events (EACCES and
 * PERFCTR_BAD_PRIVILEGE).  poll() also returns POLLIN if a ring has as many records as the
 * watermark, and POLLHUP if max_samples has ended the sampling.  The rings exist until the
 * descriptor is closed.  EPERM (opened without CREATE), EBUSY (the context has a control or samples
 * already), EOPNOTSUPP (no PERFCTR_FEATURE_INTERRUPT), EACCES (without CAP_PERFMON a ring has room
 * for at most 65536 bytes), EMFILE (as OPEN), EINVAL, E2BIG, EFAULT, EINTR, ENOMEM.
 *
 * SAMPLED (struct perfctr_sampled; in: size alone): EPERM, ENOENT (no SAMPLES before), EACCES
 * (there may be samples of kernel mode, which the caller may not count), EINVAL, E2BIG, EFAULT.
 *
 * CONSUME (struct perfctr_consume): EPERM, EINVAL (also: no SAMPLES before), E2BIG, EFAULT.
 */
/*
 * On a mark:
 *
 * MEMBERS (struct perfctr_members_args): EINVAL, E2BIG, EFAULT, ENOMEM.
 *
 * ENTER and LEAVE (no argument) set and clear the mark of the calling thread, around a segment of
 * code with one entry and any number of exits.  ENTER: EBUSY (the thread bears another mark),
 * ENOMEM.  LEAVE does not fail.
 *
 * On a session:
 *
 * CONTROL (struct perfctr_control, flags 0 or STOPPED), START, STOP and READ (scope SELF) are as on
 * a context; members in READ are those of the mark.  READ sets PERFCTR_COUNTS_CONSISTENT if no
 * thread but the caller was counted between the read of the first sum and that of the last.  If the
 * caller sets this flag, the kernel stops all CPUs for a moment, so that the sums always are of one
 * instant: EPERM without CAP_PERFMON.
 *
 * CONTROL also fails with EBUSY and PERFCTR_BAD_TAKEN; and, without CAP_PERFMON, with EACCES and
 * PERFCTR_BAD_POLICY (only marked threads in user mode may be counted) and with EMFILE and the same
 * reason (a user's sessions have at most user_session_counters).  CONTROL and START also fail with
 * ENXIO if SESSION named a CPU that counts no events (a session of all CPUs leaves that CPU out,
 * and has PERFCTR_COUNTS_DISTURBED).  They fail with ENOSPC, and change nothing, if the maximum
 * number of sessions is started: 16 in all; without CAP_PERFMON 8, with half of the counters.  They
 * fail with EMFILE and bad_reason 0, and change nothing, if 4 of these 8 are the user's.
 *
 * CONSUME (struct perfctr_consume): EINVAL, E2BIG, EFAULT.
 */
#define PERFCTR_IOC_CONTROL	_IO(PERFCTR_IOC_MAGIC, 0x30)
#define PERFCTR_IOC_START	_IO(PERFCTR_IOC_MAGIC, 0x31)
#define PERFCTR_IOC_STOP	_IO(PERFCTR_IOC_MAGIC, 0x32)
#define PERFCTR_IOC_READ	_IO(PERFCTR_IOC_MAGIC, 0x33)
#define PERFCTR_IOC_EXIT_RECORD	_IO(PERFCTR_IOC_MAGIC, 0x34)
#define PERFCTR_IOC_GET_CONTROL	_IO(PERFCTR_IOC_MAGIC, 0x35)
#define PERFCTR_IOC_PERIODS	_IO(PERFCTR_IOC_MAGIC, 0x36)
#define PERFCTR_IOC_RESUME	_IO(PERFCTR_IOC_MAGIC, 0x37)
#define PERFCTR_IOC_SAMPLES	_IO(PERFCTR_IOC_MAGIC, 0x38)
#define PERFCTR_IOC_SAMPLED	_IO(PERFCTR_IOC_MAGIC, 0x39)

#define PERFCTR_IOC_MEMBERS	_IO(PERFCTR_IOC_MAGIC, 0x40)
#define PERFCTR_IOC_ENTER	_IO(PERFCTR_IOC_MAGIC, 0x41)
#define PERFCTR_IOC_LEAVE	_IO(PERFCTR_IOC_MAGIC, 0x42)
#define PERFCTR_IOC_CONSUME	_IO(PERFCTR_IOC_MAGIC, 0x48)

#endif
