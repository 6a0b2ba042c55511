// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random sequences: a CPU goes offline and comes back, contexts, sessions, perf_events and the NMI
 * watchdog begin and end, the machine sleeps. The holder of the counters counts exactly, a second
 * caller is refused, and at the end all run as if nothing had happened.
 *
 * The number of an iteration is the seed of its sequence. Each message contains the sequence.
 */
#include "marks.h"
#include "msr.h"
#include "suspend.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"
#define FIXED_CTR_CTRL 0x38d /* and the counter of cycles that the watchdog uses (SDM volume 4) */
#define FIXED_CTR1 0x30a
#define SEEDS 16
#define STEPS 30

/* The state of the machine. -1: there is none. */
static struct {
	bool online;	  /* CPU 1 */
	bool watchdog_on; /* according to its file */
	bool watched[2];  /* the watchdog of the CPU found the counters free */
	pid_t perf_pid, context_pid, session_pid;
	int perf, context, session, mark_fd;
} now;

static char story[STEPS * 24];
static uint64_t random_state;

#define HOLDS(condition) ck_assert_msg(condition, "%s after:%s", #condition, story)

/* Xorshift. */
static unsigned int choose(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (random_state >> 33) % n;
}

/*
 * A program that has ended holds nothing. One that has not is stopped for this step, so that it
 * does not end now.
 */
static bool context_holds(void)
{
	siginfo_t end = { 0 };

	if (now.context < 0)
		return false;
	ck_assert_int_eq(kill(now.context_pid, SIGSTOP), 0);
	ck_assert_int_eq(waitid(P_PID, now.context_pid, &end, WEXITED | WSTOPPED | WNOWAIT), 0);
	return end.si_code == CLD_STOPPED;
}

static void let_context_go_on(void)
{
	if (now.context >= 0)
		ck_assert_int_eq(kill(now.context_pid, SIGCONT), 0);
}

static bool ours(void)
{
	return context_holds() || now.session >= 0;
}

static bool theirs(void)
{
	return now.perf >= 0 || now.watched[0] || now.watched[1];
}

/* More often CPU 1, which goes offline and comes back. */
static int some_cpu(void)
{
	return now.online && choose(4) > 0;
}

static void change_cpu(void)
{
	bool watched = now.watchdog_on && !ours();

	now.online = !now.online;
	write_file(CPU1_ONLINE, now.online ? "1" : "0");
	now.watched[1] = now.online && watched;
}

static void change_watchdog(void)
{
	bool free = !ours();

	now.watchdog_on = !now.watchdog_on;
	write_file(NMI_WATCHDOG, now.watchdog_on ? "1" : "0");
	now.watched[0] = now.watchdog_on && free;
	now.watched[1] = now.watched[0] && now.online;
}

/*
 * Returns true if the program ran to its end, so that its count must be exact. Otherwise kills it.
 */
static bool end_program(pid_t pid)
{
	if (choose(4) == 0) {
		expect_success(pid);
		return true;
	}
	kill_and_wait(pid);
	return false;
}

static int perf_open_instructions(pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void begin_perf(int cpu)
{
	bool held = ours();

	now.perf_pid = stopped_start(cpu, COMMAND(program("loop-long")));
	now.perf = perf_open_instructions(now.perf_pid);
	HOLDS(held ? now.perf == -1 && errno == EBUSY : now.perf >= 0);
	if (now.perf < 0)
		kill_and_wait(now.perf_pid);
	else
		stopped_go(now.perf_pid);
}

static void end_perf(void)
{
	uint64_t count;

	if (end_program(now.perf_pid)) {
		HOLDS(read(now.perf, &count, sizeof(count)) == sizeof(count));
		HOLDS(count == LOOP_INSTRUCTIONS(LONG_LOOP));
	}
	close(now.perf);
	now.perf = -1;
}

static void change_perf(void)
{
	if (now.perf >= 0)
		end_perf();
	else
		begin_perf(some_cpu());
}

static void begin_context(int cpu)
{
	int error;

	now.context_pid = stopped_start(cpu, COMMAND(program("loop-long")));
	now.context = context_open(now.context_pid, PERFCTR_OPEN_CREATE);
	error = try_context_control(now.context, EVENTS({ 0, USER(INSTRUCTIONS) },
							{ PERFCTR_FIXED, USER(FIXED) }))
			? errno
			: 0;
	HOLDS(error == (theirs() ? EBUSY : 0));
	if (!error) {
		stopped_go(now.context_pid);
		return;
	}
	kill_and_wait(now.context_pid);
	close(now.context);
	now.context = -1;
}

static void end_context(void)
{
	struct perfctr_counts counts;

	if (end_program(now.context_pid)) {
		counts = context_read(now.context);
		HOLDS(counts.counter[0] == LOOP_INSTRUCTIONS(LONG_LOOP));
		HOLDS(counts.counter[1] == LOOP_INSTRUCTIONS(LONG_LOOP));
	}
	close(now.context);
	now.context = -1;
}

static void change_context(void)
{
	if (now.context >= 0)
		end_context();
	else
		begin_context(some_cpu());
}

static void close_session(void)
{
	close(now.session);
	close(now.mark_fd);
	now.session = -1;
}

static void begin_session(int cpu)
{
	struct perfctr_control control;
	int error;

	now.mark_fd = mark_open();
	now.session = session_open(now.mark_fd, NOT_PRIVILEGED | MARKED);
	error = try_session_control(now.session,
				    SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 },
						   { { PERFCTR_FIXED + 2, USER(FIXED) }, 0 }),
				    &control)
			? errno
			: 0;
	HOLDS(error == (theirs() ? EBUSY : 0));
	if (error)
		close_session();
	else
		now.session_pid = marked_start(now.mark_fd, cpu, COMMAND(program("loop-long")));
}

