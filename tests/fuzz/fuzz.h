/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A fuzzer of the device, which runs inside the machine. A run is a series of rounds. In each
 * round, worker processes execute random operations, with the children and threads that they make,
 * while a canary counts what is known by hand. An operation depends on its worker's seed, on its
 * number, and on what the worker holds then.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/perfctr.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define N_WORKERS 4   /* every other one without privilege */
#define MAX_THREADS 3 /* besides the first, at a time */
#define N_SLOTS 24
#define N_WINDOWS 8
#define N_CHILDREN 6
#define NOBODY 65534

/* The kind of a descriptor. OWNER made its context, READER found it. */
enum kind { DEVICE, OWNER, READER, MARK, SESSION, N_KINDS };

struct slot {
	_Atomic int fd; /* -1: empty */
	enum kind kind;
	bool own;	 /* OWNER: of the holder's only thread; no other process has it */
	uint32_t n_cpus; /* as SESSION or SAMPLES returned it */
	uint32_t pages_bytes;
	uint32_t ring_bytes; /* 0: there are none */
};

/*
 * Addresses where descriptors are mapped, and nothing else. If a thread maps beside others, the
 * window is UNKNOWN for good: nobody can tell which thread came last, and with which descriptor.
 */
struct window {
	enum { NOTHING, UNKNOWN, PAGE, SESSION_PAGES, RING } content;
	uint32_t length; /* bytes, whole pages */
};

/* The process. Its threads share this, its children get a copy. */
struct process {
	struct slot slot[N_SLOTS]; /* the first one is always the device */
	struct window window[N_WINDOWS];
	pid_t child[N_CHILDREN]; /* 0: none */
	int pair[2];		 /* sockets, for descriptors in flight */
	atomic_uint threads;	 /* besides the first */
	_Atomic int perf;	 /* an event of perf_events, -1: none */
	unsigned int worker;
	unsigned int depth; /* 0: the worker, 1: a child of it, ... */
	bool privileged;
	bool user;	  /* has never held anything that a privileged process made */
	bool mapped;	  /* may have the permission to RDPMC */
	bool doubtful;	  /* forked beside threads: what it seems to hold may be out of date */
	bool inheritable; /* by madvise(), pages of contexts */
};

extern struct process self;

/* A thread of the process. */
struct fuzzer {
	uint64_t random;
	uint64_t seed;
	uint64_t operation; /* from 0 */
	const char *doing;
	bool first;    /* the process's first thread */
	bool alone;    /* no other thread uses what the process holds, in this operation */
	char path[48]; /* its origin, as in w2.1234.3: worker, operations */
	char *arena;   /* ARENA_PAGES, then a missing page */
};

#define PAGE_BYTES 4096u
#define ARENA_PAGES 4u

/* random.c */
uint64_t mix(uint64_t a, uint64_t b);
uint64_t next(struct fuzzer *f);
uint64_t below(struct fuzzer *f, uint64_t n);
bool chance(struct fuzzer *f, unsigned int percent);
uint64_t awkward(struct fuzzer *f);
/* An index, chosen by weight. */
size_t weighted(struct fuzzer *f, const void *first, size_t stride, size_t n);

/* report.c: memory that all processes of the run share */
#define MAX_COMMANDS 32
#define N_PUBLIC 64

struct call_count {
	atomic_ulong accepted, refused;
};

enum check {
	CHECK_ERRNO,	 /* an error that is not documented for the call, or the wrong one */
	CHECK_BOUNDS,	 /* the kernel wrote where it must not */
	CHECK_REFUSED,	 /* a refused call changed something */
	CHECK_PRIVILEGE, /* more was allowed than the privilege of the caller */
	CHECK_MEMORY,	 /* mapped memory is wrong, or may be written */
	CHECK_CANARY,	 /* a known count was not what it should be */
	CHECK_CLOSED,	 /* something is left when everything is closed */
	CHECK_PROGRESS,	 /* a worker crashed or hangs */
	CHECK_REACH,	 /* a call was never accepted */
	N_CHECKS
};

/* Root sets these for everybody. The value is right while the epoch is even and stays the same. */
enum setting_name { RDPMC_FOR, PARANOID, N_SETTINGS };
struct setting {
	atomic_uint epoch;
	atomic_int value;
};

struct shared {
	uint64_t seed;
	unsigned int round;
	atomic_bool stop; /* the canary must end */
	pid_t supervisor;
	atomic_ulong operations;
	atomic_ulong canaries; /* counts that were compared */
	atomic_ulong failed_births;
	atomic_ulong perf_events;
	atomic_ulong changes; /* of settings */
	struct setting setting[N_SETTINGS];
	atomic_ulong findings[N_CHECKS];
	struct call_count call[MAX_COMMANDS];
	struct call_count map;
	struct {
		atomic_ulong operation;	  /* of its first thread; it must grow */
		atomic_int tid[N_PUBLIC]; /* its processes and threads; 0: none */
	} worker[N_WORKERS];
	char directory[64]; /* for the programs that are executed */
	struct perfctr_pmu_info info;
};

