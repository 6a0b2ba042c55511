/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr: events by name, and the counters for them.
 *
 *	perfctr_events_open()		the events of a machine
 *	perfctr_events_parse()		a name, or register values, to a request
 *	perfctr_events_split()		"a,b" to names
 *	perfctr_requests_assign()	requests to a control, each with its counter
 *	perfctr_requests_plan()		requests to as few passes as possible
 *
 * Names come from tables, the user's own before the library's (perfctr_events(5)), then from the
 * kernel's source and libpfm4.  Except for perfctr_events_open_for() and
 * perfctr_events_open_with(), these calls do not need the kernel.  They answer for the machine that
 * info describes, which need not be the machine on which they run.
 *
 * On failure they return -1, set errno, and write one line to error[size] that says what was wrong,
 * what is allowed and what to do.  Outputs keep their values.
 */
#ifndef PERFCTR_EVENTS_H
#define PERFCTR_EVENTS_H

#include <perfctr.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PERFCTR_MODE_USER (1u << 0)   /* user mode: CPL 1 to 3 */
#define PERFCTR_MODE_KERNEL (1u << 1) /* kernel mode: CPL 0 */
#define PERFCTR_MODE_BOTH (PERFCTR_MODE_USER | PERFCTR_MODE_KERNEL)

#define PERFCTR_REQUEST_NAME	128	/* bytes of a specification, with its NUL */

/* One event as a user asked for it: resolved to register values, no counter chosen yet. */
struct perfctr_request {
	char name[PERFCTR_REQUEST_NAME];	/* as the user gave it, NUL-terminated */
	uint32_t counter;		/* RDPMC index demanded by @pmc, else PERFCTR_ANY */
	uint32_t modes;			/* PERFCTR_MODE_* in which it counts */
	/* as perfctr_event_control.evntsel, with mode and enable bits */
	uint64_t evntsel;
	uint64_t evntsel2;		/* as perfctr_event_control.evntsel2 */
	uint64_t p4_pebs_enable;	/* as perfctr_control.p4_pebs_enable: replay tagging */
	uint64_t p4_pebs_matrix_vert;	/* as perfctr_control.p4_pebs_matrix_vert */
	uint64_t general;		/* bit i: general counter i can count it */
	uint64_t fixed;			/* bit i: fixed counter PERFCTR_FIXED + i can count it */
	uint32_t kinds;			/* as perfctr_event_control.kinds */
	uint32_t reserved[9];		/* 0 */
};

/* The events of a machine.  One thread at a time may use them. */
struct perfctr_events;

/*
 * perfctr_events_open - open the events of the machine that info describes; info is copied.
 * Tables are read when the first name is looked up, and kept: to see a table that has changed, open
 * the events again.  NULL: ENOMEM.  Cost: two allocations.
 */
struct perfctr_events *perfctr_events_open(const struct perfctr_pmu_info *info);

/*
 * perfctr_events_open_for - open the events of the backend that counts these n events: the one that
 * perfctr_backend_for() names.  NULL: an errno of perfctr_get_pmu_info(), or ENOMEM.
 * perfctr_events_open_with - open those of a named backend.  backend NULL: as
 * perfctr_events_open_for().
 */
struct perfctr_events *perfctr_events_open_for(const char *const specs[], unsigned int n,
					       unsigned int modes, uint32_t capabilities);
struct perfctr_events *perfctr_events_open_with(const char *backend, const char *const specs[],
						unsigned int n, unsigned int modes,
						uint32_t capabilities);

/* perfctr_events_close - close the events; events may be NULL. */
void perfctr_events_close(struct perfctr_events *events);

/* perfctr_events_info - the machine; valid until the events are closed. */
const struct perfctr_pmu_info *perfctr_events_info(const struct perfctr_events *events);
/*
 * perfctr_events_is_pmu - does the pattern, as in glob(7), match the machine's family or libpfm4's
 * name of its processor, as "pmu" in tables does?  1: yes, 0: no.  Cost: some comparisons of text.
 */
