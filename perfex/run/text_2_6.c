// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes the counts of one run as perfex of perfctr 2.6 did, for scripts that read its output. */
#include "run.h"

static void put_event(FILE *file, const struct perfctr_event_control *event, uint64_t count)
{
	/* The old format has the upper half of AMD's evntsel as a second word. */
	uint32_t second = (uint32_t)(event->evntsel2 | event->evntsel >> 32);

	fprintf(file, "event 0x%08X", (uint32_t)event->evntsel);
	if (second)
		fprintf(file, "/0x%08X", second);
	fprintf(file, event->counter < 18 ? "@%u\t" : "@0x%08x", event->counter);
	fprintf(file, "\t%19lld\n", (long long)count);
}

static void put_register(FILE *file, const char *name, uint64_t value)
{
	if (value)
		fprintf(file, "%s 0x%08X\n", name, (uint32_t)value);
}

static void print_recording(FILE *file, const struct style *style,
			    const struct recording *recording)
{
	const struct events *events = &recording->events;
	const struct perfctr_control *control = &events->control[0];

	(void)style;
	if (recording->pass[0].tsc.n)
		fprintf(file, "tsc\t\t\t\t%19lld\n", (long long)recording->pass[0].tsc.value[0]);
	for (size_t i = 0; i < events->n; i++)
		if (events->event[i].counts.n)
			put_event(file, &control->event[events->event[i].index],
				  events->event[i].counts.value[0]);
	put_register(file, "PEBS_ENABLE", control->p4_pebs_enable);
	put_register(file, "PEBS_MATRIX_VERT", control->p4_pebs_matrix_vert);
}

const struct format format_2_6 = {
	.one_run = true,
	.recording = print_recording,
};
