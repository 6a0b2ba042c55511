// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Warns of events that perfex validate has found wrong on a processor of this model.
 * docs/processors/ has the results that users have sent.
 */
#include "../result/processor.h"
#include "../result/validation.h"
#include "run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Returns true if this is the same event in the same modes, on any counter.  A fixed counter has
 * only one event.
 */
static bool is_same_event(const struct perfctr_pmu_info *info, const struct verdict_of_event *known,
			  const struct perfctr_request *request)
{
	uint64_t ignored = info->evntsel_required;
	struct perfctr_event_control registers;
	char error[256];

	/*
	 * The file has only register values.  They do not tell kinds of cores or PEBS apart, so
	 * events that have either are not looked up.
	 */
	if (request->kinds || request->p4_pebs_enable)
		return false;
	if (!known->registers || strcmp(known->modes, mode_name(request->modes)) != 0 ||
	    perfctr_evntsel_parse(known->registers, &registers, error, sizeof(error)) < 0)
		return false;
	if (registers.counter != PERFCTR_ANY)
		return !request->general && registers.counter >= PERFCTR_FIXED &&
		       registers.counter < PERFCTR_FIXED + 64 &&
		       request->fixed >> (registers.counter - PERFCTR_FIXED) & 1;
	return request->general && !((registers.evntsel ^ request->evntsel) & ~ignored) &&
	       registers.evntsel2 == request->evntsel2;
}

/* An event without a known meaning cannot be wrong. */
static bool is_wrong(const struct verdict_of_event *known)
{
	return known->meaning && !known->found && strcmp(known->class, "none") != 0 &&
	       strcmp(known->class, "exact") != 0 && strcmp(known->class, "overhead") != 0;
}

static void look_up_event(const struct validation_file *file, const char *path,
			  const struct perfctr_pmu_info *info, const struct event *event)
{
	for (size_t i = 0; i < file->n; i++) {
		const struct verdict_of_event *known = &file->event[i];

		if (!is_wrong(known) || !is_same_event(info, known, &event->request))
			continue;
		complain("event '%s' is not to be trusted on this processor: of %s it %s (%s)",
			 event->name, known->meaning, known->verdict, path);
		return;
	}
}

void look_up_events(const char *directory, const struct events *events,
		    const struct perfctr_pmu_info *info)
{
	struct text_error error;
	struct validation_file *file;
	char name[128], *path, *text;
	size_t length;

	processor_file_name(name, sizeof(name));
	path = text_print("%s/%s", directory, name);
	text = textfile_read(path, &length);
	if (!text && errno != ENOENT && errno != ENOTDIR)
		complain("cannot read '%s', which says what events to trust: %m", path);
	file = text ? validation_parse(text, length, &error) : NULL;
	if (text && !file)
		complain("'%s', which says what events to trust: %s", path, error.text);
	/* An incomplete validation is no reason to warn. */
	for (size_t i = 0; file && file->complete && i < events->n; i++)
		look_up_event(file, path, info, &events->event[i]);
	if (file)
		validation_file_free(file);
	free(text);
	free(path);
}
