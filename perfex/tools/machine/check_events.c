// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports what perfex validate finds out in the time that there is. */
#include "../validate/validate.h"
#include "machine.h"

#include <stdlib.h>

enum {
	EVENT_RUNS = 3,	  /* runs of each size */
	EVENT_PHASES = 3, /* phases that this check may take */
};

static void add_event(const struct validated *event, struct outcome *outcome)
{
	char *verdict = verdict_text(event);

	add_detail(outcome, "%s, %s, %s: %s", event->name, quantity_names[event->quantity],
		   class_names[event->fit.error], verdict);
	free(verdict);
}

void measure_events(const struct subject *subject, struct outcome *outcome)
{
	static const volatile sig_atomic_t never;
	struct subjects known = {
		.backend = subject->named_backend,
		.modes = PERFCTR_MODE_USER,
		.supposed = NO_QUANTITY,
	};
	struct validation validation = {
		.runs = EVENT_RUNS,
		.deadline_ns = now_ns() + EVENT_PHASES * 1000000ull * subject->phase_ms,
	};
	unsigned int n = 0;

	need_events(subject, outcome);
	if (!subjects_find(&validation, &known))
		end_check(outcome, VERDICT_IMPOSSIBLE, "no event has a known meaning");
	validation_measure(&validation, &never);
	for (size_t i = 0; i < validation.n; i++)
		if (validation.event[i].fit.error != CLASS_NONE) {
			add_event(&validation.event[i], outcome);
			n++;
		}
	if (n == validation.n)
		end_check(outcome, VERDICT_MEASURED, "%s", "");
	end_check(outcome, VERDICT_MEASURED, "%u of %zu events; perfex validate takes its time", n,
		  validation.n);
}
