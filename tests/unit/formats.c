// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares perfex's text, CSV and JSON byte by byte with golden/.  Output that differs is left below build/tests/unit/
 * for inspection.
 */
#include "../../perfex/rotate/rotate.h"
#include "../../perfex/rules/derive.h"
#include "../../perfex/run/run.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
/* After all others, because it also has a fail(). */
#include "unit.h"

static const struct perfctr_pmu_info info = {
	.family = "Intel architectural PerfMon v2",
	.tsc_khz = 2000000,
};

static struct options options;
static struct recording recording;
static struct pass passes[2];
static struct event events[3];

static void add_event(const char *name, unsigned int modes, unsigned int pass, unsigned int index,
		      uint32_t counter)
{
	struct event *event = &events[recording.events.n++];

	*event = (struct event){ .pass = pass, .index = index, .counter = counter };
	event->request.modes = modes;
	event->request.evntsel = 0x4100c0;
	strcpy(event->name, name);
}

static void begin(const char *const command[], unsigned int runs, unsigned int n_passes)
{
	options = (struct options){
		.runs = runs,
		.confidence = 95,
		.command = (char **)command,
		.interval_ms = 10,
	};
	memset(passes, 0, sizeof(passes));
	recording = (struct recording){
		.options = &options,
		.info = &info,
		.pass = passes,
		.consistent = true,
		.directory = "/home/user",
		.date = "2026-11-20T09:00:00Z",
		.backend = "patch",
		.host = { "host", "6.12.0", "a processor" },
		.events = { .event = events, .n_passes = n_passes },
	};
}

static void add_counts_of_run(unsigned int pass, uint64_t tsc, uint64_t ns, uint64_t first,
			      uint64_t second)
{
	const struct sample sample = {
		.total = { .tsc = tsc,
			   .flags = PERFCTR_COUNTS_CONSISTENT,
			   .counter = { first, second } },
		.time_ns = { ns, ns / 2, ns / 4 },
		.has_cpu_time = true,
		.pid = 49,
	};

	recording_add(&recording, pass, &sample, true);
}

static void add_member(unsigned int run, pid_t pid, const char *name, uint64_t count)
{
	struct member *member = calloc(1, sizeof(*member));

	ck_assert_ptr_nonnull(member);
	member->run = run;
	member->record.tgid = pid;
	member->record.tid = pid + 1;
	strcpy(member->record.comm, name);
	member->record.counts.tsc = 10 * count;
	member->record.counts.counter[0] = count;
	member->record.counts.counter[1] = count + 1;
	*recording.members.last = member;
	recording.members.last = &member->next;
	recording.members.n++;
}

/* A command that ran once, with counts that no double holds exactly. */
static void once(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 1, 1);
	add_event("0x004100c0@0", PERFCTR_MODE_USER, 0, 0, 0);
	add_event("a name that is longer than the usual column:k", PERFCTR_MODE_KERNEL, 0, 1,
		  0x40000000);
	add_counts_of_run(0, 2417722, 1208861, 2000004, UINT64_MAX);
}

/* Two passes and three runs.  Names and arguments need quoting.  SIGKILL ended the command. */
static void thrice(void)
{
	static const char *const command[] = { "a,b", "\"quoted\"", "\xff\xc3\xa9", "", NULL };

	begin(command, 3, 2);
	options.warmup = 2;
	options.view = PER_THREAD;
	members_begin(&recording.members, PER_THREAD);
	add_event("one", PERFCTR_MODE_USER, 0, 0, 0);
	add_event("two", PERFCTR_MODE_BOTH, 0, 1, 1);
	add_event("three, or \"3\"", PERFCTR_MODE_KERNEL, 1, 0, 0);
	for (unsigned int run = 0; run < 3; run++) {
		add_counts_of_run(0, 1000, 500, 2 + 2 * run, 1234567);
		add_counts_of_run(1, 2000, 1000, 7, 0);
	}
	add_member(0, 50, "sh", 100);
	add_member(0, 51, "a\n\"b\",c", 200);
	add_member(2, 52, "sh", 300);
	recording.wait_status = 9;
	recording.running = 1;
	recording.members.lost = 3;
	recording.intervals = 4;
	recording.failed = true;
	recording.failed_run = 3;
	recording.failed_pass = 1;
}

