// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex report-machine: does it find false counts, and what does it report of a machine? */
#define _GNU_SOURCE
#include "../../perfex/tools/machine/machine.h"
#include "unit.h"
#include "command.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Three runs of each length of a loop with 2 instructions per iteration; reading counts 37. */
#define N_LENGTHS 3
static const uint64_t lengths[N_LENGTHS] = { 0, 1000, 100000 };

static void count_loops(struct loop_runs runs[N_LENGTHS], uint64_t overhead)
{
	memset(runs, 0, N_LENGTHS * sizeof(runs[0]));
	for (int i = 0; i < N_LENGTHS; i++) {
		runs[i].iterations = lengths[i];
		for (int k = 0; k < 3; k++)
			loop_runs_add(&runs[i], overhead + 2 * lengths[i]);
	}
}

START_TEST(exact_counts_fit_and_show_what_reading_costs)
{
	struct loop_runs runs[N_LENGTHS];
	struct loop_fit fit;

	count_loops(runs, 37);
	ck_assert(fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.overhead, 37);
	ck_assert_uint_eq(fit.beyond, 0);
	count_loops(runs, 0);
	ck_assert(fit_loops(runs, N_LENGTHS, 2, &fit));
}
END_TEST

/* Half of the instructions are counted, as if the counter ran half of the time. */
START_TEST(half_counts_do_not_fit)
{
	struct loop_runs runs[N_LENGTHS];
	struct loop_fit fit;

	count_loops(runs, 37);
	for (int i = 0; i < N_LENGTHS; i++) {
		runs[i].least /= 2;
		runs[i].sum /= 2;
		runs[i].allowed = 1000000;
	}
	ck_assert(!fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.bad, 1);
	ck_assert_uint_eq(fit.bad_missing, 37 / 2 + 2000 - 2037 / 2);
}
END_TEST

START_TEST(one_run_that_lacks_one_does_not_fit)
{
	struct loop_runs runs[N_LENGTHS];
	struct loop_fit fit;

	count_loops(runs, 37);
	loop_runs_add(&runs[2], 37 + 200000 - 1);
	runs[2].allowed = 1000000;
	ck_assert(!fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.bad, 2);
	ck_assert_uint_eq(fit.bad_missing, 1);
}
END_TEST

/* Three unexplained instructions in each run that has a loop, and in a single run. */
START_TEST(more_than_is_explained_does_not_fit)
{
	struct loop_runs runs[N_LENGTHS];
	struct loop_fit fit;

	count_loops(runs, 37);
	for (int i = 1; i < N_LENGTHS; i++) {
		runs[i].least += 3;
		runs[i].sum += 9;
		runs[i].allowed = 8;
	}
	ck_assert(!fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.bad_missing, 0);
	ck_assert_uint_eq(fit.bad_beyond, 9);
	count_loops(runs, 37);
	loop_runs_add(&runs[1], 37 + 2000 + 3);
	runs[1].allowed = 2;
	ck_assert(!fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.bad_beyond, 3);
}
END_TEST

START_TEST(what_interrupts_explain_fits_and_is_told)
{
	struct loop_runs runs[N_LENGTHS];
	struct loop_fit fit;

	count_loops(runs, 37);
	loop_runs_add(&runs[2], 37 + 200000 + 3);
	runs[2].allowed = 3;
	ck_assert(fit_loops(runs, N_LENGTHS, 2, &fit));
	ck_assert_uint_eq(fit.beyond, 3);
	ck_assert_uint_eq(fit.allowed, 3);
}
END_TEST

START_TEST(one_for_each_interrupt_and_fault_is_allowed_and_few_unseen)
{
	ck_assert_uint_eq(allowed_beyond(&(struct surroundings){ 0 }), 1);
	ck_assert_uint_eq(allowed_beyond(&(struct surroundings){ 5, 7, 2000000000 }), 33);
}
END_TEST

START_TEST(a_single_count_is_right_or_says_how_it_is_wrong)
{
	ck_assert_int_eq(judge_count(1000, 1000, 0), COUNT_RIGHT);
	ck_assert_int_eq(judge_count(1005, 1000, 5), COUNT_RIGHT);
	ck_assert_int_eq(judge_count(1006, 1000, 5), COUNT_EXCEEDS);
	ck_assert_int_eq(judge_count(999, 1000, 5), COUNT_MISSES);
	ck_assert_int_eq(judge_count(500, 1000, UINT64_MAX), COUNT_MISSES);
	ck_assert_int_eq(judge_count(UINT64_MAX, 1000, 5), COUNT_EXCEEDS);
}
END_TEST

START_TEST(a_thread_that_did_not_move_has_shown_nothing)
{
	ck_assert(judge_moves(100, 100));
	ck_assert(judge_moves(100, 3));
	ck_assert(!judge_moves(100, 0));
	ck_assert(!judge_moves(100, 101));
	ck_assert(!judge_moves(0, 0));
}
END_TEST

