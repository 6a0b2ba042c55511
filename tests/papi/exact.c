// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Properties that PAPI's own tests do not show, or show by events that the emulator does not count:
 * exact counts of loops with a length known by hand, and what perfctr's component adds. Runs in the
 * emulated machine, with libpapi.so.
 */
#include <check.h>
#include <papi.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../guest/loop.h"

#define N 100000

static int set;

static void expect(int status)
{
	ck_assert_msg(status == PAPI_OK, "%s", PAPI_strerror(status));
}

static void setup(void)
{
	ck_assert_int_eq(PAPI_library_init(PAPI_VER_CURRENT), PAPI_VER_CURRENT);
	set = PAPI_NULL;
	expect(PAPI_create_eventset(&set));
}

static int named(const char *name)
{
	return PAPI_add_named_event(set, name);
}

static long long read_count(void)
{
	long long counts[8];

	expect(PAPI_read(set, counts));
	return counts[0];
}

/* Instructions between two reads around the loop. */
static long long count_loop(uint32_t n)
{
	long long start = read_count();

	loop(n);
	return read_count() - start;
}

/*
 * A switch that falls into a read makes it longer: the smallest of several differences is the
 * loop's.
 */
static void expect_exact_loops(void)
{
	long long once = count_loop(N), twice = count_loop(2 * N);

	for (int i = 0; i < 10; i++) {
		long long first = count_loop(N), second = count_loop(2 * N);

		if (first < once)
			once = first;
		if (second < twice)
			twice = second;
	}
	ck_assert_int_eq(twice - once, 2 * N);
}

START_TEST(a_loop_counts_what_it_has)
{
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_start(set));
	expect_exact_loops();
}
END_TEST

START_TEST(a_start_begins_with_0)
{
	long long count;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_start(set));
	loop(N);
	expect(PAPI_stop(set, &count));
	ck_assert_int_gt(count, 2 * N);
	loop(N);
	expect(PAPI_start(set));
	expect(PAPI_stop(set, &count));
	ck_assert_int_gt(count, 0);
	ck_assert_int_lt(count, 2 * N);
}
END_TEST

START_TEST(reset_and_write_set_the_count)
{
	long long count = 1000000000;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_start(set));
	loop(N);
	expect(PAPI_reset(set));
	ck_assert_int_lt(read_count(), 2 * N);
	expect(PAPI_write(set, &count));
	ck_assert_int_ge(read_count(), 1000000000);
	ck_assert_int_lt(read_count(), 1000000000 + 2 * N);
	expect_exact_loops();
}
END_TEST

/* Two sets of one thread take turns on its counters. */
START_TEST(sets_take_turns)
{
	int first = set, second = PAPI_NULL;
	long long count;

	expect(PAPI_add_event(first, PAPI_TOT_INS));
	expect(PAPI_create_eventset(&second));
	expect(PAPI_add_event(second, PAPI_TOT_CYC));
	expect(PAPI_add_event(second, PAPI_TOT_INS));
	for (int i = 0; i < 3; i++) {
		set = second;
		expect(PAPI_start(second));
		loop(N);
		expect(PAPI_stop(second, (long long[2]){ 0 }));
		set = first;
		expect(PAPI_start(first));
		expect_exact_loops();
		expect(PAPI_stop(first, &count));
	}
}
END_TEST

/*
 * Architectural events also have fixed counters. They leave the four others to events that need
 * them.
 */
START_TEST(seven_events_of_seven_counters)
{
	static const char *const general[] = {
		"MEM_INST_RETIRED:LOADS", "MEM_INST_RETIRED:STORES",
		"BR_INST_RETIRED:CONDITIONAL", "UOPS_ISSUED:ANY",
	};
	long long counts[7];

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_add_event(set, PAPI_TOT_CYC));
	for (int i = 0; i < 4; i++)
		expect(named(general[i]));
	expect(PAPI_add_event(set, PAPI_REF_CYC));
	ck_assert_int_eq(named("UOPS_RETIRED:ANY"), PAPI_ECNFLCT);
	expect(PAPI_start(set));
	expect_exact_loops();
	expect(PAPI_stop(set, counts));
	ck_assert_int_gt(counts[1], counts[0] / 2);
	ck_assert_int_gt(counts[6], counts[0] / 2);
}
END_TEST

/* Nehalem counts these events only on counters 0 and 1. */
START_TEST(an_event_gets_a_counter_that_can)
{
	expect(PAPI_add_event(set, PAPI_TOT_CYC));
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(named("L1D:REPL"));
	expect(named("L1D:M_REPL"));
	ck_assert_int_eq(named("L1D:M_EVICT"), PAPI_ECNFLCT);
	expect(PAPI_start(set));
}
END_TEST