extern struct shared *shared;

void shared_init(void);
void finding(const struct fuzzer *f, enum check check, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
unsigned long all_findings(void);
void print_calls(void);
/* "ok" or "FAILED" for each check. */
void print_checks(void);

/* operation.c */
void fuzzer_init(struct fuzzer *f, uint64_t seed, bool first);
void run_operations(struct fuzzer *f, uint64_t from, uint64_t to);

/* slot.c: descriptors */
struct slot *any_slot(struct fuzzer *f, unsigned int kinds); /* a mask; NULL: there is none */
/* held: all but the descriptor itself */
void add_slot(struct fuzzer *f, int fd, const struct slot *held);
void close_slot(struct slot *slot);
void op_close(struct fuzzer *f);
void op_dup(struct fuzzer *f);
void op_plain(struct fuzzer *f);
void op_pass(struct fuzzer *f);
void op_device(struct fuzzer *f);

/* call.c: ioctls */
extern const unsigned int n_commands;
const char *command_name(unsigned int command);
bool command_is_possible(unsigned int command); /* by the features of the driver */
void op_call(struct fuzzer *f);
void op_call_without_descriptors(struct fuzzer *f);

/* fill.c: structs that are mostly valid. They return the size of the struct. */
#define IMAGE_BYTES 4096
size_t fill_none(struct fuzzer *f, void *image);
size_t fill_info(struct fuzzer *f, void *image);
size_t fill_open(struct fuzzer *f, void *image);
size_t fill_open_mark(struct fuzzer *f, void *image);
size_t fill_mark(struct fuzzer *f, void *image);
size_t fill_session(struct fuzzer *f, void *image);
size_t fill_control(struct fuzzer *f, void *image);
size_t fill_session_control(struct fuzzer *f, void *image);
size_t fill_read(struct fuzzer *f, void *image);
size_t fill_periods(struct fuzzer *f, void *image);
size_t fill_session_read(struct fuzzer *f, void *image);
size_t fill_record(struct fuzzer *f, void *image);
size_t fill_get_control(struct fuzzer *f, void *image);
size_t fill_samples(struct fuzzer *f, void *image);
size_t fill_sampled(struct fuzzer *f, void *image);
size_t fill_members(struct fuzzer *f, void *image);
size_t fill_consume(struct fuzzer *f, void *image);
#define EXTRA_BYTES 2048 /* at extra(f), for memory to which structs point */
char *extra(const struct fuzzer *f);
#define PATTERN 0xa5

/* memory.c: mappings */
void memory_init(void);
/* Called in a child process, to drop what it has not inherited. */
void memory_fork(void);
void op_map(struct fuzzer *f);
void op_unmap(struct fuzzer *f);
void op_remap(struct fuzzer *f);
void op_protect(struct fuzzer *f);
void op_look(struct fuzzer *f);
void op_rdpmc(struct fuzzer *f);
/* Returns false if it faults. */
bool rdpmc(struct fuzzer *f, uint32_t index, uint64_t *value);

/* process.c */
pid_t any_tid(struct fuzzer *f);
void process_init(unsigned int worker, bool privileged);
void process_end(void);
void publish(pid_t tid);
void retract(pid_t tid);
void op_fork(struct fuzzer *f);
void op_exec(struct fuzzer *f);
void op_vfork(struct fuzzer *f);
void op_sleeper(struct fuzzer *f);
void op_thread(struct fuzzer *f);
void op_kill(struct fuzzer *f);
void op_reap(struct fuzzer *f);
void op_trace(struct fuzzer *f);
void op_affinity(struct fuzzer *f);
void op_hotplug(struct fuzzer *f);

/* birth.c */
void op_failing_birth(struct fuzzer *f);

/* perf.c */
void op_perf(struct fuzzer *f);
void op_perf_close(struct fuzzer *f);

/* meddler.c */
struct glimpse {
	unsigned int epoch;
	int value;
};
void settings_init(void);
struct glimpse glance(enum setting_name name);
bool has_stayed(enum setting_name name, struct glimpse glimpse);
/* Runs until it is told to stop, like the canary. */
void meddle(uint64_t seed);

/* canary.c */
void canary(uint64_t seed);

/* closed.c: what remains in the kernel between two rounds */
void closed_init(void);
void check_closed(void);

#endif
