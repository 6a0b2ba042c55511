// SPDX-License-Identifier: LGPL-2.1-or-later
/* Texts for refused events, for each PERFCTR_BAD_* for which a single event is at fault. */
#define _GNU_SOURCE
#include "backend/backend.h"
#include "event/software.h"
#include "internal.h"
#include "pmu/machine.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ESCR_THREAD_1 0x3ull /* T1_USR and T1_OS */
#define ESCR_THREAD_0 0xcull /* T0_USR and T0_OS, in this order too */

/* The refused event, and the buffer for the text. */
struct refused {
	const struct perfctr_control *control;
	const struct perfctr_pmu_info *info;
	const struct perfctr_event_control *event;
	char *text;
	size_t size;
};

/* Writes "event NAME: " and the formatted words. */
__attribute__((format(printf, 2, 3))) static void say_of_event(const struct refused *r,
							       const char *format, ...)
{
	const char *software = perfctr_software_name(r->event->counter);
	char name[PERFCTR_EVNTSEL_TEXT];
	va_list arguments;
	int length;

	if (!software)
		perfctr_evntsel_format(r->event, name, sizeof(name));
	length = snprintf(r->text, r->size, "event %s: ", software ? software : name);
	if (length < 0 || (size_t)length >= r->size)
		return;
	va_start(arguments, format);
	vsnprintf(r->text + length, r->size - length, format, arguments);
	va_end(arguments);
}

/* "0..3 and 0x40000000..0x40000002" */
static void describe_counters(const struct perfctr_pmu_info *info, char *text, size_t size)
{
	size_t length;

	if (info->n_general)
		snprintf(text, size, "0..%u", info->n_general - 1);
	else
		snprintf(text, size, "none");
	length = strlen(text);
	if (info->n_fixed)
		snprintf(text + length, size - length, " and 0x%x..0x%x", PERFCTR_FIXED,
			 PERFCTR_FIXED + info->n_fixed - 1);
}

enum { MODE_ADD_USER, MODE_USER_ONLY, MODE_BOTH };

/* Formats the event with better modes. */
static void with_modes(const struct perfctr_event_control *event,
		       const struct perfctr_pmu_info *info, int how, char *text, size_t size)
{
	struct perfctr_event_control better = *event;

	if (how == MODE_USER_ONLY) {
		better.evntsel &= ~info->evntsel_kernel;
		better.evntsel2 &= ~info->evntsel2_kernel;
	}
	if (how == MODE_BOTH) {
		better.evntsel |= info->evntsel_kernel;
		better.evntsel2 |= info->evntsel2_kernel;
	}
	better.evntsel |= info->evntsel_user;
	better.evntsel2 |= info->evntsel2_user;
	perfctr_evntsel_format(&better, text, size);
}

static bool selects_mode(const struct perfctr_event_control *event,
			 const struct perfctr_pmu_info *info)
{
	return event->evntsel & (info->evntsel_user | info->evntsel_kernel) ||
	       event->evntsel2 & (info->evntsel2_user | info->evntsel2_kernel);
}

static void format_without(const struct perfctr_event_control *event, uint64_t bits, char *text,
			   size_t size)
{
	struct perfctr_event_control better = *event;

	better.evntsel &= ~bits;
	perfctr_evntsel_format(&better, text, size);
}

static void say_counter(const struct refused *r)
{
	char counters[64];

	describe_counters(r->info, counters, sizeof(counters));
	say_of_event(r, "there is no such counter; this machine has %s", counters);
}

static void say_duplicate(const struct refused *r)
{
	const struct perfctr_control *c = r->control;
	char counters[64], other[PERFCTR_EVNTSEL_TEXT] = "another event";

	describe_counters(r->info, counters, sizeof(counters));
	for (uint32_t i = 0; i < c->bad_event; i++)
		if ((c->event[i].counter ^ r->event->counter) << 1 == 0)
			perfctr_evntsel_format(&c->event[i], other, sizeof(other));
	say_of_event(r, "its counter is taken by %s; choose another of %s", other, counters);
}

/*
 * " (INT, ANY)", as the manual of the processor names the bits of the register, PERFCTR_REGISTER_*;
 * "" if it does not.
 */
static void name_fields(const struct refused *r, unsigned int which, uint64_t bits, char *text,
			size_t size)
{
	const struct perfctr_register *known = perfctr_family_register(r->info, which);
	size_t length = 0;

	*text = '\0';
	for (const struct perfctr_field *f = known ? known->field : NULL; f && f->name; f++) {
		if (!(bits >> f->first & ((2ull << (f->last - f->first)) - 1)))
			continue;
		snprintf(text + length, size - length, "%s%s", length ? ", " : " (", f->name);
		length = strlen(text);
	}
	if (length)
		snprintf(text + length, size - length, ")");
}