static bool reads_are_good(const uint64_t values[], unsigned int n)
{
	struct read_chain chain = { .work = 42, .slack = 1000 };

	for (unsigned int i = 0; i < n; i++)
		read_chain_add(&chain, values[i]);
	return judge_reads(&chain);
}
#define READS(...)                                                                                 \
	reads_are_good((const uint64_t[]){ __VA_ARGS__ },                                          \
		       ARRAY_SIZE(((const uint64_t[]){ __VA_ARGS__ })))

START_TEST(reads_neither_go_back_nor_miss_nor_have_foreign_counts)
{
	ck_assert(READS(0, 47, 94, 141));
	ck_assert(READS(1000000, 1000047, 1001000, 1001047));
	ck_assert(!READS(0, 47, 46, 93));
	ck_assert(!READS(0, 47, 88, 135));
	ck_assert(!READS(0, 47, 94, 1000141));
	/* Nothing was read. */
	ck_assert(!READS(0));
}
END_TEST

START_TEST(reads_go_back_by_what_is_known_at_most)
{
	struct read_chain chain = { .drift = 10 };

	read_chain_add(&chain, 1000);
	read_chain_add(&chain, 990);
	ck_assert(judge_reads(&chain));
	ck_assert_uint_eq(chain.most_back, 10);
	read_chain_add(&chain, 979);
	ck_assert(!judge_reads(&chain));
	ck_assert_uint_eq(chain.most_back, 11);
}
END_TEST

START_TEST(virtual_time_is_that_on_a_cpu)
{
	static const struct time_shares good = {
		.counted = 500, .elapsed = 1000, .on_cpu = 490, .asleep = 1, .slept = 1000
	};
	struct time_shares shares = good;

	ck_assert(judge_time(&good));
	/* First more than the elapsed time, then less than the time on a CPU. */
	shares.counted = 1100;
	ck_assert(!judge_time(&shares));
	shares.counted = 400;
	ck_assert(!judge_time(&shares));
	shares = good;
	shares.asleep = 900;
	ck_assert(!judge_time(&shares));
}
END_TEST

START_TEST(least_and_median_are_those_of_the_values)
{
	uint64_t values[] = { 9, 3, UINT64_MAX, 5, 4 };
	struct spread spread = find_spread(values, ARRAY_SIZE(values));

	ck_assert_uint_eq(spread.least, 3);
	ck_assert_uint_eq(spread.median, 5);
}
END_TEST

static FILE *open_text(const char *text)
{
	FILE *file = fmemopen((char *)text, strlen(text), "r");

	ck_assert_ptr_nonnull(file);
	return file;
}

/* The format of the kernel, with CPU 1 offline. */
START_TEST(interrupts_are_those_of_one_cpu_or_of_all)
{
	static const char text[] = "           CPU0       CPU2       CPU12\n"
				   "  0:         10        200       3000  IO-APIC   2-edge      timer\n"
				   " 24:          1          2          3  PCI-MSI 4096-edge      nvme0q0\n"
				   "LOC:        100        100        100   Local timer interrupts\n"
				   "ERR:          7\n";
	static const struct {
		int cpu;
		uint64_t n;
	} sums[] = { { 0, 118 }, { 2, 302 }, { 12, 3103 }, { -1, 3523 } };
	FILE *file = open_text(text);

	ck_assert_uint_eq(count_interrupts(file, sums[_i].cpu), sums[_i].n);
	fclose(file);
}
END_TEST

START_TEST(a_processor_is_the_first_of_cpuinfo_with_flags_of_counting_alone)
{
	static const char text[] = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
				   "model\t\t: 143\nmodel name\t: Intel(R) \033Xeon(R)\n"
				   "stepping\t: 8\nmicrocode\t: 0x2b000571\n"
				   "flags\t\t: fpu tsc msr art arch_perfmon pebs2 constant_tsc\n\n"
				   "processor\t: 1\nvendor_id\t: Another\n";
	struct identity identity = { 0 };
	FILE *file = open_text(text);

	identity_read_cpu(&identity, file);
	fclose(file);
	ck_assert_str_eq(identity.vendor, "GenuineIntel");
	ck_assert_str_eq(identity.family, "6");
	ck_assert_str_eq(identity.model, "143");
	ck_assert_str_eq(identity.model_name, "Intel(R) ?Xeon(R)");
	ck_assert_str_eq(identity.stepping, "8");
	ck_assert_str_eq(identity.microcode, "0x2b000571");
	ck_assert_str_eq(identity.flags, "arch_perfmon tsc constant_tsc");
	ck_assert(!identity.is_virtual);
}
END_TEST

