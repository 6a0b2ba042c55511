// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Regions by their names with a counter that the tests advance, start and stop, as perfex starts and stops that of a
 * command.  A read counts BEFORE until it has its value, and AFTER from then on; nothing else of the library counts.
 * So an empty pass counts AFTER of its begin and BEFORE of its end, and each call adds BEFORE and AFTER to the passes
 * around it.  Expected values are added up from these by hand.
 */
#define _GNU_SOURCE
#include "../../lib/backend/backend.h"
#include "../../lib/count.h"

#include <json-c/json.h>
#include <perfctr_regions.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

enum { BEFORE = 4, AFTER = 6 };

#define FILE_NAME "build/tests/unit/regions-named.json"

static bool simulated;
/* Not NULL: the counts are read from this page, which has the time stamp and no events. */
static struct perfctr_page *simulated_page;

static __thread struct {
	uint64_t count;
	bool running;
	unsigned int stop_after; /* this many further reads; 0: it runs on */
} counter = { .running = true };

/* Executes n instructions. */
static void work(uint64_t n)
{
	if (counter.running)
		counter.count += n;
}

static int read_simulated(const struct perfctr *p, struct perfctr_counts *out)
{
	work(BEFORE);
	out->n_counters = p->page ? 0 : 1;
	out->tsc = counter.count;
	out->counter[0] = counter.count;
	out->flags = counter.running ? PERFCTR_COUNTS_STARTED : 0;
	work(AFTER);
	if (counter.stop_after && --counter.stop_after == 0)
		counter.running = false;
	return 0;
}

static void close_simulated(struct perfctr *p)
{
	free(p);
}

static const struct perfctr_backend simulation = {
	.name = "simulation",
	.read = read_simulated,
	.close = close_simulated,
};

int __real_perfctr_counted_parse(struct counted *counted, const char *events, const struct line *line);
int __wrap_perfctr_counted_parse(struct counted *counted, const char *events, const struct line *line);
struct perfctr *__real_perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line);
struct perfctr *__wrap_perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line);

int __wrap_perfctr_counted_parse(struct counted *counted, const char *events, const struct line *line)
{
	if (!simulated)
		return __real_perfctr_counted_parse(counted, events, line);
	counted->control.n_events = simulated_page ? 0 : 1;
	strcpy(counted->request[0].name, "simulated");
	return 0;
}

struct perfctr *__wrap_perfctr_counted_open(struct counted *counted, pid_t tid, const struct line *line)
{
	struct perfctr *p;

	if (!simulated)
		return __real_perfctr_counted_open(counted, tid, line);
	p = calloc(1, sizeof(*p));
	if (!p || !perfctr_own(p))
		_exit(1);
	p->backend = &simulation;
	p->page = simulated_page;
	p->serial = (unsigned long)gettid();
	return p;
}

/* Returns the file at path that the exit of a child has written after act(), if PERFCTR_REGIONS is asked. */
static struct json_object *file_asked(void (*act)(void), const char *asked, const char *path)
{
	struct json_object *file;
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		simulated = true;
		setenv("PERFCTR_REGIONS", asked, 1);
		act();
		exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	file = json_object_from_file(path);
	ck_assert_msg(file, "there is no '%s'", path);
	return file;
}

static struct json_object *file_after(void (*act)(void))
{
	return file_asked(act, FILE_NAME, FILE_NAME);
}

/* Returns the region of this name in the thread with this index. */
static struct json_object *region_of(struct json_object *file, size_t thread, const char *name)
{
	struct json_object *threads = json_object_object_get(file, "threads"), *regions;

	ck_assert_uint_lt(thread, json_object_array_length(threads));
	regions = json_object_object_get(json_object_array_get_idx(threads, thread), "regions");
	for (size_t i = 0; i < json_object_array_length(regions); i++) {
		struct json_object *region = json_object_array_get_idx(regions, i);

		if (strcmp(json_object_get_string(json_object_object_get(region, "name")), name) == 0)
			return region;
	}
	ck_abort_msg("there is no region '%s' in %s", name, json_object_to_json_string(file));
	return NULL;
}

static int64_t number_in(struct json_object *region, const char *key)
{
	return json_object_get_int64(json_object_object_get(region, key));
}

static bool is_corrected(struct json_object *region)
{
	return json_object_get_boolean(json_object_object_get(region, "corrected"));
}