static void end_session(void)
{
	struct perfctr_counts counts;

	if (end_program(now.session_pid)) {
		counts = context_read(now.session);
		HOLDS(counts.counter[0] == LOOP_INSTRUCTIONS(LONG_LOOP));
		HOLDS(counts.counter[1] == LOOP_INSTRUCTIONS(LONG_LOOP));
	}
	close_session();
}

static void change_session(void)
{
	if (now.session >= 0)
		end_session();
	else
		begin_session(some_cpu());
}

static void sleep_and_wake(void)
{
	suspend_is_a_test();
	suspend();
}

static const struct {
	const char *name;
	void (*take)(void);
} steps[] = {
	{ "cpu", change_cpu },	       { "watchdog", change_watchdog }, { "perf", change_perf },
	{ "context", change_context }, { "session", change_session },	{ "sleep", sleep_and_wake },
};
#define WITH_SLEEP ARRAY_SIZE(steps)
#define WITHOUT_SLEEP (WITH_SLEEP - 1)

static void expect_watched(int cpu)
{
	uint64_t before = msr_read(cpu, FIXED_CTR1);

	HOLDS(msr_read(cpu, FIXED_CTR_CTRL) & 0xf0);
	sleep_us(20000);
	HOLDS(msr_read(cpu, FIXED_CTR1) != before);
}

static void end_all(void)
{
	if (now.perf >= 0)
		end_perf();
	if (now.context >= 0)
		end_context();
	if (now.session >= 0)
		end_session();
	if (!now.online)
		change_cpu();
}

/* Each in turn, on each CPU, with the watchdog in between. */
static void expect_all_right(void)
{
	end_all();
	for (int cpu = 0; cpu < 2; cpu++)
		if (now.watched[cpu])
			expect_watched(cpu);
	if (now.watchdog_on)
		change_watchdog();
	for (int cpu = 0; cpu < 2; cpu++) {
		begin_perf(cpu);
		end_perf();
		begin_context(cpu);
		begin_session(cpu);
		end_context();
		end_session();
		change_watchdog();
		expect_watched(cpu);
		begin_perf(cpu);
		end_perf();
		change_watchdog();
	}
}

static void begin_from_nothing(unsigned int seed)
{
	if (read_number(CPU1_ONLINE) == 0)
		write_file(CPU1_ONLINE, "1");
	write_file(NMI_WATCHDOG, "0");
	now.online = true;
	now.perf = now.context = now.session = -1;
	random_state = seed * 0x9e3779b97f4a7c15ull;
	pin(0, 0);
}

static void follow_sequence(unsigned int seed, size_t n_steps)
{
	begin_from_nothing(seed);
	for (int i = 0; i < STEPS; i++) {
		unsigned int step = choose(n_steps);

		strcat(story, " ");
		strcat(story, steps[step].name);
		steps[step].take();
		let_context_go_on();
		for (int cpu = 0; cpu < 2; cpu++)
			if (now.watched[cpu])
				expect_watched(cpu);
	}
	expect_all_right();
}

START_TEST(after_every_order_of_coming_and_going_all_count_as_before)
{
	follow_sequence(_i, WITHOUT_SLEEP);
}
END_TEST

START_TEST(and_so_they_do_when_the_machine_sleeps_in_between)
{
	follow_sequence(_i, WITH_SLEEP);
}
END_TEST

static Suite *make_loop_suite(const char *name, const TTest *test)
{
	Suite *suite = suite_create(name);
	TCase *tcase = tcase_create(test->name);

	tcase_add_loop_test(tcase, test, 1, 1 + (int)test_rounds(SEEDS));
	suite_add_tcase(suite, tcase);
	return suite;
}

Suite *sequences_suite(void)
{
	return make_loop_suite("sequences",
			       after_every_order_of_coming_and_going_all_count_as_before);
}

/* Without files of the host: see suspend.c. */
Suite *sequences_sleep_suite(void)
{
	return make_loop_suite("sequences_sleep",
			       and_so_they_do_when_the_machine_sleeps_in_between);
}
