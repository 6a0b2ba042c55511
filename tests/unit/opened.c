// SPDX-License-Identifier: GPL-2.0-or-later
/* The events of a machine are opened only once: tables are read, and libpfm4 is asked about its PMUs. */
#include "command.h"
#include "names.h"
#include "opens.h"
#include "unit.h"

#include <errno.h>
#include <perfctr_sessions.h>
#include <perfmon/pfmlib.h>
#include <stdlib.h>
#include <string.h>

pfm_err_t __real_pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);
pfm_err_t __wrap_pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info);

static unsigned int asked; /* calls that asked libpfm4 about a PMU */

pfm_err_t __wrap_pfm_get_pmu_info(pfm_pmu_t pmu, pfm_pmu_info_t *info)
{
	asked++;
	return __real_pfm_get_pmu_info(pmu, info);
}

#define TABLE                                                                                      \
	"pmu arch\n"                                                                               \
	"loads 0x0b 1-2 occurrence Loads\n"                                                        \
	"\tREAD* 0x01 Loads that read\n"                                                           \
	"other = loads:READ\n"

static int table; /* from watch_opens() */

static void enter(void)
{
	enter_directory();
	write_text("mine.tbl", TABLE);
	table = watch_opens("mine.tbl");
	setenv("PERFCTR_EVENTS", ".", 1);
}

static void leave(void)
{
	close(table);
	leave_directory();
}

static uint64_t parse(struct perfctr_events *events, const char *spec)
{
	struct perfctr_request request;
	char error[512] = "";

	ck_assert_msg(perfctr_events_parse(events, spec, USER, &request, error, sizeof(error)) == 0,
		      "%s: %s", spec, error);
	return request.evntsel;
}

static int count_entries(const struct perfctr_event_entry *entry, void *n)
{
	(void)entry;
	++*(unsigned int *)n;
	return 0;
}

START_TEST(names_are_looked_up_in_tables_that_are_read_once)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_request request;
	struct perfctr_events *events;
	unsigned int n = 0, once;
	char error[512];

	setenv("PERFCTR_EVENTS", ".", 1);
	events = perfctr_events_open(info);
	ck_assert_ptr_nonnull(events);
	ck_assert_uint_eq(count_opens(table), 0);
	ck_assert_uint_eq(parse(events, "instructions"), 0x4100c0);
	ck_assert_uint_eq(count_opens(table), 1);
	/* The tables had all that was needed. */
	ck_assert_uint_eq(asked, 0);
	ck_assert_uint_eq(parse(events, "nhm::INST_RETIRED:ANY_P"), 0x4100c0);
	once = asked;
	ck_assert_uint_gt(once, 0);
	ck_assert_uint_eq(parse(events, "loads"), 0x41010b);
	ck_assert_uint_eq(parse(events, "other:k"), 0x42010b);
	ck_assert_uint_eq(parse(events, "0x4100c0"), 0x4100c0);
	ck_assert_uint_eq(parse(events, "BR_INST_EXEC:ANY"), 0x417f88);
	ck_assert_int_eq(perfctr_events_parse(events, "no_such", USER, &request, error,
					      sizeof(error)),
			 -1);
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_int_eq(perfctr_events_list(events, NULL, count_entries, &n), 0);
	ck_assert_uint_gt(n, 100);
	ck_assert_uint_eq(count_opens(table), 0);
	ck_assert_uint_eq(asked, once);
	perfctr_events_close(events);
}
END_TEST

START_TEST(who_changes_a_table_opens_the_events_again)
{
	const struct perfctr_pmu_info *info = be_machine(NEHALEM);
	struct perfctr_events *before, *after;

	setenv("PERFCTR_EVENTS", ".", 1);
	before = perfctr_events_open(info);
	ck_assert_uint_eq(parse(before, "loads"), 0x41010b);
	write_text("mine.tbl", "pmu arch\nloads 0x0c any occurrence Other loads\n");
	after = perfctr_events_open(info);
	ck_assert_uint_eq(parse(before, "loads"), 0x41010b);
	ck_assert_uint_eq(parse(after, "loads"), 0x41000c);
	perfctr_events_close(before);
	ck_assert_uint_eq(parse(after, "loads"), 0x41000c);
	perfctr_events_close(after);
	perfctr_events_close(NULL);
}
END_TEST