static void say_evntsel(const struct refused *r)
{
	uint64_t enable_first = perfctr_machine_enable_first(r->info);
	uint64_t allowed = r->event->counter & PERFCTR_FIXED ? r->info->fixed_allowed
							     : r->info->evntsel_allowed;
	uint64_t refused = r->event->evntsel & ~allowed;
	char remedy[PERFCTR_EVNTSEL_TEXT], fields[128];

	if (perfctr_software_name(r->event->counter)) {
		say_of_event(r, "this backend counts it in user and kernel mode together; leave "
				"out ':u'");
	} else if (!refused) {
		format_without(r->event, enable_first, remedy, sizeof(remedy));
		say_of_event(r,
			     "evntsel bit 0x%llx (enable) is counter 0's alone, and enables all; "
			     "write %s",
			     (unsigned long long)enable_first, remedy);
	} else {
		name_fields(r,
			    r->event->counter & PERFCTR_FIXED ? PERFCTR_REGISTER_FIXED
							      : PERFCTR_REGISTER_EVNTSEL,
			    refused, fields, sizeof(fields));
		format_without(r->event, refused, remedy, sizeof(remedy));
		say_of_event(r,
			     "evntsel bits 0x%llx%s cannot be set for this counter; write %s, or "
			     "other bits of 0x%llx",
			     (unsigned long long)refused, fields, remedy,
			     (unsigned long long)allowed);
	}
}

/* The modes of the second logical processor become those of the first, unless it has some. */
static void say_thread_1(const struct refused *r, uint64_t bits)
{
	struct perfctr_event_control better = *r->event;
	char remedy[PERFCTR_EVNTSEL_TEXT], fields[32];

	better.evntsel2 &= ~bits;
	if (!(better.evntsel2 & ESCR_THREAD_0))
		better.evntsel2 |= bits << 2;
	perfctr_evntsel_format(&better, remedy, sizeof(remedy));
	name_fields(r, PERFCTR_REGISTER_EVNTSEL2, bits, fields, sizeof(fields));
	say_of_event(r,
		     "evntsel2 bits 0x%llx%s are of a second logical processor, which is not "
		     "counted; write %s",
		     (unsigned long long)bits, fields, remedy);
}

static void say_evntsel2(const struct refused *r)
{
	uint64_t unknown = r->event->evntsel2 & ~r->info->evntsel2_allowed;

	if (r->info->pmu == PERFCTR_PMU_P4 && !(unknown & ~ESCR_THREAD_1))
		say_thread_1(r, unknown);
	else if (r->info->evntsel2_allowed)
		say_of_event(r, "evntsel2 bits 0x%llx are reserved; only 0x%llx may be set",
			     (unsigned long long)unknown,
			     (unsigned long long)r->info->evntsel2_allowed);
	else
		say_of_event(r, "this machine has no second event select word; leave out /0x%llx",
			     (unsigned long long)r->event->evntsel2);
}

static void say_enable(const struct refused *r)
{
	uint64_t required = r->info->evntsel_required | perfctr_machine_enable_first(r->info);
	struct perfctr_event_control better = *r->event;
	char remedy[PERFCTR_EVNTSEL_TEXT];

	if (!required) {
		say_of_event(r, "the bit that enables this counter must be set");
		return;
	}
	better.evntsel |= required;
	if (selects_mode(r->event, r->info) || !perfctr_machine_has_modes(r->info)) {
		perfctr_evntsel_format(&better, remedy, sizeof(remedy));
		say_of_event(r, "evntsel bits 0x%llx (enable) must be set; write %s",
			     (unsigned long long)required, remedy);
		return;
	}
	with_modes(&better, r->info, MODE_ADD_USER, remedy, sizeof(remedy));
	say_of_event(r,
		     "evntsel bits 0x%llx (enable) must be set, and a mode; write %s for user mode",
		     (unsigned long long)required, remedy);
}

static void say_mode(const struct refused *r)
{
	char remedy[PERFCTR_EVNTSEL_TEXT];

	if (selects_mode(r->event, r->info)) {
		with_modes(r->event, r->info, MODE_BOTH, remedy, sizeof(remedy));
		say_of_event(r, "it would count in user and kernel mode; write %s to ask for both",
			     remedy);
		return;
	}
	with_modes(r->event, r->info, MODE_ADD_USER, remedy, sizeof(remedy));
	say_of_event(r,
		     "it would never count: it selects neither user nor kernel mode; write %s for "
		     "user mode",
		     remedy);
}

static void say_privilege(const struct refused *r)
{
	char remedy[PERFCTR_EVNTSEL_TEXT];

	if (perfctr_software_name(r->event->counter)) {
		say_of_event(r, "what the kernel does needs CAP_PERFMON or sysctl "
				"kernel.perf_event_paranoid=1; without them page-faults:u and "
				"task-clock can be counted");
	} else if (!perfctr_machine_has_modes(r->info)) {
		say_of_event(r, "this machine counts user and kernel mode alike, which needs "
				"CAP_PERFMON or sysctl kernel.perf_event_paranoid=1");
	} else {
		with_modes(r->event, r->info, MODE_USER_ONLY, remedy, sizeof(remedy));
		say_of_event(r,
			     "counting in kernel mode needs CAP_PERFMON or sysctl "
			     "kernel.perf_event_paranoid=1; without them write %s for user mode",
			     remedy);
	}
}

