// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions without a counter: passes that read a page of the test, results of threads that are made here and compared
 * byte by byte with golden/, and files that exit() writes.
 */
#define _GNU_SOURCE
#include "../../lib/regions/regions.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

static const char *const names[] = { "parse", "solve, \"fast\"", "never" };

static struct perfctr_control control_of_two(void)
{
	struct perfctr_control control = { .size = sizeof(control), .n_events = 2 };

	control.event[0] = (struct perfctr_event_control){ .counter = 0, .evntsel = 0x4100c0 };
	control.event[1] = (struct perfctr_event_control){ .counter = 1, .evntsel = 0x4300c4 };
	return control;
}

static struct perfctr_regions *regions_of_two(void)
{
	static const struct perfctr_request events[] = {
		{ .name = "instructions:u", .modes = PERFCTR_MODE_USER },
		{ .name = "branches", .modes = PERFCTR_MODE_BOTH },
	};
	struct perfctr_control control = control_of_two();
	struct perfctr_regions *r =
		perfctr_regions_open(&control, events, names, ARRAY_SIZE(names));

	ck_assert_ptr_nonnull(r);
	return r;
}

static struct perfctr_region_sum sum(uint64_t total, uint64_t min, uint64_t max)
{
	return (struct perfctr_region_sum){ .total = total, .min = min, .span = max - min };
}

/* Adds a thread without counters, as perfctr_regions_thread() does; perfctr_regions_close() frees it. */
static struct perfctr_region *add_thread(struct perfctr_regions *r, pid_t tid)
{
	struct perfctr_region_thread *thread = calloc(1, sizeof(*thread));
	unsigned int n = r->n_regions + EMPTY_REGIONS;

	ck_assert_ptr_nonnull(thread);
	thread->tid = tid;
	thread->n_events = r->control.n_events;
	thread->n_regions = r->n_regions;
	thread->region = perfctr_map_wiped(2 * n * sizeof(*thread->region));
	ck_assert_ptr_nonnull(thread->region);
	for (unsigned int i = 0; i < n; i++)
		perfctr_region_reset(&thread->region[i]);
	*r->last = thread;
	r->last = &thread->next;
	return thread->region;
}

static void calibrate(struct perfctr_region *array, uint64_t first, uint64_t repeated)
{
	for (unsigned int i = 0; i < EMPTY_REGIONS; i++) {
		struct perfctr_region *empty = &array[ARRAY_SIZE(names) + i];
		uint64_t least = i < PERFCTR_REGION_FIRST ? first + i : repeated;

		empty->passes = i < PERFCTR_REGION_FIRST ? 1 : 60;
		empty->tsc = sum(60 * least, least, least + 9);
		empty->counter[0] = empty->tsc;
		empty->counter[1] = empty->tsc;
	}
}

/* Two threads.  The first missed an exit.  The second is calibrated, and has a count that no double holds exactly. */
static struct perfctr_regions *golden_regions(void)
{
	struct perfctr_regions *r = regions_of_two();
	struct perfctr_region *region = add_thread(r, 101);

	region[0].passes = 3;
	region[0].missed_exits = 1;
	region[0].tsc = sum(1000, 200, 500);
	region[0].counter[0] = sum(600, 100, 300);
	region[0].counter[1] = sum(10, 3, 4);
	region[1].passes = 1;
	region[1].stray_exits = 2;
	region[1].retried = 1;
	region[1].tsc = sum(77, 77, 77);
	region[1].counter[0] = sum(66, 66, 66);
	region[1].counter[1] = sum(0, 0, 0);

	region = add_thread(r, 202);
	calibrate(region, 30, 20);
	region[0].passes = 1;
	region[0].tsc = sum(100, 100, 100);
	region[0].counter[0] = sum(36, 36, 36);
	region[0].counter[1] = sum(29, 29, 29);
	region[1].passes = 4;
	region[1].tsc = sum(18446744073709551615u, 25, 18446744073709551000u);
	region[1].counter[0] = sum(9007199254740993u + 90, 20, 9007199254740993u);
	region[1].counter[1] = sum(89, 20, 29);
	region[2].state = PERFCTR_REGION_INSIDE;
	return r;
}

