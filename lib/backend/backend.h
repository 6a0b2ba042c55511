/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What counts for the library: the kernel patch, BPF programs or perf_events.  registry.c has the
 * table of them; context.c, read.c, group.c and session.c call them and look at nothing but
 * capabilities.
 *
 * Handles are the backend's own: it allocates a struct of its own that begins with the struct here,
 * fills that in but for the member backend, and frees it.
 *
 * Functions that return int return 0 or more, or -1 with errno set; pointers NULL with errno set.
 * Those that close leave errno as it was.  A function that is NULL cannot be done by this backend:
 * the library gives ENOTSUP.  So it does for controls that the capabilities of the handle exclude.
 *
 * Names begin with perfctr_NAME_, as in perfctr_patch_open(), or are static.
 */
#ifndef PERFCTR_BACKEND_H
#define PERFCTR_BACKEND_H

#include <stdbool.h>
#include <perfctr.h>
#include <perfctr_groups.h>
#include <perfctr_samples.h>

#include "../internal.h"

struct perfctr {
	const struct perfctr_backend *backend;
	struct perfctr_pmu_info info; /* at open: its counters, not its holder, stay true */
	uint32_t capabilities;	      /* PERFCTR_CAN_* */
	int fd;			      /* for poll(2): records; -1: none */
	/*
	 * NULL: none.  The state page in the layout of struct perfctr_page, given to
	 * perfctr_own_page(), which makes owner.  tsc.bias + RDTSC is the virtual time in ticks
	 * while ticket == recheck; where they differ, PERFCTR_PAGE_STARTED in flags says whether to
	 * try again, or that tsc.sum, under seq, is the value: as the kernel patch has it.  A
	 * backend without RDPMC leaves PERFCTR_PAGE_RDPMC out of flags: then perfctr_get_page() is
	 * NULL, perfctr_tsc_page() gives the page, and its counter[] is never read by programs.
	 */
	const struct perfctr_page *page;
	bool reordered; /* page->counter[] is not in the order of the control: it is not given */
	/*
	 * The thread that opened its own context, by its number; NULL: it was another's.  It lies
	 * in a page of its own that the kernel wipes on fork, so that a child does not match.
	 */
	unsigned long *owner;
};

struct perfctr_group {
	const struct perfctr_backend *backend;
	int fd; /* for poll(2): readable when perfctr_members() may have become 0 */
};

struct perfctr_session {
	const struct perfctr_backend *backend;
	struct perfctr_pmu_info info;
	uint32_t capabilities; /* PERFCTR_CAN_* */
	uint32_t n_counters;   /* events of the control; the library fills it in */
	bool some_cpus;	       /* it was given CPUs; likewise */
};

struct perfctr_samples {
	const struct perfctr_backend *backend;
};

struct perfctr_backend {
	const char *name; /* as in PERFCTR_BACKEND= */

	/*
	 * Can it be used here, by this user?  Fills in *pmu as pmu_info(), info->capabilities,
	 * info->n_counters and, as limits that do not keep it from being used, info->why, which is
	 * "" before.  -1: it cannot be used, and info->why says in one sentence why not and what to
	 * do.
	 */
	int (*probe)(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu);
	/* For the automatic choice: quickly, is it there? */
	bool (*is_there)(void);
	/* Capabilities of those who cannot have software events: sessions, where contexts can. */
	uint32_t hardware_alone;
	/* Can it count all this, which is parsed and assigned?  NULL: it can. */
	int (*check)(struct perfctr_control *c);

	/*
	 * As perfctr_get_pmu_info(); errno is worded by open_error().  tsc_khz must be known, and
	 * features have PERFCTR_FEATURE_SOFTWARE where PERFCTR_CAN_SOFTWARE.
	 */
	int (*pmu_info)(struct perfctr_pmu_info *info);
	/* Names of the events that alone can be counted now, ", " between them; NULL: all can. */
	void (*loaded_events)(char *text, size_t size);
	/*
	 * As perfctr_open_error(), for what pmu_info(), open(), group_open() and session_open()
	 * give.
	 */
	void (*open_error)(int error, char *text, size_t size);

