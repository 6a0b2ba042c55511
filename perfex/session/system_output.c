// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "system.h"
#include "../json_member.h"
#include "../rules/derive.h"
#include "../run/derived.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* With usual names a line has at most 80 columns. */
enum {
	TIME_WIDTH = 10,
	CPU_WIDTH = 4,
	COUNT_WIDTH = 15,
	NAME_WIDTH = 21,
	MODES_WIDTH = 11,
	RATE_WIDTH = 12
};

static double rate_of(const struct system_row *row, uint64_t count)
{
	return row->length_ns ? (double)count * 1e9 / (double)row->length_ns : 0;
}

void system_print_head(FILE *file, const struct system_options *options,
		       const struct events *events)
{
	if (options->run.format == &json_format)
		return;
	if (options->run.format == &csv_format) {
		fputs("time_ns,cpu,event,counter,modes,count,rate\r\n", file);
		return;
	}
	fprintf(file, "%*s", TIME_WIDTH, "seconds");
	if (options->per_cpu)
		fprintf(file, " %*s", CPU_WIDTH, "cpu");
	fprintf(file, " %*s  %-*s %-*s %*s\n", COUNT_WIDTH, "count", NAME_WIDTH, "event",
		MODES_WIDTH, "modes", RATE_WIDTH, "/s");
}

/* Returns the values of the rules, or NULL without rules; the caller frees the array. */
static struct rule_result *derived_of_row(const struct rules *rules, const struct events *events,
					  const struct system_row *row)
{
	struct interval interval = { .length_ns = row->length_ns, .counts.tsc = row->tsc };

	for (size_t i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		interval.counts.counter[i] = row->counter[i];
	return rules ? derived_of_interval(rules, events, &interval) : NULL;
}

static void print_place(FILE *file, const struct system_row *row)
{
	fprintf(file, "%*.6f", TIME_WIDTH, (double)row->time_ns / 1e9);
	if (row->cpu != ALL_CPUS)
		fprintf(file, " %*d", CPU_WIDTH, row->cpu);
}

static void print_text_line(FILE *file, const struct system_row *row, const struct event *event,
			    uint64_t count)
{
	print_place(file, row);
	fprintf(file, " %*llu  %-*s %-*s %*.0f\n", COUNT_WIDTH, (unsigned long long)count,
		NAME_WIDTH, event ? event->name : "tsc", MODES_WIDTH,
		event ? mode_name(event->request.modes) : "", RATE_WIDTH, rate_of(row, count));
}

static void print_text(FILE *file, const struct rules *rules, const struct events *events,
		       const struct system_row *row)
{
	struct rule_result *result = derived_of_row(rules, events, row);
	char value[NUMBER_TEXT], half[NUMBER_TEXT];

	print_text_line(file, row, NULL, row->tsc);
	for (size_t i = 0; i < events->n; i++)
		print_text_line(file, row, &events->event[i], row->counter[events->event[i].index]);
	for (size_t i = 0; result && i < rules_count(rules); i++) {
		derived_format(value, half, &result[i]);
		print_place(file, row);
		fprintf(file, " %*s  %-*s derived\n", COUNT_WIDTH, value, NAME_WIDTH,
			rules_name(rules, i));
	}
	free(result);
}

static void print_csv_place(FILE *file, const struct system_row *row)
{
	fprintf(file, "%llu,", (unsigned long long)row->time_ns);
	if (row->cpu != ALL_CPUS)
		fprintf(file, "%d", row->cpu);
}

static void print_csv_line(FILE *file, const struct system_row *row, const struct event *event,
			   uint64_t count)
{
	print_csv_place(file, row);
	putc(',', file);
	csv_put_text(file, event ? event->name : "tsc");
	if (event)
		fprintf(file, ",0x%x,%s", event->counter, mode_name(event->request.modes));
	else
		fputs(",,", file);
	fprintf(file, ",%llu,%.17g\r\n", (unsigned long long)count, rate_of(row, count));
}

static void print_csv(FILE *file, const struct rules *rules, const struct events *events,
		      const struct system_row *row)
{
	struct rule_result *result = derived_of_row(rules, events, row);

	print_csv_line(file, row, NULL, row->tsc);
	for (size_t i = 0; i < events->n; i++)
		print_csv_line(file, row, &events->event[i], row->counter[events->event[i].index]);
	for (size_t i = 0; result && i < rules_count(rules); i++) {
		print_csv_place(file, row);
		putc(',', file);
		csv_put_text(file, rules_name(rules, i));
		fputs(",,,", file);
		if (result[i].state == RULE_VALUE)
			fprintf(file, "%.17g", result[i].value);
		fputs(",\r\n", file);
	}
	free(result);
}

static void print_json(FILE *file, const struct rules *rules, const struct events *events,
		       const struct system_row *row)
{
	json_object *object = json_object_new_object(), *all = json_object_new_array();
	struct rule_result *result = derived_of_row(rules, events, row);

	add_member(object, "schema", json_object_new_string("perfex-system"));
	add_member(object, "version", json_object_new_int(2));
	add_member(object, "time_ns", json_object_new_uint64(row->time_ns));
	add_member(object, "length_ns", json_object_new_uint64(row->length_ns));
	add_member(object, "cpu", row->cpu == ALL_CPUS ? NULL : json_object_new_int(row->cpu));
	add_member(object, "tsc", json_object_new_uint64(row->tsc));
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->event[i];
		uint64_t count = row->counter[event->index];
		json_object *one = json_object_new_object();

		add_member(one, "name", json_object_new_string(event->name));
		add_member(one, "modes", json_object_new_string(mode_name(event->request.modes)));
		add_member(one, "count", json_object_new_uint64(count));
		add_member(one, "rate", json_object_new_double(rate_of(row, count)));
		json_object_array_add(all, one);
	}
	add_member(object, "events", all);
	if (result)
		add_member(object, "derived", derive_json(rules, result));
	free(result);
	fprintf(file, "%s\n",
		json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
							       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

void system_print_row(FILE *file, const struct system_options *options, const struct events *events,
		      const struct system_row *row)
{
	const struct rules *rules = options->run.rules;

	if (options->run.format == &json_format)
		print_json(file, rules, events, row);
	else if (options->run.format == &csv_format)
		print_csv(file, rules, events, row);
	else
		print_text(file, rules, events, row);
}