/* Rules of one pass, of another one, and of both. */
static void across(unsigned int runs)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, runs, 2);
	add_event("cycles", PERFCTR_MODE_USER, 0, 0, 0);
	add_event("branches", PERFCTR_MODE_USER, 1, 0, 0);
	for (unsigned int run = 0; run < runs; run++) {
		add_counts_of_run(0, 8000, 4000, 6000, 0);
		add_counts_of_run(1, 16000, 8000, 1000, 0);
	}
	derive_take(&options.rules, "per_ns = cycles / elapsed_ns");
	derive_take(&options.rules, "branches_per_ns = branches / elapsed_ns");
	derive_take(&options.rules, "cycles_per_branch = cycles / branches");
	derive_link(options.rules);
}

static void across_once(void)
{
	across(1);
}

static void across_thrice(void)
{
	across(3);
}

/* Shares are of events that were named so. */
static void add_named(const char *name, unsigned int index)
{
	add_event(name, PERFCTR_MODE_BOTH, 0, index, index);
	strcpy(events[index].request.name, name);
}

/* The widest shares: each reference misses. */
static void all_of_them(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 1, 1);
	add_named("cache-references", 0);
	add_named("cache-misses", 1);
	add_counts_of_run(0, 2417722, 1208861, 2000004, 2000004);
}

/* Events that were not counted; the second reason is the longest of perfex/run/usual.c. */
static void left_out(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 1, 1);
	options.left_out[0] = (struct left_out){ "instructions", "others have the counters", true };
	options.left_out[1] =
		(struct left_out){ "context-switches", "kernel mode is for the privileged", false };
	options.n_left_out = 2;
	add_event("page-faults:u", PERFCTR_MODE_USER, 0, 0, 0);
	add_counts_of_run(0, 2417722, 1208861, 47, 0);
}

/* 1024 processors. */
static void many_processors(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 1, 1);
	add_named("instructions", 0);
	add_named("task-clock", 1);
	add_counts_of_run(0, 2417722, 1208861, 2000004, 1024 * 1208861);
}

/* Counts and times of several days on many CPUs, with large differences. */
static void large(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 3, 1);
	add_event("instructions", PERFCTR_MODE_BOTH, 0, 0, 0);
	add_event("task-clock", PERFCTR_MODE_BOTH, 0, 1, 1);
	for (uint64_t run = 1; run <= 3; run++)
		add_counts_of_run(0, run * 999999999999999, run * 99999999999999,
				  run * 9999999999999999, run * 999999999999999);
}

static const struct interval interval = {
	.run = 0,
	.pass = 0,
	.time_ns = 1500000000,
	.length_ns = 500000,
	.counts = { .tsc = 3000000, .counter = { 2000004, 1 } },
};

static void expect_golden(const char *name, const char *text, size_t size)
{
	char path[128], golden[16384];
	FILE *file;
	size_t n;

	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	file = fopen(path, "r");
	n = file ? fread(golden, 1, sizeof(golden), file) : 0;
	if (file)
		fclose(file);
	if (n == size && memcmp(golden, text, n) == 0)
		return;
	snprintf(path, sizeof(path), "build/tests/unit/%s", name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fwrite(text, 1, size, file);
	fclose(file);
	ck_abort_msg("%s is not as tests/unit/golden/%s", path, name);
}

static const struct {
	const char *golden;
	void (*make)(void);
	const struct format *format;
	struct style style;
} cases[] = {
	{ "once.txt", once, &text_format, { 0 } },
	{ "once.csv", once, &csv_format, { 0 } },
	{ "once.json", once, &json_format, { 0 } },
	{ "left-out.txt", left_out, &text_format, { 0 } },
	{ "left-out.csv", left_out, &csv_format, { 0 } },
	{ "left-out.json", left_out, &json_format, { 0 } },
	{ "once-terminal.txt", once, &text_format, { true, true, true } },
	{ "thrice.txt", thrice, &text_format, { 0 } },
	{ "thrice.csv", thrice, &csv_format, { 0 } },
	{ "thrice.json", thrice, &json_format, { 0 } },
	{ "across.txt", across_once, &text_format, { 0 } },
	{ "across.csv", across_once, &csv_format, { 0 } },
	{ "across.json", across_once, &json_format, { 0 } },
	{ "thrice-terminal.txt", thrice, &text_format, { true, true, true } },
};

static void end(void)
{
	members_free(&recording.members);
	for (unsigned int pass = 0; pass < 2; pass++) {
		series_free(&passes[pass].tsc);
		for (unsigned int i = 0; i < N_TIMES; i++)
			series_free(&passes[pass].time[i]);
	}
	for (size_t i = 0; i < recording.events.n; i++)
		series_free(&events[i].counts);
	rules_free(options.rules);
}

START_TEST(output_is_as_it_should_be)
{
	const struct format *format = cases[_i].format;
	char *text;
	size_t size;
	FILE *file;

	if (cases[_i].style.grouping) {
		setenv("LOCPATH", "build/tests/unit/locale", 1);
		ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "de_DE.UTF-8"));
	}
	cases[_i].make();
	file = open_memstream(&text, &size);
	if (format->head)
		format->head(file);
	if (format->begin)
		format->begin(file, &recording, &interval);
	format->interval(file, &cases[_i].style, &recording, &interval);
	format->recording(file, &cases[_i].style, &recording);
	fclose(file);
	expect_golden(cases[_i].golden, text, size);
	free(text);
	end();
}
END_TEST

