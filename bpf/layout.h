/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The interface between the BPF programs, perfctr-bpfd and the library: pinned names, slots, calls.
 *
 * A slot is one page of the map "slots", which only BPF programs can write and everybody can map.
 * It is the context of one thread, or a mark.  Another map, for the BPF programs alone, tells
 * which process has taken it.
 */
#ifndef PERFCTR_BPF_LAYOUT_H
#define PERFCTR_BPF_LAYOUT_H

#define PERFCTR_BPF_VERSION 7
#define PERFCTR_BPF_DIRECTORY "/sys/fs/bpf/perfctr"

#define PERFCTR_BPF_EVENTS 4 /* of the processor, at most */

/*
 * The counts of a task.  Unless a comment says otherwise, each is the kernel's own field of the
 * task.
 */
enum perfctr_bpf_field {
	PERFCTR_BPF_TIME,	/* ns on a CPU */
	PERFCTR_BPF_PUT,	/* times put on a CPU */
	PERFCTR_BPF_MOVED,	/* ... on another CPU than the time before */
	PERFCTR_BPF_SWITCHES,	/* voluntary and involuntary */
	PERFCTR_BPF_MIGRATIONS, /* as perf counts them: also those of tasks that wait for a CPU */
	PERFCTR_BPF_MINOR,	/* page faults */
	PERFCTR_BPF_MAJOR,
	PERFCTR_BPF_UNCOUNTED, /* times that events were not counted until the next switch */
	PERFCTR_BPF_EVENT,     /* the first event; the others follow */
	PERFCTR_BPF_FIELDS = PERFCTR_BPF_EVENT + PERFCTR_BPF_EVENTS
};

enum perfctr_bpf_kind {
	PERFCTR_BPF_FREE,
	PERFCTR_BPF_CONTEXT,
	PERFCTR_BPF_MARKED,
};

#define PERFCTR_BPF_INHERIT (1u << 0) /* threads that the thread creates become members */
#define PERFCTR_BPF_EXITED (1u << 1)  /* the thread has exited */
#define PERFCTR_BPF_EXITING (1u << 2) /* the thread has begun to exit */
#define PERFCTR_BPF_DROPPED (1u << 3) /* it executed a program that the slot's user may not watch */

struct perfctr_bpf_slot {
	struct perfctr_page page;
	__u64 generation; /* 48 bits, a new value each time the slot is taken; 0: free */
	__u32 kind;
	__u32 busy; /* programs that may write to the slot; must be 0 before it is taken again */
	__u32 flags;
	__u32 members; /* members that have not been switched away for the last time */
	__u32 exiting; /* ... that have begun to exit: their last nanoseconds are missing */
	__u32 started; /* the slot counts, also after the context's own thread has exited */
	__u32 n_events;
	__u8 event[PERFCTR_MAX_COUNTERS]; /* each is the number of an event of the backend */
	/* Aligned, because 32-bit programs map the slot, too. */
	__u64 created __attribute__((aligned(8))); /* all members that there ever were */
	__u64 lost;    /* ... that are missing, because the kernel had no memory */
	__u64 dropped; /* ... that executed a program that the slot's user may not watch */
	__u64 missed;  /* switches that the programs missed; the kernel's counts are complete */
	/*
	 * Numbers of folds that have begun and ended.  A copy shows one instant if begun after the
	 * copy equals ended before it.
	 */
	__u64 begun;
	__u64 ended;
	__u64 own[PERFCTR_BPF_FIELDS];	  /* of the context's thread */
	__u64 below[PERFCTR_BPF_FIELDS];  /* of all members */
	__u64 exited[PERFCTR_BPF_FIELDS]; /* of members that have exited */
};

#define PERFCTR_BPF_SLOT_BITS 16 /* the low bits of an id; the generation is above them */

static inline __u64 perfctr_bpf_id(__u32 slot, __u64 generation)
{
	return generation << PERFCTR_BPF_SLOT_BITS | slot;
}

