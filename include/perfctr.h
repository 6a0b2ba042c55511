/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: per-thread virtual performance counters.
 *
 * A handle represents the context of one thread.  A thread that has opened its own context reads
 * its counters in user mode, without a system call, by perfctr_read_pmc() and perfctr_read_tsc().
 * All other functions make system calls and work on any context.
 *
 * Functions that return int return 0 (or an index), or -1 with errno set.  Functions that return a
 * pointer return NULL with errno set on failure.  The library does not print, and independent
 * users of it in one process do not interfere with each other.
 *
 * Different threads may use different handles at the same time.  Several threads may read one
 * handle at the same time, but must not close it.
 */
#ifndef PERFCTR_H
#define PERFCTR_H

#ifdef LIBPERFCTR_2_6_H
#error "<perfctr.h> and perfctr 2.6's <libperfctr.h> have the same names for different things"
#endif

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#ifdef __cplusplus
/* Structs of the kernel's header may end with an array of any length. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#endif
#include <linux/perfctr.h>
#ifdef __cplusplus
#pragma GCC diagnostic pop
extern "C" {
#endif

/* The version of this header, also as 0xMMmmpp. */
#define PERFCTR_VERSION "0.2.0"
#define PERFCTR_VERSION_NUMBER 0x000200u

/*
 * perfctr_version - the version of the library that the program runs with.
 * Before 1.0 this has the minor version that the program was compiled for.
 */
const char *perfctr_version(void);

/* The context of one thread. */
struct perfctr;

/* perfctr_event_control.counter: take the lowest free general counter. */
#define PERFCTR_ANY UINT32_MAX

/*
 * perfctr_event_control.counter: events that the operating system counts, in user and kernel mode.
 * evntsel and evntsel2 are 0; PERFCTR_SOFTWARE_USER in evntsel counts page faults of user mode
 * alone.
 */
#define PERFCTR_SOFTWARE	0x20000000u	/* + one of these: */
#define PERFCTR_TASK_CLOCK	0u		/* time on a CPU, in ns */
#define PERFCTR_PAGE_FAULTS	1u		/* both kinds */
#define PERFCTR_MINOR_FAULTS	2u		/* without input or output */
#define PERFCTR_MAJOR_FAULTS	3u		/* with it */
#define PERFCTR_CONTEXT_SWITCHES 4u		/* times the thread was taken off its CPU */
#define PERFCTR_MIGRATIONS	5u		/* to another CPU */
#define PERFCTR_N_SOFTWARE	6u
#define PERFCTR_SOFTWARE_USER	(1u << 16)
/* perfctr_pmu_info.features, set by the library: the backend counts software events */
#define PERFCTR_FEATURE_SOFTWARE (1u << 31)

/*
 * A backend does the counting.  "patch" is the driver, and shown as "module" if the driver is a
 * module; both names choose it.  "bpf" is a service with BPF programs in the kernel, "perf_events"
 * the kernel's own subsystem.  Functions that do not name a backend use the one that the
 * environment variable PERFCTR_BACKEND names, or else the first one available.  They read the
 * variable at each call.
 */