START_TEST(a_report_says_how_each_check_ended_and_what_cut_it_short)
{
	static struct outcome outcomes[N_CHECKS] = {
		[0] = { VERDICT_PASSED, "", "one\ntwo\n" },
		[1] = { VERDICT_FAILED, "17 are missing", "" },
		[2] = { VERDICT_IMPOSSIBLE, "no reason", "" },
	};
	struct subject subject = { .why = "no counters" };
	struct identity identity = { .vendor = "Vendor" };
	struct machine_report report = { &identity, &subject, outcomes, 2, 1500000000 };
	char *text;
	size_t length;
	FILE *file = open_memstream(&text, &length);

	ck_assert_ptr_nonnull(file);
	write_machine_report(file, &report);
	fclose(file);
	ck_assert_ptr_nonnull(strstr(text, "\nvendor: Vendor\nfamily: unknown\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nevent branches: not possible: no counters\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nloops: passed\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  one\n  two\nmigration: failed: 17 are missing\n"));
	ck_assert_ptr_nonnull(strstr(text, "\ninheritance: not possible: no reason\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nseconds: 1.5\ncut short: signal 2 came"));
	ck_assert_ptr_nonnull(strstr(text, "\nchecks: 1 passed, 1 failed, 1 not possible, "
					   "0 measured, 7 not finished\n"));
	free(text);
}
END_TEST

static const struct {
	const char *arguments[4], *err;
} refused[] = {
	{ { "there" }, "perfex: perfex report-machine takes no argument, 'there' is one\n" },
	{ { "--seconds=1" }, "perfex: --seconds=1: give a number of seconds from 2 to 600\n" },
	{ { "--seconds=601" }, "perfex: --seconds=601: give a number of seconds from 2 to 600\n" },
	{ { "--output=there" },
	  "perfex: 'there' exists; give --force to replace it, or another by --output=FILE\n" },
	{ { "--output=missing/there" },
	  "perfex: cannot write 'missing/there': No such file or directory\n" },
	{ { "--force", "-o", "." }, "perfex: cannot write '.': Is a directory\n" },
};

START_TEST(what_is_refused_leaves_files_as_they_were)
{
	struct command_result result;
	char text[16] = "";
	FILE *file;

	enter_directory();
	write_text("there", "before\n");
	result = PERFEX("report-machine", refused[_i].arguments[0], refused[_i].arguments[1],
			refused[_i].arguments[2]);
	ck_assert_int_eq(result.status, 125);
	ck_assert_str_eq(result.err, refused[_i].err);
	ck_assert_str_eq(result.out, "");
	file = fopen("there", "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_nonnull(fgets(text, sizeof(text), file));
	fclose(file);
	ck_assert_str_eq(text, "before\n");
	leave_directory();
}
END_TEST

START_TEST(a_backend_that_does_not_exist_is_refused)
{
	struct command_result result;

	setenv("PERFCTR_BACKEND", "none", 1);
	enter_directory();
	result = PERFEX("report-machine", "-o", "new");
	unsetenv("PERFCTR_BACKEND");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_lt(access("new", F_OK), 0);
	leave_directory();
}
END_TEST

TCase *machine_tests(void)
{
	TCase *tests = tcase_create("machine");

	tcase_add_test(tests, exact_counts_fit_and_show_what_reading_costs);
	tcase_add_test(tests, half_counts_do_not_fit);
	tcase_add_test(tests, one_run_that_lacks_one_does_not_fit);
	tcase_add_test(tests, more_than_is_explained_does_not_fit);
	tcase_add_test(tests, what_interrupts_explain_fits_and_is_told);
	tcase_add_test(tests, one_for_each_interrupt_and_fault_is_allowed_and_few_unseen);
	tcase_add_test(tests, a_single_count_is_right_or_says_how_it_is_wrong);
	tcase_add_test(tests, a_thread_that_did_not_move_has_shown_nothing);
	tcase_add_test(tests, reads_neither_go_back_nor_miss_nor_have_foreign_counts);
	tcase_add_test(tests, reads_go_back_by_what_is_known_at_most);
	tcase_add_test(tests, virtual_time_is_that_on_a_cpu);
	tcase_add_test(tests, least_and_median_are_those_of_the_values);
	tcase_add_loop_test(tests, interrupts_are_those_of_one_cpu_or_of_all, 0, 4);
	tcase_add_test(tests, a_processor_is_the_first_of_cpuinfo_with_flags_of_counting_alone);
	tcase_add_test(tests, a_report_says_how_each_check_ended_and_what_cut_it_short);
	tcase_add_loop_test(tests, what_is_refused_leaves_files_as_they_were, 0,
			    ARRAY_SIZE(refused));
	tcase_add_test(tests, a_backend_that_does_not_exist_is_refused);
	return tests;
}
