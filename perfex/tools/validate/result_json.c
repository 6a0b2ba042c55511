// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes JSON as docs/perfex-validation.schema.json describes it.  It names neither machine nor
 * users.
 */
#include "../../json_member.h"
#include "../host/host.h"
#include "validate.h"

#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void put_text(json_object *object, const char *name, const char *text)
{
	add_member(object, name, *text ? json_object_new_string(text) : NULL);
}

static void put_number(json_object *object, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	add_member(object, name, isfinite(value) ? json_object_new_double_s(value, text) : NULL);
}

static void put_count(json_object *object, const char *name, uint64_t value)
{
	add_member(object, name, json_object_new_uint64(value));
}

static json_object *json_size(const struct observation *sample, size_t n)
{
	json_object *object = json_object_new_object();
	double sum = 0, squares = 0, expected = 0, disturbances = 0, mean;
	double min = sample[0].counted, max = min;

	for (size_t i = 0; i < n; i++) {
		sum += sample[i].counted;
		expected += sample[i].expected;
		disturbances += sample[i].disturbances;
		min = fmin(min, sample[i].counted);
		max = fmax(max, sample[i].counted);
	}
	mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (sample[i].counted - mean) * (sample[i].counted - mean);
	put_number(object, "size", sample[0].size);
	put_number(object, "expected", expected / (double)n);
	put_count(object, "runs", n);
	put_number(object, "mean", mean);
	put_number(object, "min", min);
	put_number(object, "max", max);
	put_number(object, "stddev", n > 1 ? sqrt(squares / (double)(n - 1)) : 0);
	put_number(object, "disturbances", disturbances);
	return object;
}

static json_object *json_sizes(const struct trial *trial)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0, n; i < trial->n; i += n) {
		for (n = 1; i + n < trial->n && trial->sample[i + n].size == trial->sample[i].size;)
			n++;
		json_object_array_add(array, json_size(&trial->sample[i], n));
	}
	return array;
}

static void put_fit(json_object *object, const struct fit *fit)
{
	put_text(object, "class", class_names[fit->error]);
	put_number(object, "a", fit->a);
	put_number(object, "b", fit->b);
	put_number(object, "per_disturbance", fit->c);
	put_number(object, "residual", fit->residual);
	put_number(object, "scatter", fit->scatter);
}

static json_object *json_trials(const struct validated *event)
{
	json_object *array = json_object_new_array();

	for (size_t i = 0; i < event->n_trials; i++) {
		const struct trial *trial = &event->trial[i];
		json_object *object;

		if (trial->fit.error == CLASS_NONE)
			continue;
		object = json_object_new_object();
		put_text(object, "name", benchmarks[trial->benchmark].name);
		put_fit(object, &trial->fit);
		add_member(object, "sizes", json_sizes(trial));
		json_object_array_add(array, object);
	}
	return array;
}

static json_object *json_event(const struct validated *event)
{
	json_object *object = json_object_new_object();
	char *verdict = verdict_text(event);

	put_text(object, "name", event->name);
	put_text(object, "modes", mode_name(event->request.modes));
	put_text(object, "registers", event->registers);
	put_text(object, "meaning",
		 event->quantity == NO_QUANTITY ? "" : quantity_names[event->quantity]);
	add_member(object, "found", json_object_new_boolean(event->is_found));
	put_fit(object, &event->fit);
	put_number(object, "least_b", event->least_b);
	put_number(object, "most_b", event->most_b);
	put_number(object, "trust_above", event->fit.trust_above);
	put_number(object, "reading", event->reading < 0 ? NAN : event->reading);
	put_number(object, "pair", event->pair < 0 ? NAN : event->pair);
	put_text(object, "verdict", verdict);
	add_member(object, "benchmarks", json_trials(event));
	free(verdict);
	return object;
}

static json_object *json_processor(const struct identity *identity, const struct geometry *geometry)
{
	json_object *object = json_object_new_object();

	put_text(object, "vendor", identity->vendor);
	put_text(object, "family", identity->family);
	put_text(object, "model", identity->model);
	put_text(object, "stepping", identity->stepping);
	put_text(object, "name", identity->model_name);
	put_text(object, "microcode", identity->microcode);
	add_member(object, "virtual", json_object_new_boolean(identity->is_virtual));
	add_member(object, "emulated", json_object_new_boolean(identity->is_emulated));
	put_count(object, "line_bytes", geometry->line);
	put_count(object, "page_bytes", geometry->page);
	put_count(object, "l1d_bytes", geometry->l1d);
	put_count(object, "l1i_bytes", geometry->l1i);
	put_count(object, "l2_bytes", geometry->l2);
	put_count(object, "llc_bytes", geometry->llc);
	put_count(object, "dtlb_entries", geometry->dtlb);
	put_count(object, "itlb_entries", geometry->itlb);
	return object;
}

void write_validation_json(FILE *file, const struct validation *validation)
{
	json_object *document = json_object_new_object(), *events = json_object_new_array();
	struct identity identity;
	time_t now = time(NULL);
	struct tm today = { 0 };
	char date[16] = "";

	identity_find(&identity);
	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &today));
	for (size_t i = 0; i < validation->n; i++)
		json_object_array_add(events, json_event(&validation->event[i]));
	put_text(document, "schema", "perfex-validation");
	put_count(document, "version", 1);
	put_text(document, "perfex", PERFCTR_VERSION);
	put_text(document, "date", date);
	add_member(document, "processor", json_processor(&identity, &validation->geometry));
	put_text(document, "kernel", identity.kernel);
	put_text(document, "backend", validation->backend.name);
	put_text(document, "pmu", validation->pmu.family);
	put_count(document, "runs", validation->runs);
	add_member(document, "complete", json_object_new_boolean(!validation->cut_short));
	put_number(document, "seconds", validation->elapsed);
	add_member(document, "events", events);
	write_json(file, document);
}