static const struct rotated {
	const struct format *format;
	const char *golden;
} rotated[] = {
	{ &rotation_text, "rotation.txt" },
	{ &rotation_csv, "rotation.csv" },
	{ &rotation_json, "rotation.json" },
};

static void add_slice(unsigned int set, uint64_t first, uint64_t second)
{
	const struct sample sample = {
		.total = { .tsc = 10, .counter = { first, second } },
		.time_ns = { 5 },
	};

	recording_add(&recording, set, &sample, true);
}

/* Twelve slices of a set with a steady event and one that becomes more frequent, and four of another set. */
static void rotate(void)
{
	static const char *const command[] = { "loop", NULL };

	begin(command, 1, 2);
	options.view = MARKED;
	add_event("steady", PERFCTR_MODE_USER, 0, 0, 0);
	add_event("grows, and has a name that is not short", PERFCTR_MODE_BOTH, 0, 1, 1);
	add_event("rare", PERFCTR_MODE_USER, 1, 0, 0);
	for (unsigned int i = 0; i < 12; i++)
		add_slice(0, 8 + i * 7 % 5, 1 + i);
	for (unsigned int i = 0; i < 4; i++)
		add_slice(1, 3, 0);
}

START_TEST(estimates_are_shown_as_they_should_be)
{
	const struct rotate_options slices = { .slice_ms = 10 };
	uint64_t start[12] = { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110 };
	struct series starts[] = { { start, 12, 12 }, { start, 4, 12 } };
	struct rotation rotation = {
		.options = &slices, .elapsed_ns = 100000, .tsc = 200, .start = starts, .seed = 7,
	};
	const struct style style = { 0 };
	char *text;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	rotate();
	rotation.recording = recording;
	if (rotated[_i].format->head)
		rotated[_i].format->head(file);
	rotated[_i].format->recording(file, &style, &rotation.recording);
	fclose(file);
	expect_golden(rotated[_i].golden, text, size);
	free(text);
	end();
}
END_TEST

START_TEST(no_line_for_people_is_wider_than_eighty_columns)
{
	void (*const make[])(void) = { thrice,		large,	  all_of_them,
				       many_processors, left_out, across_thrice };
	const struct style style = { 0 };
	char *text;
	size_t size;
	FILE *file;

	make[_i]();
	file = open_memstream(&text, &size);
	text_format.begin(file, &recording, &interval);
	text_format.interval(file, &style, &recording, &interval);
	text_format.recording(file, &style, &recording);
	fclose(file);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(strlen(line) <= 80, "%zu columns: %s", strlen(line), line);
	free(text);
	end();
}
END_TEST

TCase *format_tests(void)
{
	TCase *tests = tcase_create("formats");

	tcase_add_loop_test(tests, output_is_as_it_should_be, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tests, estimates_are_shown_as_they_should_be, 0, ARRAY_SIZE(rotated));
	tcase_add_loop_test(tests, no_line_for_people_is_wider_than_eighty_columns, 0, 6);
	return tests;
}
