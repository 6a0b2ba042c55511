/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * What the BPF programs, perfctr-bpfd and the library share: pinned names, slots, calls.
 *
 * A slot is one page of the map "slots", which programs alone can write and everybody can map.  It
 * is a context of one thread, or a group.
 */
#ifndef PERFCTR_BPF_LAYOUT_H
#define PERFCTR_BPF_LAYOUT_H

#define PERFCTR_BPF_VERSION 2
#define PERFCTR_BPF_DIRECTORY "/sys/fs/bpf/perfctr"

#define PERFCTR_BPF_EVENTS 4 /* of the processor, at most */

/* What is counted of a task; what does not say else is the scheduler's own field of the task. */
enum perfctr_bpf_field {
	PERFCTR_BPF_TIME,	/* ns on a CPU */
	PERFCTR_BPF_PUT,	/* times put on a CPU */
	PERFCTR_BPF_MOVED,	/* ... on another one than the time before */
	PERFCTR_BPF_SWITCHES,	/* voluntary and other */
	PERFCTR_BPF_MIGRATIONS, /* what perf calls so: also of tasks that wait for a CPU */
	PERFCTR_BPF_MINOR,	/* page faults */
	PERFCTR_BPF_MAJOR,
	PERFCTR_BPF_UNCOUNTED, /* times that events were not counted until the next switch */
	PERFCTR_BPF_EVENT,     /* the first one, then the others */
	PERFCTR_BPF_FIELDS = PERFCTR_BPF_EVENT + PERFCTR_BPF_EVENTS
};

enum perfctr_bpf_kind { PERFCTR_BPF_FREE, PERFCTR_BPF_CONTEXT, PERFCTR_BPF_GROUP };

#define PERFCTR_BPF_INHERIT (1u << 0) /* what the thread creates is a member */
#define PERFCTR_BPF_EXITED (1u << 1)  /* the thread has */
#define PERFCTR_BPF_EXITING (1u << 2) /* it has begun to */
#define PERFCTR_BPF_DROPPED (1u << 3) /* it executed a program that changes its ids */

struct perfctr_bpf_slot {
	struct perfctr_page page;
	__u32 kind;
	__u32 generation; /* another one each time the slot is taken */
	__u32 owner;	  /* process (global number) that took it */
	__u32 owner_uid;
	__u32 flags;
	__u32 members; /* threads below it that have not been switched away for good */
	__u32 exiting; /* ... that have begun to exit: their last nanoseconds are missing */
	__u32 n_events;
	__u8 event[PERFCTR_MAX_COUNTERS]; /* number of an event of the backend each */
	__u64 created;			  /* members that there ever were */
	__u64 lost;			  /* ... that should have been, had the kernel had memory */
	__u64 dropped;			  /* ... that executed a program that changes ids */
	__u64 missed; /* switches that the programs were not told of; their counts are there */
	/* Folds begun and ended.  Equal before and after a copy: it is of one instant */
	__u64 begun;
	__u64 ended;
	__u64 own[PERFCTR_BPF_FIELDS];	  /* of the context's thread */
	__u64 below[PERFCTR_BPF_FIELDS];  /* of all members */
	__u64 exited[PERFCTR_BPF_FIELDS]; /* of those that have exited */
};

/* Ticks of the time stamp counter per ns: whole + fraction / 2^32. */
struct perfctr_bpf_rate {
	__u64 whole;
	__u64 fraction;
};

/* At time ns of CLOCK_MONOTONIC the counter stood at ticks, and went on at this rate. */
struct perfctr_bpf_clock {
	__u64 ns;
	__u64 ticks;
	struct perfctr_bpf_rate rate;
};

#define PERFCTR_BPF_USER (1u << 0)
#define PERFCTR_BPF_KERNEL (1u << 1)

/* An event of the processor that the service was started with. */
struct perfctr_bpf_event {
	__u64 config;  /* perf_event_attr.config, PERF_TYPE_RAW */
	__u32 modes;   /* PERFCTR_BPF_USER, _KERNEL: in which it counts */
	char name[52]; /* as given, NUL-terminated */
};

#define PERFCTR_BPF_UNDO_MOUNT (1u << 0) /* mounted the file system of the pins */
#define PERFCTR_BPF_UNDO_MODE (1u << 1)	 /* let everybody search it */

/* The only element of the map "info". */
struct perfctr_bpf_info {
	__u32 version; /* PERFCTR_BPF_VERSION */
	__u32 slots;
	__u32 tsc_khz;
	__u32 live; /* the time stamp is the same on all CPUs: pages can be read live */
	__u32 pid;  /* of the service, which keeps the clock right */
	__u32 undo; /* PERFCTR_BPF_UNDO_*: what the service did to the system */
	struct perfctr_bpf_rate rate; /* converts CPU time; stays while the service runs */
	__u64 current;		      /* clock[current & 1] is the newest */
	struct perfctr_bpf_clock clock[2];
	__u32 n_events; /* of the processor; 0: none is counted */
	__u32 reserved;
	struct perfctr_bpf_event event[PERFCTR_BPF_EVENTS];
};

static inline __u64 perfctr_bpf_ticks(const struct perfctr_bpf_rate *rate, __u64 ns)
{
	return ns * rate->whole + (ns >> 32) * rate->fraction +
	       ((ns & 0xffffffff) * rate->fraction >> 32);
}

/* A clock that has not been renewed for so long is not used: then no page can be read live. */
#define PERFCTR_BPF_CLOCK_NS 10000000000ull

/*
 * The program "call", run by BPF_PROG_TEST_RUN for the calling thread: args[0] is what to do,
 * args[1] and args[2] a slot and its generation.  Returns 0 or more, or a negative errno.
 */
enum perfctr_bpf_call {
	PERFCTR_BPF_TAKE, /* args[3]: kind.  Returns the slot */
	PERFCTR_BPF_RELEASE,
	PERFCTR_BPF_CONTROL, /* args[3]: flags, [4]: number of events, [5], [6]: 4 bits for each */
	PERFCTR_BPF_START,
	PERFCTR_BPF_STOP,
	PERFCTR_BPF_MARK, /* give the caller to the slot */
	PERFCTR_BPF_UNMARK,
	PERFCTR_BPF_FOLD,    /* bring the caller's sums and page up to date */
	PERFCTR_BPF_COUNT,   /* likewise its counts of events alone; in interrupts too */
	PERFCTR_BPF_REQUEST, /* args[3]: what the next walk does, [4]: tid, [5]: scope */
};

/*
 * The iterator "walk", which goes through all threads when the file is read, and does what the
 * reading thread has requested.  It gives the numbers of threads that were asked for, and a reply.
 */
enum perfctr_bpf_walk {
	PERFCTR_BPF_WALK_MARK = 1,
	PERFCTR_BPF_WALK_UNMARK,
	PERFCTR_BPF_WALK_FOLD, /* bring the sums of the slot's threads up to date */
	PERFCTR_BPF_WALK_MEMBERS,
	PERFCTR_BPF_WALK_GET,  /* whose mark bears the thread? */
	PERFCTR_BPF_WALK_FIND, /* likewise its own context */
};

struct perfctr_bpf_reply {
	__s32 error; /* errno of the first thread that could not be marked */
	__u32 found; /* threads that were meant */
	__u32 changed;
	__u32 running; /* members that were running meanwhile, the caller not counted */
	__u32 folded;  /* FOLD: 1 when the caller is a member */
	__u32 reserved;
	__u64 id; /* GET, FIND: slot, above it generation; 0: none */
};

#endif