/* An inner region may have cost the outer one less than what is subtracted for it. */
START_TEST(a_pass_is_never_less_than_nothing)
{
	struct perfctr_regions *r = regions_of_two();
	struct perfctr_region *region = add_thread(r, 101);
	struct region_reading begin = { .counts = { .tsc = 100, .counter = { 50, 20 } }, .running = true };
	struct region_reading end = { .counts = { .tsc = 99, .counter = { 51, 10 } }, .running = true };
	struct perfctr_region_result result;

	region->thread = r->threads;
	perfctr_region_begin_at(region, &begin);
	perfctr_region_end_at(region, &end);
	ck_assert_int_eq(perfctr_regions_read(r, 0, 0, 0, &result), 0);
	ck_assert_uint_eq(result.passes, 1);
	ck_assert_uint_eq(result.tsc.total, 0);
	ck_assert_uint_eq(result.counter[0].total, 1);
	ck_assert_uint_eq(result.counter[1].total, 0);
	ck_assert_uint_eq(result.counter[1].max, 0);
	perfctr_regions_close(r);
}
END_TEST

static void compare_with_golden(enum perfctr_regions_format format, unsigned int flags,
				const char *name)
{
	struct perfctr_regions *r = golden_regions();
	char path[128], golden[8192], *text;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	ck_assert_int_eq(perfctr_regions_write(r, file, format, flags), 0);
	fclose(file);
	perfctr_regions_close(r);

	snprintf(path, sizeof(path), "build/tests/unit/%s", name);
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fwrite(text, 1, length, file);
	fclose(file);

	snprintf(path, sizeof(path), "tests/unit/golden/%s", name);
	file = fopen(path, "r");
	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	golden[fread(golden, 1, sizeof(golden) - 1, file)] = '\0';
	fclose(file);
	ck_assert_str_eq(text, golden);
	free(text);
}

START_TEST(results_as_text_are_golden)
{
	compare_with_golden(PERFCTR_REGIONS_TEXT, PERFCTR_REGIONS_CORRECTED, "regions.txt");
}
END_TEST

START_TEST(results_as_csv_are_golden)
{
	compare_with_golden(PERFCTR_REGIONS_CSV, PERFCTR_REGIONS_CORRECTED, "regions.csv");
}
END_TEST

START_TEST(results_as_json_are_golden)
{
	compare_with_golden(PERFCTR_REGIONS_JSON, PERFCTR_REGIONS_CORRECTED, "regions.json");
}
END_TEST

START_TEST(results_for_programs_are_the_same_in_every_locale)
{
	setenv("LOCPATH", "build/tests/unit/locale", 1);
	ck_assert_ptr_nonnull(setlocale(LC_NUMERIC, "de_DE.UTF-8"));
	compare_with_golden(PERFCTR_REGIONS_CSV, PERFCTR_REGIONS_CORRECTED, "regions.csv");
	compare_with_golden(PERFCTR_REGIONS_JSON, PERFCTR_REGIONS_CORRECTED, "regions.json");
}
END_TEST

START_TEST(correction_subtracts_the_first_and_the_repeated_empty_pass)
{
	struct perfctr_regions *r = golden_regions();
	struct perfctr_region_result result;

	/* One pass, minus 30, the least first empty pass. */
	ck_assert_int_eq(perfctr_regions_read(r, 1, 0, PERFCTR_REGIONS_CORRECTED, &result), 0);
	ck_assert_uint_eq(result.flags, PERFCTR_REGIONS_CORRECTED);
	ck_assert_uint_eq(result.counter[0].total, 6);
	ck_assert_uint_eq(result.counter[0].max, 6);
	ck_assert_uint_eq(result.counter[1].total, 0);
	/* Four passes, minus 30 and 3 * 20. */
	ck_assert_int_eq(perfctr_regions_read(r, 1, 1, PERFCTR_REGIONS_CORRECTED, &result), 0);
	ck_assert_uint_eq(result.counter[0].total, 9007199254740993u);
	ck_assert_uint_eq(result.counter[0].min, 0);
	ck_assert_uint_eq(result.counter[0].max, 9007199254740973u);
	ck_assert_uint_eq(result.counter[1].total, 0);
	ck_assert_uint_eq(result.tsc.min, 5);
	/* The first thread was not calibrated, so PERFCTR_REGIONS_CORRECTED is not set. */
	ck_assert_int_eq(perfctr_regions_read(r, 0, 0, PERFCTR_REGIONS_CORRECTED, &result), 0);
	ck_assert_uint_eq(result.flags, 0);
	ck_assert_uint_eq(result.counter[0].total, 600);
	perfctr_regions_close(r);
}
END_TEST