START_TEST(a_mode_of_the_name_or_of_the_domain)
{
	PAPI_option_t option = { 0 };
	long long counts[2];

	expect(PAPI_assign_eventset_component(set, 0));
	option.domain.eventset = set;
	option.domain.domain = PAPI_DOM_KERNEL;
	expect(PAPI_set_opt(PAPI_DOMAIN, &option));
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(named("INSTRUCTION_RETIRED:u=1:k=0"));
	expect(PAPI_start(set));
	loop(50 * N);
	expect(PAPI_stop(set, counts));
	ck_assert_int_gt(counts[1], 2 * 50 * N);
	ck_assert_int_gt(counts[0], 0);
	ck_assert_int_lt(counts[0], 50 * N);
}
END_TEST

static void run_child(uint32_t n)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		loop(n);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
}

static long long count_child(uint32_t n)
{
	long long start = read_count();

	run_child(n);
	return read_count() - start;
}

static void set_inherit(int inherit)
{
	PAPI_option_t option = { 0 };

	expect(PAPI_assign_eventset_component(set, 0));
	option.inherit.eventset = set;
	option.inherit.inherit = inherit;
	expect(PAPI_set_opt(PAPI_INHERIT, &option));
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_start(set));
}

START_TEST(children_count_where_asked)
{
	set_inherit(PAPI_INHERIT_ALL);
	count_child(1);
	ck_assert_int_eq(count_child(2 * N) - count_child(N), 2 * N);
}
END_TEST

START_TEST(children_do_not_count_otherwise)
{
	set_inherit(PAPI_INHERIT_NONE);
	ck_assert_int_lt(count_child(10 * N), 10 * N);
}
END_TEST

/* A child finds its parent's event set and handle. It must not touch the parent's counts. */
START_TEST(a_child_leaves_its_parent_alone)
{
	pid_t pid;
	int status;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_start(set));
	pid = fork();
	if (pid == 0) {
		PAPI_shutdown();
		setup();
		expect(PAPI_add_event(set, PAPI_TOT_INS));
		expect(PAPI_start(set));
		expect_exact_loops();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	expect_exact_loops();
}
END_TEST

/* A process that has stopped itself, and executes a loop when the test lets it go. */
static pid_t start_stopped(uint32_t n)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		loop(n);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSTOPPED(status));
	return pid;
}

static long long count_attached(uint32_t n)
{
	pid_t pid = start_stopped(n);
	long long count;
	int status;

	expect(PAPI_attach(set, (unsigned long)pid));
	expect(PAPI_start(set));
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	expect(PAPI_stop(set, &count));
	expect(PAPI_detach(set));
	return count;
}

START_TEST(another_process_counts_exactly)
{
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	ck_assert_int_eq(count_attached(2 * N) - count_attached(N), 2 * N);
	/* After that the set belongs to the caller again. */
	expect(PAPI_start(set));
	expect_exact_loops();
}
END_TEST

START_TEST(no_such_process)
{
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	ck_assert_int_ne(PAPI_attach(set, 0x7ffffff0), PAPI_OK);
	expect(PAPI_start(set));
	expect_exact_loops();
}
END_TEST

static void run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static long long count_on_cpu(int counted, int used)
{
	PAPI_option_t option = { 0 };
	long long count;

	set = PAPI_NULL;
	expect(PAPI_create_eventset(&set));
	expect(PAPI_assign_eventset_component(set, 0));
	option.cpu.eventset = set;
	option.cpu.cpu_num = (unsigned int)counted;
	expect(PAPI_set_opt(PAPI_CPU_ATTACH, &option));
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	run_on(used);
	expect(PAPI_start(set));
	run_child(100 * N);
	expect(PAPI_stop(set, &count));
	expect(PAPI_cleanup_eventset(set));
	expect(PAPI_destroy_eventset(&set));
	return count;
}

/* More sets than counters: each set gives its counters back. */
START_TEST(a_cpu_counts_whoever_runs_there)
{
	for (int i = 0; i < 10; i++) {
		ck_assert_int_gt(count_on_cpu(0, 0), 200 * N);
		ck_assert_int_lt(count_on_cpu(0, 1), 100 * N);
	}
}
END_TEST