static void expect_counts(struct json_object *region, int64_t passes, int64_t total, int64_t min, int64_t max)
{
	struct json_object *count = json_object_array_get_idx(json_object_object_get(region, "counts"), 0);
	const char *text = json_object_to_json_string(region);

	ck_assert_msg(number_in(region, "passes") == passes, "not %ld passes: %s", (long)passes, text);
	ck_assert_msg(number_in(count, "total") == total, "not %ld in all: %s", (long)total, text);
	ck_assert_msg(number_in(count, "min") == min, "not at least %ld: %s", (long)min, text);
	ck_assert_msg(number_in(count, "max") == max, "not at most %ld: %s", (long)max, text);
	ck_assert_msg(number_in(json_object_object_get(region, "tsc"), "total") == total, "tsc: %s", text);
}

static void pass(const char *name, uint64_t instructions)
{
	perfctr_region_begin(name);
	work(instructions);
	perfctr_region_end(name);
}

static void nest(void)
{
	perfctr_region_begin("outer");
	for (int i = 0; i < 3; i++) {
		work(50);
		pass("inner", 1000);
	}
	perfctr_region_end("outer");
}

START_TEST(passes_count_what_is_executed_in_them)
{
	struct json_object *file = file_after(nest);

	expect_counts(region_of(file, 0, "outer"), 1, 3150, 3150, 3150);
	expect_counts(region_of(file, 0, "inner"), 3, 3000, 1000, 1000);
	ck_assert(is_corrected(region_of(file, 0, "inner")));
	json_object_put(file);
}
END_TEST

/* As perfex run --delay: the counter stands still until a region is under way. */
static void start_late(void)
{
	counter.running = false;
	pass("early", 100);
	perfctr_region_begin("outer");
	for (int i = 0; i < 5; i++)
		pass("inner", 1000);
	counter.running = true;
	for (int i = 0; i < 3; i++)
		pass("inner", 1000);
	perfctr_region_end("outer");
	nest();
}

START_TEST(calls_are_measured_when_the_counters_run)
{
	struct json_object *file = file_after(start_late);

	expect_counts(region_of(file, 0, "early"), 1, 0, 0, 0);
	ck_assert(!is_corrected(region_of(file, 0, "early")));
	expect_counts(region_of(file, 0, "inner"), 5 + 3 + 3, 6000, 0, 1000);
	/* The first pass is not corrected: its end counts until it is read.  Calls in it are not counted. */
	expect_counts(region_of(file, 0, "outer"), 2, 3000 + BEFORE + 3150, 3000 + BEFORE, 3150);
	ck_assert(is_corrected(region_of(file, 0, "inner")));
	ck_assert(is_corrected(region_of(file, 0, "outer")));
	json_object_put(file);
}
END_TEST

/* As perfex run --timeout: the counter stops while a region is under way. */
static void stop_early(void)
{
	nest();
	perfctr_region_begin("last");
	work(5000);
	pass("inner", 1000);
	counter.running = false;
	for (int i = 0; i < 1000; i++)
		pass("inner", 1000);
	perfctr_region_end("last");
}

START_TEST(calls_are_not_charged_when_the_counters_stand_still)
{
	struct json_object *file = file_after(stop_early);

	expect_counts(region_of(file, 0, "inner"), 3 + 1 + 1000, 4000, 0, 1000);
	expect_counts(region_of(file, 0, "outer"), 1, 3150, 3150, 3150);
	/* The pass is not corrected: its begin counts after it is read. */
	expect_counts(region_of(file, 0, "last"), 1, 6000 + AFTER, 6000 + AFTER, 6000 + AFTER);
	ck_assert(!is_corrected(region_of(file, 0, "last")));
	json_object_put(file);
}
END_TEST

static void stop_while_calls_are_measured(void)
{
	counter.stop_after = 200;
	pass("early", 100);
	if (counter.running)
		_exit(1);
	nest();
	counter.running = true;
	nest();
}

START_TEST(calls_are_measured_again_if_the_counters_stop_meanwhile)
{
	struct json_object *file = file_after(stop_while_calls_are_measured);

	expect_counts(region_of(file, 0, "early"), 1, 0, 0, 0);
	ck_assert(!is_corrected(region_of(file, 0, "early")));
	expect_counts(region_of(file, 0, "outer"), 2, 3150, 0, 3150);
	expect_counts(region_of(file, 0, "inner"), 6, 3000, 0, 1000);
	ck_assert(is_corrected(region_of(file, 0, "inner")));
	json_object_put(file);
}
END_TEST