/* Ticks of the time stamp counter per ns: whole + fraction / 2^32. */
struct perfctr_bpf_rate {
	__u64 whole;
	__u64 fraction;
};

/*
 * At time ns of CLOCK_MONOTONIC the time stamp counter was at ticks.  Since then it runs at this
 * rate.
 */
struct perfctr_bpf_clock {
	__u64 ns;
	__u64 ticks;
	struct perfctr_bpf_rate rate;
};

#define PERFCTR_BPF_USER (1u << 0)
#define PERFCTR_BPF_KERNEL (1u << 1)

/* An event of the processor with which the service was started. */
struct perfctr_bpf_event {
	__u64 config;  /* perf_event_attr.config, PERF_TYPE_RAW */
	__u32 modes;   /* PERFCTR_BPF_USER, _KERNEL: in which it is counted */
	char name[52]; /* as given, NUL-terminated */
};

#define PERFCTR_BPF_UNDO_MOUNT (1u << 0) /* the service has mounted the file system of the pins */
#define PERFCTR_BPF_UNDO_MODE (1u << 1)	 /* the service has let everybody search that file system */

/*
 * The only element of the map "info".  The map is frozen: only BPF programs can change it.  A
 * reader compares the map's value size with this struct's before a lookup, which writes that many
 * bytes.
 */
struct perfctr_bpf_info {
	__u32 version; /* PERFCTR_BPF_VERSION */
	__u32 slots;
	__u32 tsc_khz;
	__u32 live;	  /* the time stamp is the same on all CPUs: pages can be read live */
	__u32 pid;	  /* of the service, which keeps the clock right, and ... */
	__u32 undo;	  /* PERFCTR_BPF_UNDO_*: what the service did to the system */
	__u64 pid_start;  /* ... when that began, field 22 of its /proc/PID/stat */
	__u32 user_slots; /* that one user can take */
	__u32 ended;	  /* the service was stopped: open descriptors are of no use any more */
	char sources[16]; /* identifies the build of the programs */
	struct perfctr_bpf_rate rate; /* converts CPU time; stays while the service runs */
	__u64 current;		      /* clock[current & 1] is the newest */
	struct perfctr_bpf_clock clock[2];
	__u32 n_events; /* of the processor; 0: none is counted */
	__u32 reserved;
	struct perfctr_bpf_event event[PERFCTR_BPF_EVENTS];
};

#define PERFCTR_BPF_MIN_SLOTS 4
#define PERFCTR_BPF_MAX_SLOTS 65536

/* Can a service of this version have written *info?  Readers check that before they use a field. */
static inline int perfctr_bpf_is_sound(const struct perfctr_bpf_info *info)
{
	if (info->version != PERFCTR_BPF_VERSION || info->slots < PERFCTR_BPF_MIN_SLOTS ||
	    info->slots > PERFCTR_BPF_MAX_SLOTS || !info->tsc_khz ||
	    info->n_events > PERFCTR_BPF_EVENTS)
		return 0;
	for (__u32 i = 0; i < info->n_events; i++)
		if (info->event[i].name[sizeof(info->event[i].name) - 1])
			return 0;
	return 1;
}

/*
 * The service changes the map "info" through the program "keep", which only the service's user
 * can open.  The mode of the map's pin protects nothing: a user who can read a map can pin it at
 * another place, and open that pin for writing.
 */
enum perfctr_bpf_keep {
	PERFCTR_BPF_KEEP_SERVICE, /* pid, pid_start: this process is the service now */
	PERFCTR_BPF_KEEP_CLOCK,	  /* clock: it is the newest one from then on */
	PERFCTR_BPF_KEEP_END,	  /* cannot be undone */
};

struct perfctr_bpf_kept {
	__u32 action; /* enum perfctr_bpf_keep */
	__u32 pid;
	__u64 pid_start;
	struct perfctr_bpf_clock clock;
};

static inline __u64 perfctr_bpf_ticks(const struct perfctr_bpf_rate *rate, __u64 ns)
{
	return ns * rate->whole + (ns >> 32) * rate->fraction +
	       ((ns & 0xffffffff) * rate->fraction >> 32);
}