START_TEST(a_malformed_table_is_told_for_each_name)
{
	struct perfctr_events *events = perfctr_events_open(be_machine(NEHALEM));
	struct perfctr_request request;
	char error[512] = "";

	setenv("PERFCTR_EVENTS", ".", 1);
	write_text("mine.tbl", TABLE "bad 0b any occurrence x\n");
	for (int i = 0; i < 2; i++) {
		errno = 0;
		ck_assert_int_eq(perfctr_events_parse(events, "instructions", USER, &request, error,
						      sizeof(error)),
				 -1);
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_str_eq(error, "./mine.tbl:5: '0b' is not a code like 0xc0");
		error[0] = '\0';
	}
	perfctr_events_close(events);
}
END_TEST

START_TEST(events_know_their_machine)
{
	const struct perfctr_pmu_info *info = be_machine(ZEN);
	struct perfctr_events *events = perfctr_events_open(info);

	ck_assert_mem_eq(perfctr_events_info(events), info, sizeof(*info));
	ck_assert_ptr_ne(perfctr_events_info(events), info);
	ck_assert_ptr_null(perfctr_events_backend(events));
	perfctr_events_close(events);
}
END_TEST

START_TEST(events_of_a_backend_have_its_name)
{
	static const char *const specs[] = { "page-faults" };
	struct perfctr_events *events = perfctr_events_open_for(specs, 1, USER, 0);
	struct perfctr_pmu_info info;

	ck_assert_ptr_nonnull(events);
	ck_assert_str_eq(perfctr_events_backend(events), perfctr_backend_for(specs, 1, USER, 0));
	ck_assert_int_eq(perfctr_get_pmu_info_with(perfctr_events_backend(events), &info), 0);
	ck_assert_mem_eq(&perfctr_events_info(events)->pmu, &info.pmu, sizeof(info.pmu));
	perfctr_events_close(events);
	setenv("PERFCTR_BACKEND", "nobody", 1);
	ck_assert_ptr_null(perfctr_events_open_for(specs, 1, USER, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(perfctr_events_open_with(NULL, specs, 1, USER, 0));
	ck_assert_int_eq(errno, EINVAL);
	events = perfctr_events_open_with("perf_events", specs, 1, USER, PERFCTR_CAN_SAMPLE);
	ck_assert_ptr_nonnull(events);
	ck_assert_str_eq(perfctr_events_backend(events), "perf_events");
	perfctr_events_close(events);
	setenv("PERFCTR_BACKEND", "perf_events", 1);
	ck_assert_ptr_null(perfctr_events_open_with("nobody", specs, 1, USER, 0));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(marks_are_those_of_the_backend_that_is_named)
{
	uint64_t id;

	setenv("PERFCTR_BACKEND", "nobody", 1);
	ck_assert_int_eq(perfctr_mark_get_with("perf_events", 0, &id), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_int_eq(perfctr_mark_clear_with("perf_events", 0, PERFCTR_MARK_THREAD), -1);
	ck_assert_int_eq(errno, ENOTSUP);
	setenv("PERFCTR_BACKEND", "perf_events", 1);
	ck_assert_int_eq(perfctr_mark_get_with("nobody", 0, &id), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_mark_clear_with("nobody", 0, PERFCTR_MARK_THREAD), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(perfctr_mark_get_with(NULL, 0, &id), -1);
	ck_assert_int_eq(errno, ENOTSUP);
}
END_TEST

/* Counts the opens of the table by perfex itself, no matter which functions of the library it calls. */
static const struct {
	const char *arguments[10];
	int status;
} commands[] = {
	{ { "encode", "--pmu=nhm", "-e", "loads", "-e", "instructions", "-e", "other:k" }, 0 },
	{ { "encode", "--pmu=nhm", "-e", "no_such" }, 125 },
	{ { "check", "--pmu=nhm", "-e", "loads", "-e", "instructions", "-e", "other:k" }, 0 },
	{ { "list", "--pmu=nhm", "--long" }, 0 },
	{ { "list", "--pmu=p4" }, 0 },
};

START_TEST(a_command_reads_the_tables_once)
{
	ck_assert_int_eq(run_perfex(commands[_i].arguments).status, commands[_i].status);
	ck_assert_uint_eq(count_opens(table), 1);
}
END_TEST

TCase *opened_tests(void)
{
	TCase *tests = tcase_create("opened");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, enter, leave);
	tcase_add_test(tests, names_are_looked_up_in_tables_that_are_read_once);
	tcase_add_test(tests, who_changes_a_table_opens_the_events_again);
	tcase_add_test(tests, a_malformed_table_is_told_for_each_name);
	tcase_add_test(tests, events_know_their_machine);
	tcase_add_test(tests, events_of_a_backend_have_its_name);
	tcase_add_test(tests, marks_are_those_of_the_backend_that_is_named);
	tcase_add_loop_test(tests, a_command_reads_the_tables_once, 0, ARRAY_SIZE(commands));
	return tests;
}
