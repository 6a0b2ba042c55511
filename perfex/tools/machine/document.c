// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "machine.h"
#include "../../info/pmu.h"

#include <string.h>
#include <time.h>

static void write_line(FILE *file, const char *name, const char *value)
{
	fprintf(file, "%s: %s\n", name, *value ? value : "unknown");
}

static void write_identity(FILE *file, const struct identity *identity,
			   const struct subject *subject)
{
	write_line(file, "vendor", identity->vendor);
	write_line(file, "family", identity->family);
	write_line(file, "model", identity->model);
	write_line(file, "stepping", identity->stepping);
	write_line(file, "model name", identity->model_name);
	write_line(file, "microcode", identity->microcode);
	write_line(file, "flags", identity->flags);
	write_line(file, "virtual machine", identity->is_virtual ? "yes" : "no");
	fprintf(file, "CPUs: %ld, of which perfex may use %u\n", identity->online, subject->cpus.n);
	write_line(file, "kernel", identity->kernel);
	write_line(file, "kernel version", identity->version);
	write_line(file, "architecture", identity->architecture);
	write_line(file, "perf_event_paranoid", identity->paranoid);
	write_line(file, "nmi_watchdog", identity->watchdog);
	write_line(file, "rdpmc of perf_events", identity->rdpmc);
}

static void write_events(FILE *file, const struct subject *subject)
{
	char text[PERFCTR_EVNTSEL_TEXT];

	for (unsigned int i = 0; i < subject->n_events; i++) {
		perfctr_evntsel_format(&subject->control.event[i], text, sizeof(text));
		fprintf(file, "event %s: %s\n", loop_events[i].spec, text);
	}
	for (unsigned int i = subject->n_events; i < N_LOOP_EVENTS; i++)
		fprintf(file, "event %s: not possible: %s\n", loop_events[i].spec, subject->why);
}

static void write_details(FILE *file, const char *details)
{
	while (*details) {
		int length = (int)strcspn(details, "\n");

		fprintf(file, "  %.*s\n", length, details);
		details += length + (details[length] == '\n');
	}
}

static void write_outcome(FILE *file, const struct check *check, const struct outcome *outcome)
{
	fprintf(file, "%s: %s%s%s\n  (%s)\n", check->name, verdict_names[outcome->verdict],
		*outcome->why ? ": " : "", outcome->why, check->shows);
	write_details(file, outcome->details);
}

void count_verdicts(const struct outcome outcomes[N_CHECKS], unsigned int n[N_VERDICTS])
{
	memset(n, 0, N_VERDICTS * sizeof(*n));
	for (unsigned int i = 0; i < N_CHECKS; i++)
		n[outcomes[i].verdict]++;
}

void write_machine_summary(FILE *file, const struct machine_report *report)
{
	unsigned int n[N_VERDICTS];

	count_verdicts(report->outcomes, n);
	for (unsigned int i = VERDICT_PASSED; i < N_VERDICTS; i++)
		fprintf(file, "%u %s, ", n[i], verdict_names[i]);
	fprintf(file, "%u %s\n", n[VERDICT_UNFINISHED], verdict_names[VERDICT_UNFINISHED]);
}

void write_machine_report(FILE *file, const struct machine_report *report)
{
	const struct subject *subject = report->subject;
	time_t now = time(NULL);
	struct tm today = { 0 };
	char date[16] = "";

	strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&now, &today));
	fprintf(file,
		"# perfctr: report of a machine, format 1\n"
		"# It names neither the machine nor its users; perfex-report-machine(1) says what each\n"
		"# line means, and CONTRIBUTING.md, Reports, where to send it.\n"
		"perfctr: %s\n"
		"date: %s\n",
		perfctr_version(), date);
	fputs("\n[machine]\n", file);
	write_identity(file, report->identity, subject);
	fputs("\n[counters]\n", file);
	write_backends(file, &subject->backend);
	if (subject->has_backend) {
		write_pmu_state(file, &subject->pmu);
		write_pmu_limits(file, &subject->pmu);
	}
	write_events(file, subject);
	fputs("\n[checks]\n", file);
	for (unsigned int i = 0; i < N_CHECKS; i++)
		write_outcome(file, &checks[i], &report->outcomes[i]);
	fputs("\n[result]\n", file);
	fprintf(file, "seconds: %.1f\n", (double)report->elapsed_ns / 1e9);
	if (report->signal)
		fprintf(file, "cut short: signal %d came, and not all was checked\n",
			report->signal);
	fputs("checks: ", file);
	write_machine_summary(file, report);
}
