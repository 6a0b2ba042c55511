// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that lacks a CPU keeps nobody else waiting. It has the lowest priority, and busy threads
 * take its CPU from it at any point of a call. With preempt=full that is any point of the driver.
 */
#include "guest.h"

#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#define ROUNDS 800
#define HOG_US 5000
#define LONGEST_US 2500
#define PAUSE_US 300

typedef void (*call_fn)(int fd, unsigned int counter);

static uint64_t ticks_of(unsigned int us)
{
	return (uint64_t)pmu_info().tsc_khz * us / 1000;
}

static void start_and_stop(int fd, unsigned int counter)
{
	(void)counter;
	EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	EXPECT(ioctl(fd, PERFCTR_IOC_START) == 0);
}

/* Two controls in turn: the kernel adds one, and frees the other. */
static void control(int fd, unsigned int counter)
{
	EXPECT(try_context_control(fd, EVENTS({ counter, USER(BRANCHES) })) == 0);
	EXPECT(try_context_control(fd, EVENTS({ counter, USER(INSTRUCTIONS) })) == 0);
}

static int device;

/*
 * The kernel looks up the user, because the context is charged to that user. The device is opened
 * before, because misc_open() takes a mutex.
 */
static void open_and_close(int fd, unsigned int counter)
{
	struct perfctr_open_args args = { .size = sizeof(args) };
	int again = ioctl(device, PERFCTR_IOC_OPEN, &args);

	(void)fd;
	(void)counter;
	EXPECT(again >= 0);
	EXPECT(close(again) == 0);
}

/* Another user, on CPU 0. */
static pid_t starved_start(call_fn call)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	pin(0, 0);
	become_nobody();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* the change of user id has cleared it */
	EXPECT(sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }) == 0);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })) == 0);
	for (;;)
		call(fd, 0);
}

/* Takes CPU 0 again and again. */
static pid_t hog_start(void)
{
	uint64_t ticks = ticks_of(HOG_US), start;
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, 0);
	for (;;) {
		sleep_us(PAUSE_US);
		for (start = rdtsc(); rdtsc() - start < ticks;)
			;
	}
}

/* The caller goes to CPU 1, where nobody else runs. */
static void keeps_nobody_waiting(call_fn call)
{
	uint64_t end = ticks_of(ROUNDS * (HOG_US + PAUSE_US)), limit = ticks_of(LONGEST_US);
	uint64_t begin, start, longest = 0;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	pid_t starved, hog;

	device = device_open();
	context_control(fd, EVENTS({ 1, USER(INSTRUCTIONS) }));
	pin(0, 1);
	starved = starved_start(call);
	hog = hog_start();
	for (begin = start = rdtsc(); start - begin < end; start = rdtsc()) {
		uint64_t ticks;

		call(fd, 1);
		ticks = rdtsc() - start;
		longest = ticks > longest ? ticks : longest;
	}
	kill_and_wait(hog);
	kill_and_wait(starved);
	close(device);
	close(fd);
	ck_assert_uint_lt(longest, limit);
}

START_TEST(a_starved_thread_that_starts_and_stops_keeps_nobody_waiting)
{
	keeps_nobody_waiting(start_and_stop);
}
END_TEST

START_TEST(a_starved_thread_that_sets_controls_keeps_nobody_waiting)
{
	keeps_nobody_waiting(control);
}
END_TEST

START_TEST(a_starved_thread_that_opens_contexts_keeps_nobody_waiting)
{
	keeps_nobody_waiting(open_and_close);
}
END_TEST

SUITE(starved, a_starved_thread_that_starts_and_stops_keeps_nobody_waiting,
      a_starved_thread_that_sets_controls_keeps_nobody_waiting,
      a_starved_thread_that_opens_contexts_keeps_nobody_waiting)