/* There is no such CPU. The set goes on counting the same thread or CPU. */
START_TEST(a_cpu_that_is_refused_changes_nothing)
{
	PAPI_option_t option = { 0 };
	long long count;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	option.cpu.eventset = set;
	option.cpu.cpu_num = CPU_SETSIZE - 1;
	ck_assert_int_ne(PAPI_set_opt(PAPI_CPU_ATTACH, &option), PAPI_OK);
	expect(PAPI_start(set));
	expect_exact_loops();
	expect(PAPI_stop(set, &count));
	option.cpu.cpu_num = 0;
	expect(PAPI_set_opt(PAPI_CPU_ATTACH, &option));
	option.cpu.cpu_num = CPU_SETSIZE - 1;
	ck_assert_int_ne(PAPI_set_opt(PAPI_CPU_ATTACH, &option), PAPI_OK);
	run_on(0);
	expect(PAPI_start(set));
	run_child(100 * N);
	expect(PAPI_stop(set, &count));
	ck_assert_int_gt(count, 200 * N);
}
END_TEST

START_TEST(what_needs_another_register_is_refused)
{
	ck_assert_int_ne(named("OFFCORE_RESPONSE_0:DMND_DATA_RD:LOCAL_DRAM"), PAPI_OK);
	ck_assert_int_ne(named("MEM_INST_RETIRED:LATENCY_ABOVE_THRESHOLD:ldlat=10"), PAPI_OK);
	ck_assert_int_ne(named("NO_SUCH_EVENT"), PAPI_OK);
	expect(PAPI_add_event(set, PAPI_TOT_INS));
}
END_TEST

/* A loop with known addresses. */
extern const char papi_loop_begin[], papi_loop_end[];

__attribute__((noinline)) static void known_loop(uint32_t n)
{
	__asm__ volatile("mov	%0, %%ecx\n"
			 "papi_loop_begin:\n\t"
			 "dec	%%ecx\n\t"
			 "jnz	papi_loop_begin\n"
			 "papi_loop_end:"
			 :
			 : "r"(n)
			 : "ecx", "cc");
}

static struct {
	volatile long long n, in_loop, vector, count;
	volatile int set;
} overflows;

static void note_overflow(int event_set, void *address, long long vector, void *context)
{
	(void)context;
	overflows.n++;
	overflows.in_loop += address >= (void *)papi_loop_begin && address < (void *)papi_loop_end;
	overflows.vector |= vector;
	overflows.set = event_set;
	overflows.count = read_count();
	loop(N); /* it is not counted */
}

#define THRESHOLD 10007
#define LONG (50 * N)

/* The set counts the loop. Returns the counts of its events, and notes the overflows. */
static void count_known_loop(long long *counts)
{
	memset((void *)&overflows, 0, sizeof(overflows));
	expect(PAPI_start(set));
	known_loop(LONG);
	expect(PAPI_stop(set, counts));
}

/* Instructions. PAPI_stop() reads the count, and then stops it: a threshold may lie between. */
#define READ_TO_STOP 500

/*
 * There are as many calls as the count has thresholds, less those that came too late for a call of
 * their own.
 */
static void expect_overflows(long long count, long long vector)
{
	long long late = (count + READ_TO_STOP) / THRESHOLD - overflows.n;

	ck_assert_int_gt(overflows.n, 0);
	ck_assert_int_ge(late, 0);
	ck_assert_int_le(late, count / THRESHOLD / 4);
	ck_assert_int_ge(overflows.in_loop, overflows.n - 2);
	ck_assert_int_eq(overflows.set, set);
	ck_assert_int_eq(overflows.vector, vector);
}

START_TEST(each_threshold_calls_the_handler_where_it_is_passed)
{
	long long plain, count, again;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	count_known_loop(&plain);
	expect(PAPI_overflow(set, PAPI_TOT_INS, THRESHOLD, 0, note_overflow));
	count_known_loop(&count);
	/*
	 * The same, except for the ways back from the handlers, and into and out of the calls
	 * around.
	 */
	ck_assert_int_ge(count, 2 * LONG);
	ck_assert_int_lt(count, plain + 100 * (count / THRESHOLD) + 1000);
	expect_overflows(count, 1);
	ck_assert_int_gt(overflows.count, count - 2 * THRESHOLD);

	/* The first threshold is that of a count that begins with 0. */
	count_known_loop(&again);
	expect_overflows(again, 1);

	expect(PAPI_overflow(set, PAPI_TOT_INS, 0, 0, note_overflow));
	count_known_loop(&again);
	ck_assert_int_eq(overflows.n, 0);
	ck_assert_int_lt(again, plain + 1000);
}
END_TEST