#define PERFCTR_CAN_LIVE_READ	(1u << 0)	/* virtual time is read without a system call */
#define PERFCTR_CAN_RDPMC	(1u << 1)	/* so are counters, if the machine allows it */
#define PERFCTR_CAN_INHERIT	(1u << 2)	/* PERFCTR_CONTROL_INHERIT */
#define PERFCTR_CAN_EXIT_RECORDS (1u << 3)	/* PERFCTR_CONTROL_EXIT_RECORDS */
#define PERFCTR_CAN_REMOTE	(1u << 4)	/* contexts of other threads */
#define PERFCTR_CAN_HARDWARE	(1u << 5)	/* events of the processor */
#define PERFCTR_CAN_SOFTWARE	(1u << 6)	/* PERFCTR_SOFTWARE + n */
#define PERFCTR_CAN_MARK	(1u << 7)	/* marks, and sessions gated by them */
#define PERFCTR_CAN_SESSION	(1u << 8)	/* sessions on CPUs, of all threads there */
#define PERFCTR_CAN_TRACE	(1u << 9)	/* traces of sessions */
#define PERFCTR_CAN_ISOLATE	(1u << 10)	/* no process can read another's counts */
#define PERFCTR_CAN_SWITCHES	(1u << 11)	/* perfctr_counts.switches and migrations */
#define PERFCTR_CAN_KERNEL	(1u << 12)	/* this user may count in kernel mode */
#define PERFCTR_CAN_CONSISTENT	(1u << 13)	/* sums of running members are of one instant */
#define PERFCTR_CAN_TOTALS	(1u << 14)	/* PERFCTR_CONTROL_TOTALS */
#define PERFCTR_CAN_SAMPLE	(1u << 15)	/* periods, and samples of them */
#define PERFCTR_CAN_SIGNAL	(1u << 16)	/* signals at ends of periods; PERFCTR_EVENT_STOP */

struct perfctr_backend_info {
	char name[16];
	uint32_t available;	/* 1: it can be used here, by this user */
	uint32_t capabilities;	/* PERFCTR_CAN_* */
	uint32_t n_counters;	/* general counters of the processor */
	uint32_t reserved[9];	/* 0 */
	/* why it cannot be used, or which limits it has, and what to do; or "" */
	char why[256];
};

/*
 * perfctr_backends - describe the first room backends, in the order of the automatic choice, and
 * return how many there are.
 * perfctr_backend - describe backend name, or if name is NULL the one that would be used.  Errors:
 * EINVAL (no backend of this name), others (it cannot be used here: info is filled in, and
 * info->why says why).  Cost: some ten system calls for each backend.
 */
int perfctr_backends(struct perfctr_backend_info *list, unsigned int room);
int perfctr_backend(const char *name, struct perfctr_backend_info *info);

/*
 * perfctr_backend_for - name the backend for n events: the first one that has these capabilities
 * and counts all the events, or else the one that would be used without events.  While perf_events
 * or the NMI watchdog holds the counters, the driver counts no event of the processor, and
 * perf_events, which shares them, is used instead.  specs and modes are as for
 * perfctr_events_parse().  NULL with EINVAL: PERFCTR_BACKEND names no backend.  Cost: as
 * perfctr_backends(), and parsing.
 */
const char *perfctr_backend_for(const char *const specs[], unsigned int n, unsigned int modes,
				uint32_t capabilities);

/*
 * perfctr_get_pmu_info - describe what the machine can count, and the holder of its counters now.
 * Errors: EINVAL (no backend of this name), ENODEV (the backend is not there), EACCES (no
 * permission for it), EPROTO (the kernel speaks another ABI version); perfctr_open_error() explains
 * them.  The driver's backend opens and closes the device, in four system calls.
 */
int perfctr_get_pmu_info(struct perfctr_pmu_info *info);
int perfctr_get_pmu_info_with(const char *backend, struct perfctr_pmu_info *info);

/*
 * perfctr_open - create the context of the calling thread and map its state page.
 * It counts nothing until perfctr_set_control().  Errors: those of perfctr_get_pmu_info(), EEXIST
 * (the thread has a context), EMFILE, ENOMEM.
 */
struct perfctr *perfctr_open(void);

/*
 * perfctr_open_tid - open the context of thread tid, 0 for the calling one.
 * flags: with PERFCTR_OPEN_CREATE the call makes the context, and the handle controls it; without
 * it the context must exist, and the handle can read it.  The state page is mapped if the thread is
 * the caller.  Errors: also ENOENT (no context), ESRCH (no such thread), EACCES (the caller may not
 * trace it: ptrace(2), "Ptrace access mode checking"), EINVAL.
 */
struct perfctr *perfctr_open_tid(pid_t tid, unsigned int flags);

/* perfctr_open_with - the same by a named backend; NULL is as perfctr_open_tid(). */
struct perfctr *perfctr_open_with(const char *backend, pid_t tid, unsigned int flags);