int perfctr_events_is_pmu(const struct perfctr_events *events, const char *pattern);
/* perfctr_events_backend - the backend's name; NULL if perfctr_events_open() opened the events. */
const char *perfctr_events_backend(const struct perfctr_events *events);

/*
 * perfctr_events_parse - read one event specification.
 * spec has one of these forms, and may end with "@pmc", the RDPMC index to use:
 *	NAME[:UMASK].. [:MODIFIER]..	a name of the tables or of libpfm4 ("pmu::NAME" too);
 *					the modifiers u and k say the modes
 *	instructions, cycles, ...	the generic names of perf, where the family can count them
 *	r00c0[:u][:k], cpu/event=0xc0,umask=0x0/[u][k]		as perf takes them
 *	evntsel[/evntsel2]		register values, as for perfctr_evntsel_parse()
 *	KIND::spec, cpu_KIND/../	on a hybrid machine: on cores of the kind of this name
 *			alone, as core::r20c4; without a kind only architectural events, on all
 *			kinds
 * modes: PERFCTR_MODE_* for a spec that names none.  Register values have modes of their own.
 * error does not repeat spec.  Errors: EINVAL (spec), ENOENT (no such name), ENODEV (the machine
 * has no PMU), ENOTSUP (the event exists but this machine or kernel cannot count it), ENOMEM.
 * Cost: the first call reads the user's table files.  No system call on the counters.
 */
int perfctr_events_parse(struct perfctr_events *events, const char *spec, unsigned int modes,
			 struct perfctr_request *request, char *error, size_t size);

/*
 * perfctr_events_name - the reverse of perfctr_events_parse(): name the event that registers
 * select.  event->counter may be PERFCTR_ANY, but on NetBurst the same registers select different
 * events on different counters.  Bits that only enable a counter do not matter.
 * 0: text is a name that perfctr_events_parse() turns into exactly these registers, with its modes.
 * 1: text names the event, but the registers have other fields than any name of that event gives.
 * -1: ENOENT: no event of the tables or of libpfm4 has these registers, and text says what is
 * known, such as the events that they select on other counters; ENOTSUP (no event of this processor
 * has a name), ENODEV (the machine has no PMU), ENOMEM.
 * Cost: encodes all names of the machine, hundreds of parses.
 */
int perfctr_events_name(struct perfctr_events *events, const struct perfctr_event_control *event,
			char *text, size_t size);

/*
 * perfctr_events_split - split a list such as "a,b" or "{a,b}:u", as perf stat -e takes it, into its
 * specifications.  Writes the first room of them to spec, each with the text after the '}' of its
 * group.  Returns how many there are.  Error: EINVAL (text is no list).  No system call.
 */
int perfctr_events_split(const char *text, char (*spec)[PERFCTR_REQUEST_NAME], unsigned int room,
			 char *error, size_t size);

/*
 * perfctr_events_parse_once - as perfctr_events_parse(), for one event: opens, parses and closes.
 * Any number of threads may call it at the same time.
 */
int perfctr_events_parse_once(const struct perfctr_pmu_info *info, const char *spec,
			      unsigned int modes, struct perfctr_request *request, char *error,
			      size_t size);

/*
 * perfctr_requests_assign - give each request a counter; event[i] of *control is requests[i].
 * The control is otherwise empty (flags 0).  The same requests always get the same counters: the
 * first request gets the lowest counter with which all others can still be assigned, general
 * counters before fixed ones, then the second, and so on.  Errors: ENOSPC (the requests do not fit
 * together: the line names the events that clash, and the reason), EBUSY (sessions have all
 * counters that can count one of them), EINVAL (n above PERFCTR_MAX_COUNTERS, or one of them can
 * never be counted).
 */
int perfctr_requests_assign(const struct perfctr_pmu_info *info,
			    const struct perfctr_request *requests, size_t n,
			    struct perfctr_control *control, char *error, size_t size);

/*
 * perfctr_requests_plan - split requests into the smallest number of passes, each of which fits.
 * pass[i] becomes the pass of requests[i], from 0 on; *n_passes the number of passes, 0 for n == 0.
 * Any n is allowed.  perfctr_requests_assign() never fails for the requests of one pass.  Errors:
 * EINVAL (one request can never be counted), EBUSY (as for perfctr_requests_assign()), ENOMEM.
 */