/* The page of a stopped context has another recheck than ticket, and its sum is the count. */
static void read_page(void)
{
	static struct perfctr_page page = { .flags = PERFCTR_PAGE_RDPMC };

	simulated_page = &page;
	page.tsc.ticket = 7ull << 32;
	page.tsc.sum = 12345;
	pass("stopped", 0);
	page.flags |= PERFCTR_PAGE_STARTED;
	page.tsc.recheck = page.tsc.ticket;
	pass("started", 0);
}

START_TEST(a_page_tells_whether_the_counters_run)
{
	struct json_object *file = file_after(read_page);
	struct json_object *stopped = region_of(file, 0, "stopped"), *started = region_of(file, 0, "started");

	ck_assert_int_eq(number_in(stopped, "passes"), 1);
	ck_assert_int_eq(number_in(json_object_object_get(stopped, "tsc"), "total"), 0);
	ck_assert(!is_corrected(stopped));
	ck_assert_int_eq(number_in(started, "passes"), 1);
	ck_assert(is_corrected(started));
	json_object_put(file);
}
END_TEST

static void never_start(void)
{
	counter.running = false;
	nest();
}

START_TEST(nothing_is_corrected_where_nothing_was_counted)
{
	struct json_object *file = file_after(never_start);

	expect_counts(region_of(file, 0, "outer"), 1, 0, 0, 0);
	expect_counts(region_of(file, 0, "inner"), 3, 0, 0, 0);
	ck_assert(!is_corrected(region_of(file, 0, "inner")));
	json_object_put(file);
}
END_TEST

static void *end_only(void *unused)
{
	(void)unused;
	perfctr_region_end("stray");
	return NULL;
}

static void stray_in_threads(void)
{
	pthread_t thread;

	nest();
	if (pthread_create(&thread, NULL, end_only, NULL))
		_exit(1);
	pthread_join(thread, NULL);
}

static void stray_alone(void)
{
	end_only(NULL);
	nest();
}

START_TEST(a_thread_that_only_ends_a_region_is_in_the_file)
{
	struct json_object *file = file_after(stray_in_threads), *stray = region_of(file, 1, "stray");

	ck_assert_int_eq(number_in(stray, "entries"), 0);
	ck_assert_int_eq(number_in(stray, "exits"), 1);
	ck_assert_int_eq(number_in(stray, "passes"), 0);
	ck_assert_int_eq(number_in(region_of(file, 0, "stray"), "exits"), 0);
	ck_assert_int_eq(number_in(region_of(file, 1, "outer"), "entries"), 0);
	json_object_put(file);

	file = file_after(stray_alone);
	ck_assert_int_eq(number_in(region_of(file, 0, "stray"), "exits"), 1);
	expect_counts(region_of(file, 0, "outer"), 1, 3150, 3150, 3150);
	json_object_put(file);
}
END_TEST

/* The rank, or its pattern where there is no number. */
static const struct {
	const char *variable, *rank, *expected;
} ranks[] = {
	{ "PMI_RANK", "2", "2" },
	{ "PMIX_RANK", "0", "0" },
	{ "OMPI_COMM_WORLD_RANK", "11", "11" },
	{ "SLURM_PROCID", "5", "5" },
	{ "SLURM_PROCID", "../5", "%r" },
	{ "SLURM_PROCID", "", "%r" },
};

START_TEST(a_rank_has_a_file_of_its_own)
{
	char path[64];

	snprintf(path, sizeof(path), "build/tests/unit/rank-%s-%s.json", ranks[_i].expected, ranks[_i].expected);
	unlink(path);
	setenv(ranks[_i].variable, ranks[_i].rank, 1);
	json_object_put(file_asked(nest, "build/tests/unit/rank-%r-%r.json", path));
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

TCase *regions_named_tests(void)
{
	TCase *tests = tcase_create("regions_named");

	tcase_add_test(tests, passes_count_what_is_executed_in_them);
	tcase_add_test(tests, a_page_tells_whether_the_counters_run);
	tcase_add_test(tests, calls_are_measured_when_the_counters_run);
	tcase_add_test(tests, calls_are_not_charged_when_the_counters_stand_still);
	tcase_add_test(tests, calls_are_measured_again_if_the_counters_stop_meanwhile);
	tcase_add_test(tests, nothing_is_corrected_where_nothing_was_counted);
	tcase_add_test(tests, a_thread_that_only_ends_a_region_is_in_the_file);
	tcase_add_loop_test(tests, a_rank_has_a_file_of_its_own, 0, ARRAY_SIZE(ranks));
	return tests;
}