/*
 * perfctr_capabilities - PERFCTR_CAN_* of the context.
 * perfctr_backend_name - name of the backend that counts it.
 */
uint32_t perfctr_capabilities(const struct perfctr *p);
const char *perfctr_backend_name(const struct perfctr *p);

/*
 * perfctr_close - unmap and close; p may be NULL.  errno stays as it was.  A context ends when the
 * handle that made it is closed; with the driver, also in forked children that run the same
 * program.
 */
void perfctr_close(struct perfctr *p);

/*
 * perfctr_fd - the descriptor of the context, for poll(2), and with the driver for the calls
 * of perfctr(4).  p keeps it: do not close it.
 */
int perfctr_fd(const struct perfctr *p);

/*
 * perfctr_get_page - the state page, for perfctr_read_pmc() and perfctr_read_tsc().
 * NULL if the caller is not the thread itself, is a forked copy of it, or may not execute RDPMC.
 * Use perfctr_read() or perfctr_read_counter() then.
 */
const struct perfctr_page *perfctr_get_page(const struct perfctr *p);

/*
 * perfctr_tsc_page - the state page for perfctr_read_tsc() alone.  It also exists where RDPMC is
 * not allowed, and with backends that lack RDPMC: perfctr_read_pmc() on it may kill the program.
 * NULL if the caller is not the thread itself or the backend has no page (PERFCTR_CAN_LIVE_READ).
 */
const struct perfctr_page *perfctr_tsc_page(const struct perfctr *p);

/* perfctr_control_init - an empty control: the virtual time stamp alone. */
void perfctr_control_init(struct perfctr_control *c);

/*
 * perfctr_control_add - append an event; returns its index, the i of perfctr_read_pmc().
 * counter: RDPMC index or PERFCTR_ANY.  evntsel: event select register as in the Intel SDM,
 * volume 3, 20.2.1.1.  evntsel2: second word where the machine has one, else 0.  Error: ENOSPC
 * (PERFCTR_MAX_COUNTERS events are there).  No system call.
 */
int perfctr_control_add(struct perfctr_control *c, uint32_t counter, uint64_t evntsel,
			uint64_t evntsel2);

/*
 * perfctr_control_assign - give every PERFCTR_ANY of c the lowest general counter that no other
 * event of c names and no session had taken when info was filled in.  Errors: ENOSPC (none is left
 * for bad_event), ENODEV (the machine has none); c is otherwise unchanged then.  No system call.
 */
int perfctr_control_assign(struct perfctr_control *c, const struct perfctr_pmu_info *info);

/*
 * perfctr_set_control - let p count c: assign counters, validate, clear all sums, and start.
 * c->flags: with PERFCTR_CONTROL_STOPPED counting waits for perfctr_start().  With
 * PERFCTR_CONTROL_INHERIT threads and processes that the thread creates from now on are counted
 * too, as members of its tree.  With PERFCTR_CONTROL_EXIT_RECORDS each member that exits leaves a
 * record.  With PERFCTR_CONTROL_TOTALS, and INHERIT but not EXIT_RECORDS, members cost next to
 * nothing, and PERFCTR_SCOPE_TREE is the only scope that can be read.
 * A refusal changes nothing, and sets c->bad_event and c->bad_reason if one event is at fault.
 * Errors: EINVAL, EACCES (bad_reason), ENOSPC (perfctr_control_assign()), EBUSY (perf_events or the
 * NMI watchdog has the counters), ENODEV (the machine has no PMU that the kernel knows), EPERM (not
 * the handle that made the context), ESRCH (the thread has exited, or executed a program that
 * changes its ids or that it may not read), ENOMEM, ENOTSUP (bad_reason: this backend cannot).
 * perfctr_control_error() explains them.
 */
int perfctr_set_control(struct perfctr *p, struct perfctr_control *c);

