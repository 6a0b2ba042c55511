// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Others write to counters that the driver holds, as interrupts of processor trace and virtual
 * machines do. The tests do so through /dev/cpu/N/msr. The driver notices the writes, restores the
 * registers and tells the user.
 */
#include "guest.h"
#include "msr.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU		1
#define IA32_PERFEVTSEL0 0x186
#define FIXED_CTR_CTRL	0x38d
#define GLOBAL_CTRL	0x38f
#define IA32_A_PMC0	0x4c1
#define TICKS_MS	200	/* many timer ticks */
#define TRIES		20

static void sleep_ms(unsigned int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000l }, NULL);
}

/*
 * A program that runs only on CPU 1, counts instructions on counters 0 and fixed 0, and never
 * sleeps.
 */
static struct counted spinner;

static void start_spinner(void)
{
	pin(0, 0);
	spinner = counted_start(CPU, COMMAND(program("loop-huge")),
				EVENTS({ 0, USER(INSTRUCTIONS) },
				       { PERFCTR_FIXED, USER(FIXED) }));
	sleep_ms(TICKS_MS);
}

static void end_spinner(void)
{
	kill_and_wait(spinner.pid);
	close(spinner.fd);
}

static bool is_flagged(int fd)
{
	return context_read(fd).flags & PERFCTR_COUNTS_DISTURBED;
}

/*
 * A switch that comes before the next tick restores the register before the driver has noticed. So
 * this tries again until the driver has noticed.
 */
static void disturb(uint32_t msr, uint64_t value)
{
	uint64_t before = pmu_info().disturbances;

	for (int i = 0; i < TRIES && pmu_info().disturbances == before; i++) {
		msr_write(CPU, msr, value);
		sleep_ms(TICKS_MS);
	}
	ck_assert_uint_gt(pmu_info().disturbances, before);
}

static void disturb_spinner(uint32_t msr, uint64_t value)
{
	disturb(msr, value);
	ck_assert(is_flagged(spinner.fd));
}

/* Both counters count again, and count the same. */
static void expect_put_right(void)
{
	struct perfctr_counts first = context_read(spinner.fd), second;

	sleep_ms(TICKS_MS);
	second = context_read(spinner.fd);
	ck_assert_uint_gt(second.counter[0], first.counter[0]);
	ck_assert_uint_eq(second.counter[0] - first.counter[0],
			  second.counter[1] - first.counter[1]);
}

START_TEST(who_is_not_disturbed_is_not_flagged)
{
	uint64_t before = pmu_info().disturbances;

	start_spinner();
	ck_assert(!is_flagged(spinner.fd));
	ck_assert_uint_eq(pmu_info().disturbances, before);
	end_spinner();
}
END_TEST

START_TEST(counters_that_somebody_stops_go_on_and_it_is_told)
{
	start_spinner();
	disturb_spinner(GLOBAL_CTRL, 0);
	expect_put_right();
	end_spinner();
}
END_TEST

START_TEST(counters_that_somebody_starts_are_stopped_again)
{
	uint64_t running;

	start_spinner();
	running = msr_read(CPU, GLOBAL_CTRL);
	ck_assert_uint_eq(running, 1ull << 32 | 1);
	disturb_spinner(GLOBAL_CTRL, running | 0xe);
	ck_assert_uint_eq(msr_read(CPU, GLOBAL_CTRL), running);
	end_spinner();
}
END_TEST

START_TEST(an_event_that_somebody_replaces_is_selected_again)
{
	start_spinner();
	disturb_spinner(IA32_PERFEVTSEL0, USER(BRANCHES));
	ck_assert_uint_eq(msr_read(CPU, IA32_PERFEVTSEL0), USER(INSTRUCTIONS));
	expect_put_right();
	end_spinner();
}
END_TEST

START_TEST(a_fixed_counter_that_somebody_stops_goes_on)
{
	start_spinner();
	disturb_spinner(FIXED_CTR_CTRL, 0);
	expect_put_right();
	end_spinner();
}
END_TEST

START_TEST(sums_do_not_go_back_when_somebody_clears_a_counter)
{
	struct perfctr_counts first, second;

	start_spinner();
	first = context_read(spinner.fd);
	disturb_spinner(IA32_A_PMC0, 0);
	second = context_read(spinner.fd);
	ck_assert_uint_ge(second.counter[0], first.counter[0]);
	expect_put_right();
	end_spinner();
}
END_TEST