START_TEST(a_threshold_is_that_of_its_event_alone)
{
	long long counts[2];

	expect(PAPI_add_event(set, PAPI_TOT_CYC));
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_overflow(set, PAPI_TOT_INS, THRESHOLD, 0, note_overflow));
	count_known_loop(counts);
	expect_overflows(counts[1], 2);
}
END_TEST

START_TEST(a_threshold_stays_when_another_event_goes)
{
	long long counts[2];

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_add_event(set, PAPI_TOT_CYC));
	expect(PAPI_overflow(set, PAPI_TOT_INS, THRESHOLD, 0, note_overflow));
	expect(PAPI_remove_event(set, PAPI_TOT_CYC));
	count_known_loop(counts);
	expect_overflows(counts[0], 1);
}
END_TEST

START_TEST(a_profile_has_what_overflowed)
{
	static unsigned int buckets[64];
	const caddr_t start = (caddr_t)papi_loop_begin;
	long long count, sum = 0;

	expect(PAPI_add_event(set, PAPI_TOT_INS));
	/* A bucket for each byte. */
	expect(PAPI_profil(buckets, sizeof(buckets), start, 0x20000, set, PAPI_TOT_INS, THRESHOLD,
			   PAPI_PROFIL_POSIX | PAPI_PROFIL_BUCKET_32));
	count_known_loop(&count);
	for (int i = 0; i < 64; i++) {
		sum += buckets[i];
		if (i >= papi_loop_end - papi_loop_begin)
			ck_assert_uint_le(buckets[i], 1);
	}
	ck_assert_int_le(sum, (count + READ_TO_STOP) / THRESHOLD);
	ck_assert_int_ge(sum, count / THRESHOLD * 3 / 4);
}
END_TEST

START_TEST(nobody_gets_the_signals_of_a_set_that_is_attached)
{
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child)
		for (;;)
			pause();
	expect(PAPI_add_event(set, PAPI_TOT_INS));
	expect(PAPI_overflow(set, PAPI_TOT_INS, THRESHOLD, 0, note_overflow));
	PAPI_attach(set, (unsigned long)child);
	ck_assert_int_eq(PAPI_start(set), PAPI_EINVAL);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(nothing_is_claimed_that_is_not_there)
{
	const PAPI_component_info_t *component = PAPI_get_component_info(0);

	ck_assert_str_eq(component->name, "perf_event");
	ck_assert_int_eq(component->hardware_intr, 1);
	ck_assert_int_eq(component->kernel_profile, 0);
	ck_assert_int_eq(component->kernel_multiplex, 0);
	ck_assert_int_eq(component->disabled, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("papi");
	TCase *any = tcase_create("any"), *nehalem = tcase_create("nehalem");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(any, setup, NULL);
	tcase_set_timeout(any, 120);
	tcase_add_test(any, a_loop_counts_what_it_has);
	tcase_add_test(any, a_start_begins_with_0);
	tcase_add_test(any, reset_and_write_set_the_count);
	tcase_add_test(any, sets_take_turns);
	tcase_add_test(any, children_count_where_asked);
	tcase_add_test(any, children_do_not_count_otherwise);
	tcase_add_test(any, a_child_leaves_its_parent_alone);
	tcase_add_test(any, another_process_counts_exactly);
	tcase_add_test(any, no_such_process);
	tcase_add_test(any, a_cpu_that_is_refused_changes_nothing);
	tcase_add_test(any, each_threshold_calls_the_handler_where_it_is_passed);
	tcase_add_test(any, a_threshold_is_that_of_its_event_alone);
	tcase_add_test(any, a_threshold_stays_when_another_event_goes);
	tcase_add_test(any, a_profile_has_what_overflowed);
	tcase_add_test(any, nobody_gets_the_signals_of_a_set_that_is_attached);
	tcase_add_test(any, nothing_is_claimed_that_is_not_there);
	suite_add_tcase(suite, any);

	/* These tests use events and counters of that processor. */
	tcase_add_checked_fixture(nehalem, setup, NULL);
	tcase_set_timeout(nehalem, 120);
	tcase_add_test(nehalem, a_cpu_counts_whoever_runs_there);
	tcase_add_test(nehalem, seven_events_of_seven_counters);
	tcase_add_test(nehalem, an_event_gets_a_counter_that_can);
	tcase_add_test(nehalem, a_mode_of_the_name_or_of_the_domain);
	tcase_add_test(nehalem, what_needs_another_register_is_refused);
	suite_add_tcase(suite, nehalem);

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