/*
 * perfctr_get_control - get the control of p's context, no matter which process installed it, as
 * the kernel has it: without events of the operating system.  c->flags has PERFCTR_CONTROL_STOPPED
 * if the thread is not counted now, or has exited.  Errors: ENOENT (no control yet), EACCES (a
 * security module forbids it), ENOTSUP (this backend's kernel part has no contexts), ENOMEM.  Cost:
 * a system call.
 */
int perfctr_get_control(const struct perfctr *p, struct perfctr_control *c);

/* bad_reason with ENOTSUP: this backend, or the machine with it, cannot: */
#define PERFCTR_BAD_SOFTWARE	0x101	/* count software events */
#define PERFCTR_BAD_INHERIT	0x102	/* PERFCTR_CONTROL_INHERIT; no single event */
#define PERFCTR_BAD_EXIT_RECORDS 0x103	/* PERFCTR_CONTROL_EXIT_RECORDS; no single event */
#define PERFCTR_BAD_MEMBER	0x106	/* count this with PERFCTR_CONTROL_EXIT_RECORDS */
#define PERFCTR_BAD_TOTALS	0x107	/* PERFCTR_CONTROL_TOTALS; no single event */
#define PERFCTR_BAD_WHOLE	0x108	/* count this with PERFCTR_CONTROL_TOTALS */
#define PERFCTR_BAD_FORBIDDEN	0x109	/* call perf_event_open(2): a seccomp filter forbids it */
/* bad_reason with EINVAL: */
#define PERFCTR_BAD_EVENT	0x104	/* the kernel does not count this event here */
#define PERFCTR_BAD_UNLOADED	0x105	/* perfctr-bpfd was not started with this event */

/*
 * perfctr_start, perfctr_stop - resume or pause counting of all members of the tree; sums stay.
 * Errors: EINVAL (start without a control), ESRCH and EPERM as above.
 */
int perfctr_start(struct perfctr *p);
int perfctr_stop(struct perfctr *p);

/* Counts of one moment. */
struct perfctr_snapshot {
	uint64_t tsc;		/* virtual time stamp, in ticks */
	uint64_t counter[PERFCTR_MAX_COUNTERS];	/* in occurrences; the first n are valid */
};

/* The counts of a start and a stop with nothing between them. */
struct perfctr_overhead {
	uint32_t n_counters;	/* valid entries of counter[] */
	struct perfctr_snapshot first;		/* of the first start and stop under a control */
	struct perfctr_snapshot repeated;	/* of each further start and stop */
};

/*
 * perfctr_calibrate - measure the counts that perfctr_start() and perfctr_stop() themselves cause
 * under c, on this machine, in the modes of each event; then install c by perfctr_set_control().  p
 * must be the calling thread's own context.  Errors: those of perfctr_set_control(), EPERM (not the
 * thread's own).  Cost: some 300 system calls.
 */
int perfctr_calibrate(struct perfctr *p, struct perfctr_control *c, struct perfctr_overhead *o);

/*
 * perfctr_correct - subtract o from the counts of a thread that was started and stopped so many
 * times.  No count becomes negative.  counts->flags says that they are corrected.  No system call.
 */
#define PERFCTR_COUNTS_CORRECTED (1u << 31)
void perfctr_correct(struct perfctr_counts *counts, const struct perfctr_overhead *o,
		     unsigned int times);

/*
 * perfctr_read - all sums, exact at the moment of the call, by a system call.
 * tsc is in ticks of the time stamp counter, counter[i] in occurrences of event i.  It works on any
 * context; after the thread has exited it returns the final sums.  EBUSY: other users had the
 * counters for a while (backend perf_events).
 */
int perfctr_read(const struct perfctr *p, struct perfctr_counts *out);

/*
 * perfctr_read_scope - all sums of a part of a tree.  scope: PERFCTR_SCOPE_SELF, which is
 * perfctr_read(); PERFCTR_SCOPE_CHILDREN, the members below the thread that have exited;
 * PERFCTR_SCOPE_TREE, the thread and all members below it.  out->members is the number of threads
 * in the sums that have not exited; PERFCTR_COUNTS_CONSISTENT in out->flags says that all sums are
 * of one instant.  Errors: EINVAL (scope), ENOMEM, ENOTSUP (the backend has no sums of this scope).
 */