/* A clock that was not renewed for this long is not used: then no page can be read live. */
#define PERFCTR_BPF_CLOCK_NS 10000000000ull

#define PERFCTR_BPF_ARGUMENTS 7
#define PERFCTR_BPF_PROOFS 32

/*
 * Proofs that the kernel lets the caller trace other threads: descriptors of their /proc/TID/mem,
 * which the calling thread has opened.  Places that are free have -1.
 */
struct perfctr_bpf_proofs {
	__s32 fd[PERFCTR_BPF_PROOFS];
};

/*
 * The arguments of the program "call", which BPF_PROG_TEST_RUN runs in the calling thread.
 * value[0] is what to do, value[1] and value[2] are a slot and its generation.  The program returns
 * 0 or more, or a negative errno.  ENOBUFS: the thread has no room for requests yet, and gets it by
 * reading "self".  EAGAIN: the call must be deferred.  No value is an address.  The caller could
 * map a page there for which the program would have to wait, and so would everything that the
 * kernel frees of BPF.
 */
struct perfctr_bpf_arguments {
	__u64 value[PERFCTR_BPF_ARGUMENTS];
	struct perfctr_bpf_proofs proofs; /* of REQUEST, with value[6] */
};

enum perfctr_bpf_call {
	PERFCTR_BPF_TAKE, /* [3]: kind.  Returns the slot */
	PERFCTR_BPF_RELEASE,
	PERFCTR_BPF_CONTROL, /* [3]: flags, [4]: number of events, [5], [6]: 4 bits for each */
	PERFCTR_BPF_START,
	PERFCTR_BPF_STOP,
	PERFCTR_BPF_MARK, /* the caller counts into the slot from now on */
	PERFCTR_BPF_UNMARK,
	PERFCTR_BPF_FOLD,    /* bring the caller's sums and page up to date */
	PERFCTR_BPF_COUNT,   /* bring only the caller's counts of events up to date; DEFER only */
	PERFCTR_BPF_REQUEST, /* [3]: what the next walk does, [4]: tid, [5]: scope, [6]: proofs */
	PERFCTR_BPF_LEARN,   /* [3]: a descriptor of /proc/self/mem; once, by the service */
};

/*
 * Added to a call: the call is executed when the thread reads "self", which gives the result, a
 * __s32.  At that place the caller's events of the processor can be read, and they are counted
 * first.
 */
#define PERFCTR_BPF_DEFER 0x100

/*
 * The iterator "walk".  A read of its file goes through all threads, and executes the request of
 * the reading thread.  The file gives numbers of threads and then a reply.  These are the numbers
 * of members, or of threads for which the caller lacks a proof that it may trace them.
 */
enum perfctr_bpf_walk {
	PERFCTR_BPF_WALK_MARK = 1,
	PERFCTR_BPF_WALK_UNMARK,
	PERFCTR_BPF_WALK_FOLD,	   /* bring the sums of the slot's threads up to date */
	PERFCTR_BPF_WALK_MEMBERS,  /* numbers of the members of a slot that the caller owns */
	PERFCTR_BPF_WALK_GET,	   /* the id of the thread's mark */
	PERFCTR_BPF_WALK_FIND,	   /* the thread's own context */
	PERFCTR_BPF_WALK_DEFERRED, /* nothing: the request is for "self" */
};

struct perfctr_bpf_reply {
	__s32 error; /* errno of the first thread that could not be marked */
	__u32 found; /* threads that were meant, and that the caller may see */
	__u32 changed;
	__u32 running;	/* members that ran during the walk, apart from the caller */
	__u32 folded;	/* FOLD: 1 if the caller is a member */
	__u32 unproven; /* threads whose numbers are given, as a proof is missing */
	__u32 exiting;	/* members that have begun to exit, and can be found */
	__u32 reserved;
	__u64 id;	/* GET, FIND: perfctr_bpf_id() of the slot; 0: none */
};

#endif