static void say_taken(const struct refused *r)
{
	const char *route = perfctr_family_route(r->info, r->event);

	say_of_event(r,
		     "its counter%s%s is taken by a session, or a session wants it while others "
		     "use it; choose another, or end that one",
		     route ? " or its " : "", route ? route : "");
}

static void say_unloaded(const struct refused *r)
{
	char names[96] = "other events";

	perfctr_loaded_events(names, sizeof(names));
	say_of_event(r,
		     "perfctr-bpfd was started with %s alone; count these, or as root: "
		     "perfctr-bpfd stop, then start it with --event for each",
		     names);
}

static void say_kind(const struct refused *r)
{
	say_of_event(r,
		     "it is not an architectural event, or names a kind of core that is not "
		     "there; say which of %u kinds counts it, as in core::r20c4",
		     r->info->n_kinds);
}

static void say_period(const struct refused *r)
{
	if (r->info->features & PERFCTR_FEATURE_INTERRUPT)
		say_of_event(r, "only events of threads that are counted each for itself have a "
				"period, of at most 2^63 - 1");
	else
		say_of_event(r, "no counter interrupts here; leave the period and the signal out");
}

/* Each reason has a text, or a function if the text depends on the machine or the event. */
static const struct {
	uint32_t reason; /* PERFCTR_BAD_* */
	const char *text;
	void (*say)(const struct refused *r);
} reasons[] = {
	{ PERFCTR_BAD_COUNTER, NULL, say_counter },
	{ PERFCTR_BAD_DUPLICATE, NULL, say_duplicate },
	{ PERFCTR_BAD_EVNTSEL, NULL, say_evntsel },
	{ PERFCTR_BAD_EVNTSEL2, NULL, say_evntsel2 },
	{ PERFCTR_BAD_ENABLE, NULL, say_enable },
	{ PERFCTR_BAD_MODE, NULL, say_mode },
	{ PERFCTR_BAD_PRIVILEGE, NULL, say_privilege },
	{ PERFCTR_BAD_ROUTE,
	  "this counter cannot count it; see 'perfctr_events_parse()' for those "
	  "that can",
	  NULL },
	{ PERFCTR_BAD_ERRATUM,
	  "an erratum of this processor spoils what this counter counts, or what "
	  "others count; choose another, or see perfctr(4)",
	  NULL },
	{ PERFCTR_BAD_REGISTER,
	  "what it counts is told by a further register, which perfctr does not "
	  "set; choose another event",
	  NULL },
	{ PERFCTR_BAD_CONFLICT,
	  "it needs a register that an earlier event sets otherwise; count them "
	  "in two runs",
	  NULL },
	{ PERFCTR_BAD_TAKEN, NULL, say_taken },
	{ PERFCTR_BAD_POLICY,
	  "without CAP_PERFMON a session counts marked threads in user mode and "
	  "nothing else; get CAP_PERFMON, or leave it out",
	  NULL },
	{ PERFCTR_BAD_SOFTWARE,
	  "this backend does not count what the operating system does; leave it "
	  "out, or use another of 'perfctr_backends()'",
	  NULL },
	{ PERFCTR_BAD_MEMBER,
	  "this backend counts it of all members together, not of single "
	  "processes or threads; leave it out, or count their sum",
	  NULL },
	{ PERFCTR_BAD_WHOLE,
	  "a tree that is counted as one does not have it; leave it out, or "
	  "PERFCTR_CONTROL_TOTALS",
	  NULL },
	{ PERFCTR_BAD_FORBIDDEN,
	  "perf_events counts it, and the seccomp filter of a container forbids "
	  "perf_event_open(2); leave it out, or allow the call there",
	  NULL },
	{ PERFCTR_BAD_EVENT,
	  "the kernel's perf_events does not count it on this machine; see "
	  "'perfctr_events_list()' for those that it knows",
	  NULL },
	{ PERFCTR_BAD_UNLOADED, NULL, say_unloaded },
	{ PERFCTR_BAD_KIND, NULL, say_kind },
	{ PERFCTR_BAD_FIELD, "flags must be 0, or PERFCTR_EVENT_STOP, or in a session a policy",
	  NULL },
	{ PERFCTR_BAD_SIGNAL,
	  "a signal, of 1 to 64, and PERFCTR_EVENT_STOP are for events of threads"
	  " that have a period",
	  NULL },
	{ PERFCTR_BAD_PERIOD, NULL, say_period },
};

void perfctr_describe_bad_event(const struct perfctr_control *c,
				const struct perfctr_pmu_info *info, char *text, size_t size)
{
	const struct refused r = { c, info, &c->event[c->bad_event], text, size };

	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		if (reasons[i].reason != c->bad_reason)
			continue;
		if (reasons[i].say)
			reasons[i].say(&r);
		else
			say_of_event(&r, "%s", reasons[i].text);
		return;
	}
	say_of_event(&r, "refused for reason %u, which this program does not know", c->bad_reason);
}