START_TEST(passes_by_the_time_stamp_alone_lie_between_those_around_them)
{
	static struct perfctr_page page = { .flags = PERFCTR_PAGE_STARTED };
	struct perfctr_region_thread thread = { 0 };
	struct perfctr_region region = { .page = &page, .thread = &thread };
	uint64_t least = UINT64_MAX, most = 0, total = 0;

	page.tsc.ticket = page.tsc.recheck = 7ull << 32;
	page.tsc.bias = 123456789;
	perfctr_region_reset(&region);
	for (unsigned int i = 0; i < 100; i++) {
		uint64_t outside, before = region.tsc.total;

		outside = perfctr_read_tsc(&page);
		perfctr_region_enter(&region, 0);
		for (volatile unsigned int k = 0; k < i * 37 % 100; k++)
			;
		perfctr_region_exit(&region, 0);
		outside = perfctr_read_tsc(&page) - outside;
		ck_assert_uint_le(region.tsc.total - before, outside);
		before = region.tsc.total - before;
		least = before < least ? before : least;
		most = before > most ? before : most;
		total += before;
	}
	ck_assert_uint_eq(region.passes, 100);
	ck_assert_uint_eq(region.tsc.total, total);
	ck_assert_uint_eq(region.tsc.min, least);
	ck_assert_uint_eq(region.tsc.min + region.tsc.span, most);
	ck_assert_uint_gt(least, 0);
}
END_TEST

START_TEST(a_wiped_region_does_nothing)
{
	static const struct perfctr_region zeros;
	struct perfctr_region region = { 0 };

	errno = 0;
	perfctr_region_enter(&region, 2);
	perfctr_region_exit(&region, 2);
	perfctr_region_exit(&region, 2);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(memcmp(&region, &zeros, sizeof(region)), 0);
	ck_assert_int_eq(perfctr_regions_calibrate(&region, 2), -1);
	ck_assert_int_eq(errno, EPERM);
}
END_TEST