	/* As perfctr_open_tid(); errors as there. */
	struct perfctr *(*open)(pid_t tid, unsigned int flags);
	/* Page and owner are unmapped already. */
	void (*close)(struct perfctr *p);
	/*
	 * As perfctr_set_control().  Every counter is assigned: 0 .. n_general - 1 or PERFCTR_FIXED
	 * + n of p->info, or PERFCTR_SOFTWARE + n.  bad_event and bad_reason are 0 on the way in.
	 */
	int (*control)(struct perfctr *p, struct perfctr_control *c);
	/* As perfctr_get_control(); size is filled in, the rest is 0. */
	int (*get_control)(const struct perfctr *p, struct perfctr_control *c);
	int (*start)(struct perfctr *p);
	int (*stop)(struct perfctr *p);
	/*
	 * All scopes; size and scope are filled in, the rest is 0.  counter[i] is event i of the
	 * control, a software one too.
	 */
	int (*read)(const struct perfctr *p, struct perfctr_counts *out);
	int (*next_record)(const struct perfctr *p, struct perfctr_record *record);
	/* Counter i of the calling thread, its owner, faster than read(); false: read() must do. */
	bool (*read_counter)(const struct perfctr *p, unsigned int i, uint64_t *value);

	/* size and scope are filled in, the rest is 0. */
	int (*read_periods)(const struct perfctr *p, struct perfctr_periods *periods);
	int (*resume)(struct perfctr *p);
	/* NULL: none of these. */
	struct perfctr_samples *(*samples_open)(struct perfctr *p,
						const struct perfctr_samples_options *options);
	void (*samples_close)(struct perfctr_samples *s);
	long (*samples_take)(struct perfctr_samples *s, perfctr_sample_visit *visit,
			     void *argument);
	/* size is filled in, the rest is 0. */
	int (*samples_totals)(const struct perfctr_samples *s, struct perfctr_sampled *totals);

	struct perfctr_group *(*group_open)(uint64_t *id); /* id: not NULL */
	void (*group_close)(struct perfctr_group *group);
	int (*mark)(struct perfctr_group *group, pid_t tid, unsigned int scope);
	int (*unmark)(struct perfctr_group *group, pid_t tid, unsigned int scope); /* NULL: any */
	int (*marked)(pid_t tid, uint64_t *id);
	int (*members)(const struct perfctr_group *group, pid_t *tids, unsigned int room);
	int (*segment_begin)(struct perfctr_group *group);
	int (*segment_end)(struct perfctr_group *group);

	/*
	 * options->group is NULL or of this backend.  Threads that bear the group's mark already,
	 * and those that get it later, are counted.
	 */
	struct perfctr_session *(*session_open)(const struct perfctr_session_options *options);
	void (*session_close)(struct perfctr_session *s);
	int (*session_control)(struct perfctr_session *s, struct perfctr_control *c);
	int (*session_start)(struct perfctr_session *s);
	int (*session_stop)(struct perfctr_session *s);
	/* As read(). */
	int (*session_read)(const struct perfctr_session *s, struct perfctr_counts *out);
	/* 0: it does not keep CPUs apart, and session_read_cpu() is not called. */
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

/*
 * By name; NULL: what PERFCTR_BACKEND in the environment names, or the first that is there and, if
 * any does, counts the processor's events.  NULL with EINVAL: there is none of this name.
 */
const struct perfctr_backend *perfctr_choose(const char *name);
/* Likewise, whatever it counts. */
const struct perfctr_backend *perfctr_first(const char *name);
/*
 * Where none is named, the first that has the capabilities and fits; else as perfctr_choose().
 */
const struct perfctr_backend *perfctr_choose_of(const char *name, uint32_t capabilities,
						bool (*fits)(const struct perfctr_backend *backend,
							     const struct perfctr_pmu_info *info,
							     void *arg),
						void *arg);

/*
 * Of the backend that counts the events it was loaded with; text stays as it is where there is
 * none.
 */
void perfctr_loaded_events(char *text, size_t size);

/* p is the context of the calling thread; false: no memory to know it by. */
bool perfctr_own(struct perfctr *p);

/*
 * Likewise, and page becomes p's; p->page stays NULL where that cannot be.  It is
 * PERFCTR_PAGE_SIZE bytes from mmap(2) that a forked child does not get (VM_DONTCOPY).
 */
void perfctr_own_page(struct perfctr *p, void *page);

/* The context, which is its thread's own, ends. */
void perfctr_disown(struct perfctr *p);

/* Is the caller the thread that made the handle, for its own context? */
bool perfctr_is_owner(const struct perfctr *p);

/* errno = ENOTSUP, -1. */
int perfctr_unable(void);

void perfctr_close_keeping_errno(int fd);

/* "WHAT: the description of the error" */
void perfctr_describe_errno(int error, const char *what, char *text, size_t size);
/* What errno of opening means whatever the backend. */
void perfctr_describe_open(int error, char *text, size_t size);
int perfctr_paranoia(void); /* kernel.perf_event_paranoid, -2: unknown */

#endif