int perfctr_requests_plan(const struct perfctr_pmu_info *info,
			  const struct perfctr_request *requests, size_t n, unsigned int pass[],
			  unsigned int *n_passes, char *error, size_t size);

/*
 * One event of the tables, libpfm4 or the kernel's source, for perfctr_events_list(); valid
 * during the call.  The library makes it: a later version may have more members at the end.
 */
struct perfctr_event_entry {
	const char *name;	/* as perfctr_events_parse() takes it */
	const char *umask;	/* NULL: the event itself; else one of its unit masks, after it */
	uint64_t code;		/* event select, or the unit mask's bits of evntsel; NetBurst: 0 */
	uint64_t general;	/* bit i: general counter i can count the event */
	uint64_t fixed;		/* bit i: fixed counter i can count the event */
	int duration;		/* 1: counts clocks, 0: occurrences, -1: not known */
	const char *source;	/* source of the entry: "libpfm4 nhm", a file, "built in p5" */
	const char *description;	/* one line */
	/* "ADDRESS[|ADDRESS]=VALUE": another register it needs, so it cannot be counted; or NULL */
	const char *further;
};

/*
 * perfctr_events_list - call visit(entry, arg) for each event of the machine with a name that
 * contains pattern or matches it as a glob(7), without regard to case, and after each event for its
 * unit masks.  pattern NULL: all.  Stops when visit returns other than 0, and returns that; else 0.
 */
int perfctr_events_list(struct perfctr_events *events, const char *pattern,
			int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			void *arg);

/* perfctr_events_list_once - as perfctr_events_list(), in one call: opens, lists and closes. */
int perfctr_events_list_once(const struct perfctr_pmu_info *info, const char *pattern,
			     int (*visit)(const struct perfctr_event_entry *entry, void *arg),
			     void *arg);

/*
 * perfctr_family_name - the name of processor family number i, counted from 0, as in "pmu NAME" of
 * the tables.  NULL: there are fewer families.
 */
const char *perfctr_family_name(unsigned int i);

/*
 * perfctr_processor_name - the name of processor number i, counted from 0, of those that libpfm4
 * knows, whatever processor this machine has.  Sets *description, such as "Intel Nehalem", unless
 * description is NULL.  NULL: there are fewer processors, or libpfm4 cannot be initialized.  If
 * LIBPFM_FORCE_PMU is set at the first call, libpfm4 does not know those behind it in its list.
 */
const char *perfctr_processor_name(unsigned int i, const char **description);

/*
 * perfctr_family_info - describe a machine other than this one, for perfctr_events_open().  name is
 * a family, or a processor of libpfm4, which stands for its family; the call does not ask whether
 * libpfm4 knows the processor.  The result has the fields on which events depend; the rest is 0.
 * NULL: no such family.
 */
const struct perfctr_pmu_info *perfctr_family_info(const char *name);

/* The library makes these structs. */
struct perfctr_field {
	unsigned int first, last;	/* bits of the field */
	const char *name;	/* as in the manual of the processor */
	const char *meaning;
};

struct perfctr_register {
	const char *name;
	const struct perfctr_field *field;	/* the last is followed by a field without a name */
};

#define PERFCTR_REGISTER_EVNTSEL	0
#define PERFCTR_REGISTER_EVNTSEL2	1
#define PERFCTR_REGISTER_FIXED		2	/* evntsel, for a fixed counter */

/*
 * perfctr_family_register - describe the bits of a register of this machine, for people.
 * which: PERFCTR_REGISTER_*.  NULL: the family has no such register, or is unknown.
 */
const struct perfctr_register *perfctr_family_register(const struct perfctr_pmu_info *info,
						       unsigned int which);

/*
 * perfctr_family_route - name the unit that detects event for its counter: on NetBurst an ESCR,
 * such as "CRU_ESCR2".  NULL: no unit does, or the family has no such units.
 */
const char *perfctr_family_route(const struct perfctr_pmu_info *info,
				 const struct perfctr_event_control *event);

#ifdef __cplusplus
}
#endif
#endif