START_TEST(without_requests_the_registers_are_the_names)
{
	struct perfctr_control control = control_of_two();
	struct perfctr_regions *r = perfctr_regions_open(&control, NULL, names, 1);

	ck_assert_ptr_nonnull(r);
	ck_assert_str_eq(r->event[0].name, "0x004100c0@0");
	ck_assert_str_eq(perfctr_modes_text(r->event[0].modes), "user");
	ck_assert_str_eq(perfctr_modes_text(r->event[1].modes), "user+kernel");
	perfctr_regions_close(r);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	struct perfctr_regions *r = regions_of_two();
	struct perfctr_region_result result;

	ck_assert_int_eq(perfctr_regions_write(r, stdout, 3, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_regions_write(r, stdout, PERFCTR_REGIONS_CSV, 2), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_regions_save_at_exit(r, "/dev/null", 3, 0), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_regions_save_at_exit(r, "/no/such/file", PERFCTR_REGIONS_CSV, 0),
			 -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(perfctr_regions_read(r, 0, 0, 0, &result), -1);
	ck_assert_int_eq(errno, ENOENT);
	perfctr_regions_close(r);
	perfctr_regions_close(NULL);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	static const enum perfctr_regions_format formats[] = {
		PERFCTR_REGIONS_TEXT,
		PERFCTR_REGIONS_CSV,
		PERFCTR_REGIONS_JSON,
	};
	struct perfctr_regions *r = golden_regions();

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		FILE *full = fopen("/dev/full", "w");

		ck_assert_ptr_nonnull(full);
		ck_assert_int_eq(perfctr_regions_write(r, full, formats[i], 0), -1);
		ck_assert_int_eq(errno, ENOSPC);
		fclose(full);
	}
	perfctr_regions_close(r);
}
END_TEST

#define SAVED "build/tests/unit/regions-saved"

/* A leak detector that runs after exit() finds the regions by these pointers. */
static struct perfctr_regions *volatile mine, *volatile theirs;

/* Returns the number of lines in SAVED after the exit() of a child that has called with(). */
static unsigned int saved_lines(void (*with)(struct perfctr_regions *r))
{
	unsigned int lines = 0;
	FILE *file;
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		mine = golden_regions();
		if (perfctr_regions_save_at_exit(mine, SAVED, PERFCTR_REGIONS_CSV, 0) < 0)
			_exit(1);
		with(mine);
		exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	file = fopen(SAVED, "r");
	ck_assert_ptr_nonnull(file);
	for (int c; (c = fgetc(file)) != EOF;)
		lines += c == '\n';
	fclose(file);
	return lines;
}

static void do_nothing(struct perfctr_regions *r)
{
	(void)r;
}

static void ask_again(struct perfctr_regions *r)
{
	if (perfctr_regions_save_at_exit(r, SAVED, PERFCTR_REGIONS_JSON, 0) < 0)
		_exit(1);
}

static void fork_and_exit(struct perfctr_regions *r)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (perfctr_regions_save_at_exit(r, SAVED, PERFCTR_REGIONS_CSV, 0) == 0 ||
		    errno != EPERM)
			_exit(1);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Another process meanwhile writes a longer file than the caller's. */
static void another_saves(struct perfctr_regions *r)
{
	pid_t pid = fork();

	(void)r;
	if (pid == 0) {
		theirs = golden_regions();
		if (perfctr_regions_save_at_exit(theirs, SAVED, PERFCTR_REGIONS_JSON, 0) < 0)
			_exit(1);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Acts like a disk that is full after the first lines. */
static void limit_size(struct perfctr_regions *r)
{
	const struct rlimit limit = { .rlim_cur = 200, .rlim_max = 200 };

	(void)r;
	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
		_exit(1);
}

#define FOREIGN "build/tests/unit/regions-foreign"

/* Closes all descriptors, as daemons do, and then opens a file of its own. */
static int close_and_open(void)
{
	int first = open("/dev/null", O_RDONLY | O_CLOEXEC), fd;

	closefrom(3);
	fd = open(FOREIGN, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	while (fd >= 0 && fd < first)
		fd = dup(fd);
	if (fd < 0 || write(fd, "theirs", 6) != 6)
		_exit(1);
	return fd;
}

static void reuse_descriptor(struct perfctr_regions *r)
{
	(void)r;
	close_and_open();
}

static void reuse_descriptor_and_close(struct perfctr_regions *r)
{
	int fd = close_and_open();

	perfctr_regions_close(r);
	for (; fd >= 3; fd--)
		if (fcntl(fd, F_GETFD) < 0)
			_exit(1);
}

START_TEST(exit_leaves_descriptors_of_others_alone)
{
	struct stat file;

	ck_assert_uint_eq(saved_lines(reuse_descriptor), 0);
	ck_assert_int_eq(stat(FOREIGN, &file), 0);
	ck_assert_int_eq(file.st_size, 6);
	ck_assert_uint_eq(saved_lines(reuse_descriptor_and_close), 0);
}
END_TEST

START_TEST(exit_saves_once_unless_closed_before)
{
	/* A header, and 2 threads with 3 regions each, with 3 lines each: time stamp and 2 events. */
	ck_assert_uint_eq(saved_lines(do_nothing), 1 + 2 * 3 * 3);
	ck_assert_uint_eq(saved_lines(ask_again), 1);
	ck_assert_uint_eq(saved_lines(fork_and_exit), 1 + 2 * 3 * 3);
	ck_assert_uint_eq(saved_lines(another_saves), 1 + 2 * 3 * 3);
	ck_assert_uint_eq(saved_lines(limit_size), 0);
	ck_assert_uint_eq(saved_lines(perfctr_regions_close), 0);
}
END_TEST

TCase *regions_tests(void)
{
	TCase *tests = tcase_create("regions");

	tcase_add_test(tests, a_pass_is_never_less_than_nothing);
	tcase_add_test(tests, results_as_text_are_golden);
	tcase_add_test(tests, results_as_csv_are_golden);
	tcase_add_test(tests, results_as_json_are_golden);
	tcase_add_test(tests, results_for_programs_are_the_same_in_every_locale);
	tcase_add_test(tests, correction_subtracts_the_first_and_the_repeated_empty_pass);
	tcase_add_test(tests, passes_by_the_time_stamp_alone_lie_between_those_around_them);
	tcase_add_test(tests, a_wiped_region_does_nothing);
	tcase_add_test(tests, without_requests_the_registers_are_the_names);
	tcase_add_test(tests, wrong_arguments_are_refused);
	tcase_add_test(tests, a_full_disk_is_told);
	tcase_add_test(tests, exit_saves_once_unless_closed_before);
	tcase_add_test(tests, exit_leaves_descriptors_of_others_alone);
	return tests;
}