int perfctr_read_scope(const struct perfctr *p, unsigned int scope, struct perfctr_counts *out);

/*
 * perfctr_next_exit_record - take the oldest record of a member that has exited, the root included.
 * The control must have had PERFCTR_CONTROL_EXIT_RECORDS.  poll(2) on perfctr_fd() reports POLLIN
 * when there is a record.  Errors: EAGAIN (there is none now), EPERM (not the handle that made the
 * context), ENOMEM.
 */
int perfctr_next_exit_record(const struct perfctr *p, struct perfctr_exit_record *record);

/*
 * perfctr_read_counter - read counter i by the fastest way that works here: RDPMC if the caller is
 * the thread itself and may execute RDPMC, else a system call.  Returns 0 with errno set on failure
 * (EINVAL: no counter i), and leaves errno untouched otherwise.
 */
uint64_t perfctr_read_counter(const struct perfctr *p, unsigned int i);

/*
 * perfctr_evntsel_parse - read "evntsel[/evntsel2][@pmc]" into *event.
 * Numbers are hexadecimal with 0x in front; pmc is decimal without it.
 * event->counter is PERFCTR_ANY.  On failure (EINVAL) *event is unchanged and error[size] holds one
 * sentence that says why and what to write.  No system call.
 */
int perfctr_evntsel_parse(const char *spec, struct perfctr_event_control *event, char *error,
			  size_t size);

/*
 * perfctr_evntsel_format - write *event as perfctr_evntsel_parse() reads it, as snprintf(3) does.
 * PERFCTR_EVNTSEL_TEXT bytes always suffice.
 */
#define PERFCTR_EVNTSEL_TEXT 64
int perfctr_evntsel_format(const struct perfctr_event_control *event, char *text, size_t size);

/*
 * perfctr_open_error - explain an errno value of perfctr_get_pmu_info() or perfctr_open*() in one
 * sentence: what is wrong and what to do.  Checks the needs of the backend.
 */
void perfctr_open_error(int error, char *text, size_t size);
void perfctr_open_error_with(const char *backend, int error, char *text, size_t size);

/*
 * perfctr_control_error - explain an errno value of perfctr_set_control() or
 * perfctr_control_assign() of c in one sentence.  It names the event at fault, what is allowed and
 * what to do, or the holder of the counters (it reads /proc/sys/kernel/nmi_watchdog).
 *
 * If a sentence of the library refers to one of its functions, it has the call, as in
 * "perfctr_backends()" or "perfctr_events_list(TLB)": a program may put its own command there.
 */
void perfctr_control_error(int error, const struct perfctr_control *c,
			   const struct perfctr_pmu_info *info, char *text, size_t size);

/* Slow path: the fast read raced with a context switch, or the context is stopped. */
uint64_t perfctr_read_pmc_slow(const struct perfctr_page *page, unsigned int i);
uint64_t perfctr_read_tsc_slow(const struct perfctr_page *page);

/*
 * perfctr_read_stopped - if the context is stopped, write its sums, of one moment, to *sums as
 * perfctr_read_snapshot() does, and return 1.  0: the context is started, and *sums is not valid.
 */
int perfctr_read_stopped(const struct perfctr_page *page, unsigned int n,
			 struct perfctr_snapshot *sums);

#if defined(__x86_64__) || defined(__i386__)
/*
 * The kernel changes the page only while the reading thread does not run, so a read needs no
 * fences: it must load ticket and bias before the hardware counter and recheck after it.  A switch
 * in the middle changes the upper half of recheck.  x86-64 compares both halves at once.  i386
 * loads 64 bits by two instructions, and a switch may come between them, but a change of either
 * half is enough.  2^32 switches within these few instructions would go unnoticed.
 *
 * The memory clobbers keep the loads in their order, and that of perfctr_recheck() after them.
 * RDPMC uses only ECX of the ticket, and only EAX of its result matters: the kernel keeps the
 * values below 2^32.  The halves are unsigned long because RDPMC and RDTSC clear the upper 32 bits
 * of RAX and RDX: this saves the instructions that would clear them again.
 */
