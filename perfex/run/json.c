// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON as docs/perfex.schema.json describes it, one document per line. */
#include "json.h"
#include "derived.h"
#include "../json_member.h"
#include "../rules/derive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

const char *const view_names[] = {
	[TREE] = "tree",
	[SELF] = "self",
	[PER_PROCESS] = "per-process",
	[PER_THREAD] = "per-thread",
	[MARKED] = "marked",
};

static void add_number(struct json_object *object, const char *name, uint64_t value)
{
	add_member(object, name, json_object_new_uint64(value));
}

/* JSON has no NAN; writes null instead. */
static void add_real(struct json_object *object, const char *name, double value)
{
	add_member(object, name, isnan(value) ? NULL : json_object_new_double(value));
}

static void add_text(struct json_object *object, const char *name, const char *text)
{
	add_member(object, name, text_json(text));
}

static void add_hexadecimal(struct json_object *object, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%08llx", (unsigned long long)value);
	add_text(object, name, text);
}

static void add_summary(struct json_object *object, const struct series *series, double confidence)
{
	struct statistics s = series_statistics(series, confidence);
	struct json_object *counts = json_object_new_array();

	for (size_t i = 0; i < series->n; i++)
		json_object_array_add(counts, json_object_new_uint64(series->value[i]));
	add_member(object, "counts", counts);
	add_real(object, "mean", s.mean);
	add_real(object, "stddev", s.stddev);
	add_real(object, "low", s.low);
	add_real(object, "high", s.high);
	add_member(object, "min", series->n ? json_object_new_uint64(s.min) : NULL);
	add_member(object, "max", series->n ? json_object_new_uint64(s.max) : NULL);
}

static struct json_object *json_summary(const struct series *series, double confidence)
{
	struct json_object *object = json_object_new_object();

	add_summary(object, series, confidence);
	return object;
}

static struct json_object *json_kinds(const struct recording *recording, unsigned int pass)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t k = 0; k < recording->info->n_kinds; k++) {
		struct json_object *kind = json_object_new_object();

		add_text(kind, "kind", recording->info->kind[k].name);
		add_member(kind, "tsc",
			   json_summary(&recording->pass[pass].kind_tsc[k],
					recording->options->confidence));
		json_object_array_add(all, kind);
	}
	return all;
}

/* Returns the names of the kinds of cores in the mask kinds. */
static struct json_object *json_kinds_of(const struct perfctr_pmu_info *info, uint32_t kinds)
{
	struct json_object *all = json_object_new_array();

	for (uint32_t k = 0; k < info->n_kinds; k++)
		if (kinds >> k & 1)
			json_object_array_add(all, text_json(info->kind[k].name));
	return all;
}

static struct json_object *json_times(const struct recording *recording)
{
	struct json_object *all = json_object_new_array();

	for (unsigned int pass = 0; pass < recording->events.n_passes; pass++) {
		struct json_object *time = json_object_new_object();

		add_number(time, "pass", pass);
		add_member(time, "tsc",
			   json_summary(&recording->pass[pass].tsc,
					recording->options->confidence));
		for (unsigned int i = 0; i < N_TIMES; i++) {
			const struct series *series = &recording->pass[pass].time[i];

			if (i == TIME_ELAPSED || series->n)
				add_member(time, time_keys[i],
					   json_summary(series, recording->options->confidence));
		}
		if (recording->info->n_kinds)
			add_member(time, "kinds", json_kinds(recording, pass));
		json_object_array_add(all, time);
	}
	return all;
}

struct json_object *json_event(const struct recording *recording, const struct event *event,
			       const char *pass)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "name", event->name);
	add_hexadecimal(object, "evntsel", event->request.evntsel);
	add_hexadecimal(object, "evntsel2", event->request.evntsel2);
	add_number(object, "counter", event->counter);
	add_text(object, "modes", mode_name(event->request.modes));
	add_number(object, pass, event->pass);
	if (event->request.kinds)
		add_member(object, "kinds", json_kinds_of(recording->info, event->request.kinds));
	return object;
}

static struct json_object *json_events(const struct recording *recording)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		struct json_object *object = json_event(recording, event, "pass");

		add_summary(object, &event->counts, recording->options->confidence);
		json_object_array_add(all, object);
	}
	return all;
}

static struct json_object *json_left_out(const struct options *options)
{
	struct json_object *all = json_object_new_array();

	for (unsigned int i = 0; i < options->n_left_out; i++) {
		struct json_object *object = json_object_new_object();

		add_text(object, "name", options->left_out[i].name);
		add_text(object, "reason", options->left_out[i].reason);
		json_object_array_add(all, object);
	}
	return all;
}

static struct json_object *json_syscalls(const struct syscalls *syscalls)
{
	struct json_object *all = json_object_new_array();

	for (size_t i = 0; i < syscalls->n; i++) {
		struct json_object *object = json_object_new_object();

		add_text(object, "name", syscall_name(&syscalls->call[i]));
		if (!syscalls->call[i].is_other)
			add_number(object, "number", syscalls->call[i].number);
		add_number(object, "count", syscalls->call[i].count);
		json_object_array_add(all, object);
	}
	return all;
}

static struct json_object *member_counts(const struct recording *recording,
					 const struct member *member)
{
	struct json_object *counts = json_object_new_array();

	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		uint64_t value = member->record.counts.counter[event->index];

		json_object_array_add(counts, event->pass == member->pass
						      ? json_object_new_uint64(value)
						      : NULL);
	}
	return counts;
}

