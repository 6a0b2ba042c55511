/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The interface of backends: the kernel patch, BPF programs and perf_events, which count for the
 * library.  registry.c has the table of backends.  context.c, read.c, mark.c, samples.c and
 * session.c call them, and tell them apart only by their capabilities.
 *
 * Each backend has its own handles.  It allocates a struct that begins with the struct here, fills
 * in this struct apart from the member backend, and frees it.
 *
 * Functions that return int return 0 or more, or -1 with errno set.  Functions that return a
 * pointer return NULL with errno set.  Functions that close leave errno alone.  If a backend cannot
 * do something, it leaves the function NULL, and the library gives ENOTSUP.  The library does the
 * same for controls that the capabilities of the handle exclude.
 *
 * Names begin with perfctr_NAME_, as in perfctr_patch_open(), or are static.
 */
#ifndef PERFCTR_BACKEND_H
#define PERFCTR_BACKEND_H

#include <stdbool.h>
#include <perfctr.h>
#include <perfctr_sessions.h>
#include <perfctr_samples.h>

#include "../internal.h"

struct perfctr {
	const struct perfctr_backend *backend;
	struct perfctr_pmu_info info; /* as of open: its counters stay true, its holder may not */
	uint32_t capabilities;	      /* PERFCTR_CAN_* */
	unsigned long serial;	      /* no other context of this process has the same */
	int fd;			      /* for poll(2): readable when there are records; -1: none */
	/*
	 * The state page in the layout of struct perfctr_page; NULL: none.  The backend gives it to
	 * perfctr_own_page(), which makes owner.  tsc.bias + RDTSC is the virtual time in ticks
	 * while ticket == recheck.  If they differ, the reader looks at PERFCTR_PAGE_STARTED in
	 * flags: if that is set, it tries again, otherwise tsc.sum, under seq, is the value.  This
	 * is the kernel patch's protocol.  A backend without RDPMC leaves PERFCTR_PAGE_RDPMC out of
	 * flags.  Then perfctr_get_page() returns NULL, perfctr_tsc_page() returns the page, and
	 * programs never read its counter[].
	 */
	const struct perfctr_page *page;
	bool reordered; /* page->counter[] is not in the control's order: programs do not get it */
	/*
	 * The number of the thread that opened this context for itself; NULL: the context is
	 * another thread's.  The number lies in a page of its own that the kernel wipes on fork, so
	 * that a child does not match.
	 */
	unsigned long *owner;
};

struct perfctr_mark {
	const struct perfctr_backend *backend;
	int fd; /* for poll(2): readable when perfctr_members() may have become 0 */
};

struct perfctr_session {
	const struct perfctr_backend *backend;
	struct perfctr_pmu_info info;
	uint32_t capabilities; /* PERFCTR_CAN_* */
	uint32_t n_counters;   /* events of the control; the library fills it in */
	bool some_cpus;	       /* the options name CPUs; the library fills it in */
};

struct perfctr_samples {
	const struct perfctr_backend *backend;
};

struct perfctr_backend {
	const char *name; /* as in PERFCTR_BACKEND= */
	/*
	 * A second name, under which the backend is shown where goes_by_alias() is true.  Both
	 * names choose the backend.
	 */
	const char *alias;
	bool (*goes_by_alias)(void);

	/*
	 * Can this user use the backend here?  Fills in *pmu as pmu_info() does, info->capabilities
	 * and info->n_counters.  If there are limits, describes them in info->why, which is ""
	 * before.  -1: the backend cannot be used, and info->why says in one sentence why not and
	 * what to do.
	 */
	int (*probe)(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu);
	/* For the automatic choice: is the backend there?  Must be quick. */
	bool (*is_there)(void);
	/*
	 * Capabilities of handles that cannot have software events: sessions and marks, if only
	 * contexts can.
	 */
	uint32_t hardware_alone;
	/* Can the backend count all events of c, which are parsed and assigned?  NULL: it can. */
	int (*check)(struct perfctr_control *c);

	/*
	 * As perfctr_get_pmu_info(); open_error() describes its errno.  tsc_khz must be known.
	 * features must have PERFCTR_FEATURE_SOFTWARE if the backend has PERFCTR_CAN_SOFTWARE.
	 */
	int (*pmu_info)(struct perfctr_pmu_info *info);
	/*
	 * Lists the only events that can be counted now, separated by ", ".  NULL: all can be
	 * counted.
	 */
	void (*loaded_events)(char *text, size_t size);
	/*
	 * As perfctr_open_error(), for an errno of pmu_info(), open(), mark_open() or
	 * session_open().
	 */
	void (*open_error)(int error, char *text, size_t size);

	/* As perfctr_open_tid(), with the same errors. */
	struct perfctr *(*open)(pid_t tid, unsigned int flags);
	/* The library has unmapped page and owner before. */
	void (*close)(struct perfctr *p);
	/*
	 * As perfctr_set_control().  Every event has a counter: 0 .. n_general - 1 or PERFCTR_FIXED
	 * + n of p->info, or PERFCTR_SOFTWARE + n.  The library has set bad_event and bad_reason to
	 * 0.
	 */
	int (*control)(struct perfctr *p, struct perfctr_control *c);
	/* As perfctr_get_control().  The library has filled in size and cleared the rest. */
	int (*get_control)(const struct perfctr *p, struct perfctr_control *c);
	int (*start)(struct perfctr *p);
	int (*stop)(struct perfctr *p);
	/*
	 * Reads any scope.  The library has filled in size and scope and cleared the rest.
	 * counter[i] is event i of the control, also if that is a software event.
	 */
	int (*read)(const struct perfctr *p, struct perfctr_counts *out);
	int (*next_record)(const struct perfctr *p, struct perfctr_exit_record *record);
	/*
	 * Reads counter i faster than read() does.  The calling thread owns p.  False: use read().
	 */
	bool (*read_counter)(const struct perfctr *p, unsigned int i, uint64_t *value);

