// SPDX-License-Identifier: GPL-2.0-or-later
#include "record.h"
#include "../result/samples_format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Accepts a file that is new, empty or of perfex record, and any device, such as /dev/null.
 * Refuses other files, which the user may want to keep.
 */
bool samples_file_check(const char *path)
{
	struct stat status;
	int is;

	if (stat(path, &status) < 0) {
		if (errno == ENOENT)
			return true;
		complain("cannot write '%s': %m", path);
		return false;
	}
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return true;
	is = is_samples_file(path);
	if (is > 0)
		return true;
	if (is < 0) {
		complain("cannot read '%s', to see that it may be written over: %m", path);
		return false;
	}
	complain("'%s' is there, and perfex record has not written it: remove it, or give "
		 "--output=FILE",
		 path);
	return false;
}

void samples_file_text(FILE *file, const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == '%' || *text == 0x7f)
			fprintf(file, "%%%02x", (unsigned char)*text);
		else
			putc(*text, file);
}

void samples_file_head(FILE *file, const struct samples_head *head)
{
	const struct record_options *options = head->options;

	fprintf(file, SAMPLES_HEAD "%u\ncommand", head->info->tsc_khz);
	for (char **word = options->run.command; *word; word++) {
		putc(' ', file);
		samples_file_text(file, *word);
	}
	fprintf(file, "\nasked %d %u %u\n", options->registers,
		options->callers ? options->depth : 0, options->jitter);
	if (options->clock) {
		fprintf(file, "clock %" PRIu64 " %s\n", options->period[0], RECORD_CLOCK);
		return;
	}
	for (uint32_t i = 0; i < head->control->n_events; i++)
		for (size_t k = 0; k < head->events->n; k++)
			if (head->events->event[k].index == i) {
				fprintf(file, "event %" PRIu64 " ",
					(uint64_t)head->control->event[i].period);
				samples_file_text(file, head->events->event[k].name);
				putc('\n', file);
			}
}

void samples_file_sample(FILE *file, const struct perfctr_sample_view *view)
{
	const struct perfctr_sample *sample = view->sample;
	const __u64 *registers = (const __u64 *)view->registers;

	fprintf(file, "sample %" PRIu64 " %u %d %d %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64,
		(uint64_t)sample->time, view->cpu, sample->tgid, sample->tid, sample->event,
		sample->flags, sample->lost, (uint64_t)sample->periods, (uint64_t)sample->late,
		(uint64_t)sample->weight);
	fprintf(file, " %" PRIx64 " %" PRIu64, (uint64_t)sample->ip, (uint64_t)sample->tsc);
	for (unsigned int i = 0; i < view->n_counters; i++)
		fprintf(file, " %" PRIu64, (uint64_t)sample->counter[i]);
	for (size_t i = 0; registers && i < SAMPLES_REGISTERS; i++)
		fprintf(file, " %" PRIx64, (uint64_t)registers[i]);
	if (view->chain)
		fprintf(file, " %u", view->depth);
	for (unsigned int i = 0; view->chain && i < view->depth; i++)
		fprintf(file, " %" PRIx64, view->chain[i]);
	putc('\n', file);
}

void samples_file_end(FILE *file, const struct perfctr_control *control,
		      const struct samples_end *end)
{
	const struct perfctr_sampled *sampled = end->sampled;

	for (uint32_t i = 0; i < control->n_events; i++)
		fprintf(file, "total %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			(uint64_t)end->counts->counter[i], (uint64_t)end->periods->over[i],
			(uint64_t)sampled->lost_weight[i]);
	fprintf(file, "end %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 "\n",
		(uint64_t)sampled->samples, (uint64_t)sampled->lost, (uint64_t)end->periods->late,
		!!(sampled->flags & PERFCTR_SAMPLED_ENDED), end->maps_lost);
}