static struct json_object *json_members(const struct recording *recording)
{
	struct json_object *all = json_object_new_array();
	char name[32];

	for (const struct member *m = recording->members.first; m; m = m->next) {
		struct json_object *object = json_object_new_object();

		add_number(object, "run", m->run);
		add_number(object, "pass", m->pass);
		add_number(object, "pid", (uint64_t)m->record.tgid);
		if (recording->members.view == PER_THREAD)
			add_number(object, "tid", (uint64_t)m->record.tid);
		member_name(m, name, sizeof(name));
		add_text(object, "name", name);
		add_number(object, "tsc", m->record.counts.tsc);
		add_member(object, "counts", member_counts(recording, m));
		json_object_array_add(all, object);
	}
	return all;
}

static struct json_object *json_derived(const struct recording *recording)
{
	struct rule_result *result;
	struct json_object *all;

	if (!recording->options->rules)
		return json_object_new_array();
	result = derived_values(recording);
	all = derive_json(recording->options->rules, result);
	free(result);
	return all;
}

static struct json_object *json_command(const struct options *options)
{
	struct json_object *all = json_object_new_array();

	for (char **argument = options->command; *argument; argument++)
		json_object_array_add(all, text_json(*argument));
	return all;
}

static void add_end(struct json_object *object, const struct recording *recording)
{
	int status = recording->wait_status;
	bool exited = recording->options->command[0] && WIFEXITED(status);

	add_member(object, "exit_status", exited ? json_object_new_int(WEXITSTATUS(status)) : NULL);
	add_member(object, "signal",
		   WIFSIGNALED(status) ? json_object_new_int(WTERMSIG(status)) : NULL);
}

static struct json_object *json_failed(const struct recording *recording)
{
	struct json_object *object;

	if (!recording->failed)
		return NULL;
	object = json_object_new_object();
	add_number(object, "run", recording->failed_run);
	add_number(object, "pass", recording->failed_pass);
	return object;
}

static struct json_object *json_begin(const char *schema, unsigned int version)
{
	struct json_object *object = json_object_new_object();

	add_text(object, "schema", schema);
	add_number(object, "version", version);
	return object;
}

struct json_object *json_document(const char *schema, unsigned int version,
				  const struct recording *recording)
{
	const struct options *options = recording->options;
	struct json_object *object = json_begin(schema, version);

	add_member(object, "command", json_command(options));
	if (options->process)
		add_number(object, "process", (uint64_t)options->process);
	if (recording->pid)
		add_number(object, "pid", (uint64_t)recording->pid);
	add_text(object, "directory", recording->directory ? recording->directory : "");
	add_text(object, "date", recording->date);
	add_text(object, "perfex", PERFCTR_VERSION);
	add_text(object, "host", recording->host.name);
	if (recording->host.has_rank)
		add_number(object, "rank", recording->host.rank);
	add_text(object, "kernel", recording->host.kernel);
	add_text(object, "cpu", recording->host.cpu);
	add_text(object, "backend", recording->backend);
	add_text(object, "pmu", recording->info->family);
	add_number(object, "tsc_khz", recording->info->tsc_khz);
	add_text(object, "view", view_names[options->view]);
	add_real(object, "confidence", options->confidence);
	return object;
}

static void print_recording(FILE *file, const struct style *style,
			    const struct recording *recording)
{
	const struct options *options = recording->options;
	struct json_object *object = json_document("perfex-run", 2, recording);

	(void)style;
	add_number(object, "warmup", options->warmup);
	add_number(object, "passes", recording->events.n_passes);
	add_number(object, "runs", recording_runs(recording));
	add_end(object, recording);
	add_member(object, "failed", json_failed(recording));
	add_member(object, "time", json_times(recording));
	add_member(object, "events", json_events(recording));
	if (options->n_left_out)
		add_member(object, "left_out", json_left_out(options));
	if (recording->options->shows_syscalls)
		add_member(object, "syscalls", json_syscalls(&recording->syscalls));
	add_member(object, "derived", json_derived(recording));
	add_member(object, "members", json_members(recording));
	add_number(object, "intervals", recording->intervals);
	add_member(object, "consistent", json_object_new_boolean(recording->consistent));
	add_number(object, "running", recording->running);
	add_number(object, "lost", recording->members.lost);
	write_json(file, object);
}

static void print_interval(FILE *file, const struct style *style, const struct recording *recording,
			   const struct interval *interval)
{
	struct json_object *object = json_begin("perfex-interval", 2), *all = json_object_new_array();
	const struct rules *rules = recording->options->rules;

	(void)style;
	add_number(object, "run", interval->run);
	add_number(object, "pass", interval->pass);
	add_number(object, "time_ns", interval->time_ns);
	add_number(object, "tsc", interval->counts.tsc);
	for (size_t i = 0; i < recording->events.n; i++) {
		const struct event *event = &recording->events.event[i];
		struct json_object *one;

		if (event->pass != interval->pass)
			continue;
		one = json_object_new_object();
		add_text(one, "name", event->name);
		add_text(one, "modes", mode_name(event->request.modes));
		add_number(one, "count", interval->counts.counter[event->index]);
		json_object_array_add(all, one);
	}
	add_member(object, "events", all);
	if (rules) {
		struct rule_result *result =
			derived_of_interval(rules, &recording->events, interval);

		add_member(object, "derived", derive_json(rules, result));
		free(result);
	}
	write_json(file, object);
}

const struct format json_format = {
	.names_host = true,
	.interval = print_interval,
	.recording = print_recording,
};
