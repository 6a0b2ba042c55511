// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Answers to events that users of perf ask for and perfctr does not count: what to write instead.
 */
#define _GNU_SOURCE
#include "answers.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#define NO_EVENT                                                                                   \
	"this processor has no event for it, or counts it by a further register, which perfctr does not set"
#define OTHER_PMU                                                                                  \
	"it is of a PMU beside the processors' cores, which perf itself counts, and perfctr does not"

static const struct {
	const char *pattern, *answer;
} answers[] = {
	{ "duration_time", "the time that passes is counted anyway" },
	{ "@(user|system)_time", "task-clock is both times together; time(1) tells them apart" },
	{ "LLC-*", NO_EVENT "; cache-references and cache-misses are near it" },
	{ "L1-[di]cache-*", NO_EVENT "; 'perfctr_events_list(L1)' shows what it has" },
	{ "[di]TLB-*", NO_EVENT "; 'perfctr_events_list(TLB)' shows what it has" },
	{ "@(branch-load|node-|stalled-cycles-)*",
	  NO_EVENT "; 'perfctr_events_list()' shows what it has" },
	{ "@(slots|topdown-*)", "it needs the register PERF_METRICS, which perfctr does not set" },
	{ "@(alignment-faults|emulation-faults|cgroup-switches|bpf-output|dummy)",
	  "perfctr does not count it; of the operating system it counts task-clock, page-faults, "
	  "minor-faults, major-faults, context-switches and cpu-migrations" },
	{ "@(raw_syscalls|syscalls|sched|irq|block|kmem|net|exceptions|timer|probe*):*",
	  "it is a tracepoint of the kernel, which perf itself counts, and perfctr does not" },
	{ "mem:*", "it is a breakpoint, which perf itself counts, and perfctr does not" },
	{ "msr/*/*", OTHER_PMU "; the time stamp is counted anyway" },
	{ "@(power|cstate_*|uncore*|amd_*|intel_*)/*/*", OTHER_PMU },
};

/* Returns the text behind the last ':' or '/' if it consists of perf's modifiers; else NULL. */
static const char *find_modifiers(const char *spec)
{
	const char *colon = strrchr(spec, ':'), *slash = strrchr(spec, '/');
	const char *text = colon > slash ? colon : slash;

	if (!text || text[1 + strspn(text + 1, "ukpPhHG")])
		return NULL;
	return text + 1;
}

static bool answer_modifiers(const char *spec, const struct line *line)
{
	const char *modifiers = find_modifiers(spec);

	if (modifiers && strpbrk(modifiers, "pP")) {
		perfctr_line_refuse(
			line, EINVAL,
			"'p' asks for precise samples, and a count takes none; leave it "
			"out");
		return true;
	}
	if (modifiers && strpbrk(modifiers, "hHG")) {
		perfctr_line_refuse(
			line, EINVAL,
			"perfctr tells user (u) and kernel mode (k) apart, and no hosts, "
			"guests and hypervisors; leave '%s' out",
			modifiers);
		return true;
	}
	return false;
}

bool perfctr_event_answer(const char *spec, bool pmu, const struct line *line)
{
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		if ((pmu || strncmp(answers[i].answer, NO_EVENT, strlen(NO_EVENT)) != 0) &&
		    fnmatch(answers[i].pattern, spec, FNM_EXTMATCH | FNM_CASEFOLD) == 0) {
			perfctr_line_refuse(line, ENOENT, "%s", answers[i].answer);
			return true;
		}
	return answer_modifiers(spec, line);
}