	/* The library has filled in size and scope and cleared the rest. */
	int (*read_periods)(const struct perfctr *p, struct perfctr_periods *periods);
	int (*resume)(struct perfctr *p);
	/* samples_open NULL: the backend has none of these. */
	struct perfctr_samples *(*samples_open)(struct perfctr *p,
						const struct perfctr_samples_options *options);
	void (*samples_close)(struct perfctr_samples *s);
	long (*samples_take)(struct perfctr_samples *s, perfctr_sample_visit *visit,
			     void *argument);
	/* The library has filled in size and cleared the rest. */
	int (*samples_read)(const struct perfctr_samples *s, struct perfctr_sampled *sampled);

	struct perfctr_mark *(*mark_open)(uint64_t *id); /* id: not NULL */
	void (*mark_close)(struct perfctr_mark *mark);
	int (*mark)(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
	int (*unmark)(struct perfctr_mark *mark, pid_t tid, unsigned int scope); /* NULL: any */
	int (*marked)(pid_t tid, uint64_t *id);
	int (*members)(const struct perfctr_mark *mark, pid_t *tids, unsigned int room);
	int (*segment_begin)(struct perfctr_mark *mark);
	int (*segment_end)(struct perfctr_mark *mark);

	/*
	 * options->mark is NULL or a mark of this backend.  Threads are counted from now on if
	 * they bear the mark already, and the others from when they get it.
	 */
	struct perfctr_session *(*session_open)(const struct perfctr_session_options *options);
	void (*session_close)(struct perfctr_session *s);
	int (*session_control)(struct perfctr_session *s, struct perfctr_control *c);
	int (*session_start)(struct perfctr_session *s);
	int (*session_stop)(struct perfctr_session *s);
	/* As read(). */
	int (*session_read)(const struct perfctr_session *s, struct perfctr_counts *out);
	/* 0: the session does not keep CPUs apart, and session_read_cpu() is not called. */
	unsigned int (*session_cpus)(const struct perfctr_session *s);
	void (*session_read_cpu)(const struct perfctr_session *s, unsigned int cpu,
				 struct perfctr_counts *out);	/* out: zeros, but for size */
	long (*session_trace)(struct perfctr_session *s, unsigned int cpu,
			      perfctr_trace_visit *visit, void *argument);
	uint64_t (*session_lost)(const struct perfctr_session *s);
};

extern const struct perfctr_backend perfctr_patch_backend;
extern const struct perfctr_backend perfctr_bpf_backend;
extern const struct perfctr_backend perfctr_perf_backend;

/* The name that the user sees. */
const char *perfctr_shown_name(const struct perfctr_backend *backend);

/*
 * Returns the backend with this name.  NULL stands for the backend that PERFCTR_BACKEND in the
 * environment names, or else for the first that is there, preferably one that counts the
 * processor's events.  Returns NULL with EINVAL if no backend has the name.
 */
const struct perfctr_backend *perfctr_choose(const char *name);
/* The same, but without preference for a backend that counts the processor's events. */
const struct perfctr_backend *perfctr_first(const char *name);
/*
 * If no backend is named, returns the first that has the capabilities and that fits() accepts.  If
 * there is none, or a backend is named, the same as perfctr_choose().
 */
const struct perfctr_backend *perfctr_choose_of(const char *name, uint32_t capabilities,
						bool (*fits)(const struct perfctr_backend *backend,
							     const struct perfctr_pmu_info *info,
							     void *arg),
						void *arg);

/*
 * Lists the events with which a backend was loaded, if it counts no others.  Leaves text alone if
 * there is no such backend.
 */
void perfctr_loaded_events(char *text, size_t size);

/* Makes the calling thread the owner of p, which is its own context.  False: no memory. */
bool perfctr_own(struct perfctr *p);

/*
 * The same, and makes page the page of p.  If that fails, unmaps page, and p->page stays NULL.
 * page is PERFCTR_PAGE_SIZE bytes from mmap(2) that a forked child does not get (VM_DONTCOPY).
 */
void perfctr_own_page(struct perfctr *p, void *page);

/* Unmaps page and owner of p, a context that its thread opened for itself. */
void perfctr_disown(struct perfctr *p);

/* Is the caller the thread that opened p for itself? */
bool perfctr_is_owner(const struct perfctr *p);

/* Returns -1 with errno ENOTSUP. */
int perfctr_unable(void);

void perfctr_close_keeping_errno(int fd);

/* "WHAT: the description of the error" */
void perfctr_describe_errno(int error, const char *what, char *text, size_t size);
/* Describes an errno of opening that means the same for all backends. */
void perfctr_describe_open(int error, char *text, size_t size);
int perfctr_paranoia(void); /* kernel.perf_event_paranoid, -2: unknown */

#endif