static inline uint64_t perfctr_sum_pmc(const struct perfctr_page_counter *c, uint64_t ticket)
{
	unsigned long value, zero;

	__asm__ volatile("rdpmc"
			 : "=a"(value), "=d"(zero)
			 : "c"((unsigned long)ticket)
			 : "memory");
	return value + c->bias;
}

static inline uint64_t perfctr_sum_tsc(const struct perfctr_page_counter *c)
{
	unsigned long low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return low + ((uint64_t)high << 32) + c->bias;
}

static inline int perfctr_recheck(const struct perfctr_page_counter *c, uint64_t ticket)
{
	__asm__ volatile("" : : : "memory");
	return c->recheck == ticket;
}

/* One try to read a counter; false if a switch or a change of the page came between. */
static inline int perfctr_try_pmc(const struct perfctr_page_counter *c, uint64_t *value)
{
	uint64_t ticket = c->ticket;

	*value = perfctr_sum_pmc(c, ticket);
	return perfctr_recheck(c, ticket);
}

static inline int perfctr_try_tsc(const struct perfctr_page_counter *c, uint64_t *value)
{
	uint64_t ticket = c->ticket;

	*value = perfctr_sum_tsc(c);
	return perfctr_recheck(c, ticket);
}

/*
 * The ticket of this counter tells whether several reads were of one moment: the kernel renews the
 * tickets of all counters at once, and that of the time stamp never without them.
 */
static inline const struct perfctr_page_counter *perfctr_guard(const struct perfctr_page *page,
								unsigned int n)
{
	return n ? &page->counter[0] : &page->tsc;
}

static inline int perfctr_try_snapshot(const struct perfctr_page *page, unsigned int n,
				       struct perfctr_snapshot *snapshot)
{
	const struct perfctr_page_counter *guard = perfctr_guard(page, n);
	uint64_t ticket = guard->ticket;

	snapshot->tsc = perfctr_sum_tsc(&page->tsc);
#pragma GCC unroll 8
	for (unsigned int i = 0; i < n; i++)
		snapshot->counter[i] =
			perfctr_sum_pmc(&page->counter[i], page->counter[i].ticket);
	return perfctr_recheck(guard, ticket);
}

/*
 * perfctr_read_pmc - read counter i of the calling thread, exactly, without a system call: 5
 * instructions on x86-64 if i is a constant.  page: the result of perfctr_get_page() in this
 * thread. i must be smaller than page->n_counters.  Not for another thread or a child process:
 * RDPMC reads the CPU that executes it.
 */
static inline uint64_t perfctr_read_pmc(const struct perfctr_page *page, unsigned int i)
{
	uint64_t value;

	if (__builtin_expect(perfctr_try_pmc(&page->counter[i], &value), 1))
		return value;
	return perfctr_read_pmc_slow(page, i);
}

/*
 * perfctr_read_tsc - read the virtual time stamp of the calling thread, in ticks, without a system
 * call: 7 instructions on x86-64.
 */
static inline uint64_t perfctr_read_tsc(const struct perfctr_page *page)
{
	uint64_t value;

	if (__builtin_expect(perfctr_try_tsc(&page->tsc, &value), 1))
		return value;
	return perfctr_read_tsc_slow(page);
}

/*
 * perfctr_read_snapshot - read the virtual time stamp and counters 0 to n - 1 of the calling
 * thread, with no switch of the thread between them, without a system call: 8 + 4 * n instructions
 * on x86-64 if n is a constant of at most 8.  page: as for perfctr_read_pmc().  n is at most
 * page->n_counters, and may be 0.
 */
static inline void perfctr_read_snapshot(const struct perfctr_page *page, unsigned int n,
					 struct perfctr_snapshot *snapshot)
{
	while (!__builtin_expect(perfctr_try_snapshot(page, n, snapshot), 1))
		if (perfctr_read_stopped(page, n, snapshot))
			return;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