START_TEST(a_new_control_is_not_flagged_for_the_old_one)
{
	start_spinner();
	disturb_spinner(GLOBAL_CTRL, 0);
	context_control(spinner.fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(!is_flagged(spinner.fd));
	end_spinner();
}
END_TEST

START_TEST(a_tree_keeps_the_flag_of_a_member_that_has_exited)
{
	int fd = tree_open(PERFCTR_CONTROL_INHERIT);
	pid_t child = fork();

	if (!child) {
		pin(0, CPU);
		for (;;)
			;
	}
	pin(0, 0);
	sleep_ms(TICKS_MS);
	disturb(GLOBAL_CTRL, 0);
	kill(child, SIGKILL);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert(context_read_scope(fd, PERFCTR_SCOPE_TREE).flags & PERFCTR_COUNTS_DISTURBED);
	ck_assert(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).flags & PERFCTR_COUNTS_DISTURBED);
	ck_assert(!(context_read_scope(fd, PERFCTR_SCOPE_SELF).flags & PERFCTR_COUNTS_DISTURBED));
	close(fd);
}
END_TEST

/* A session that always counts, also in the idle thread. */
static int open_session(void)
{
	struct perfctr_session_args open = { .size = sizeof(open), .mark = -1 };
	struct perfctr_control control = control_of(EVENTS({ 1, BOTH(INSTRUCTIONS) }));
	int device = device_open(), fd = ioctl(device, PERFCTR_IOC_SESSION, &open);

	ck_assert_msg(fd >= 0, "session: %s", strerror(errno));
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	close(device);
	return fd;
}

START_TEST(a_session_that_is_disturbed_is_flagged)
{
	int fd = open_session();
	struct perfctr_counts first, second;

	start_spinner();
	first = context_read_scope(fd, PERFCTR_SCOPE_SELF);
	ck_assert(!(first.flags & PERFCTR_COUNTS_DISTURBED));
	msr_write(CPU, IA32_A_PMC0 + 1, 0);
	disturb_spinner(GLOBAL_CTRL, 0);
	second = context_read_scope(fd, PERFCTR_SCOPE_SELF);
	ck_assert(second.flags & PERFCTR_COUNTS_DISTURBED);
	ck_assert_uint_ge(second.counter[0], first.counter[0]);
	end_spinner();
	close(fd);
}
END_TEST

/* No counter goes back: only the registers show the disturbance. */
START_TEST(a_session_whose_registers_others_write_is_flagged)
{
	int fd = open_session();

	start_spinner();
	disturb_spinner(GLOBAL_CTRL, 0);
	ck_assert(context_read_scope(fd, PERFCTR_SCOPE_SELF).flags & PERFCTR_COUNTS_DISTURBED);
	end_spinner();
	close(fd);
}
END_TEST

/* Disturbs the CPU again and again, until it is killed. */
static pid_t start_disturber(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	while (!pid) {
		sleep_ms(20);
		msr_write(CPU, GLOBAL_CTRL, 0);
	}
	return pid;
}

static bool perfex_complains(void)
{
	char command[256];

	snprintf(command, sizeof(command),
		 "taskset -c %d perfex run -e instructions:u -- %s 2>disturbed.err >/dev/null", CPU,
		 program("loop-long"));
	ck_assert_int_eq(system(command), 0);
	return system("grep -q 'somebody else wrote to the counters' disturbed.err") == 0;
}

START_TEST(perfex_says_that_its_counts_are_wrong)
{
	pid_t disturber;

	pin(0, 0);
	ck_assert(!perfex_complains());
	disturber = start_disturber();
	ck_assert(perfex_complains());
	kill(disturber, SIGKILL);
	ck_assert_int_eq(waitpid(disturber, NULL, 0), disturber);
	unlink("disturbed.err");
	ck_assert_int_eq(system("perfex info | grep -qE '^times disturbed: [1-9]'"), 0);
}
END_TEST

SUITE(disturbed, who_is_not_disturbed_is_not_flagged,
      counters_that_somebody_stops_go_on_and_it_is_told,
      counters_that_somebody_starts_are_stopped_again,
      an_event_that_somebody_replaces_is_selected_again,
      a_fixed_counter_that_somebody_stops_goes_on,
      sums_do_not_go_back_when_somebody_clears_a_counter,
      a_new_control_is_not_flagged_for_the_old_one,
      a_tree_keeps_the_flag_of_a_member_that_has_exited, a_session_that_is_disturbed_is_flagged,
      a_session_whose_registers_others_write_is_flagged,
      BY_THE_CLOCK, perfex_says_that_its_counts_are_wrong)
