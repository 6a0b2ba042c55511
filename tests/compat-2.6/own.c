// SPDX-License-Identifier: GPL-2.0-or-later
/* A thread's own counters. */
#include "old.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/*
 * Instructions around the loop drop out of the difference. The first time may take more, and a
 * switch that falls into a read makes it longer: so the smallest of several is used.
 */
bool own_instructions_are_counted(void)
{
	static const uint32_t iterations[] = { 1, ITERATIONS, 3 * ITERATIONS };
	struct perfctr_sum_ctrs before, after;
	struct vperfctr *self = counting(control_of_all());
	unsigned long long counted[3][2] = { { 0 } };
	bool good = true;

	REQUIRE(self);
	good = EXPECT(vperfctr_is_running(self));
	for (unsigned int n = 0; good && n < 15; n++) {
		unsigned long long *smallest = counted[n % 3];

		good = EXPECT(vperfctr_read_ctrs(self, &before) == 0);
		loop(iterations[n % 3]);
		good = good && EXPECT(vperfctr_read_ctrs(self, &after) == 0) &&
		       EXPECT(after.tsc > before.tsc);
		for (unsigned int k = 0; k < machine.n_events; k++)
			if (n < 3 || after.pmc[k] - before.pmc[k] < smallest[k])
				smallest[k] = after.pmc[k] - before.pmc[k];
	}
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(counted[2][k] - counted[1][k] == 4ull * ITERATIONS) &&
		       EXPECT(vperfctr_read_pmc(self, k) > after.pmc[k]);
	end_state(self);
	return good;
}

/* Programs have one table of events for all counters. Fixed ones take modes, but no event. */
bool a_fixed_counter_takes_no_event(void)
{
	struct vperfctr_control control = control_of_tsc();
	bool is_there = machine.n_counters == 5 || machine.n_counters == 7;
	struct perfctr_sum_ctrs before, after;
	struct vperfctr *self = counting(control);
	bool good;

	REQUIRE(self);
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = 0x40000000;
	control.cpu_control.evntsel[0] = 0x01c501c0;
	if (is_there)
		good = EXPECT(vperfctr_control(self, &control) == 0) &&
		       EXPECT(vperfctr_read_ctrs(self, &before) == 0);
	else
		good = REFUSED(vperfctr_control(self, &control), EINVAL);
	loop(ITERATIONS);
	if (good && is_there)
		good = EXPECT(vperfctr_read_ctrs(self, &after) == 0) &&
		       EXPECT(after.pmc[0] - before.pmc[0] > 2 * ITERATIONS) &&
		       EXPECT(after.pmc[0] - before.pmc[0] < 3 * ITERATIONS);
	control.cpu_control.evntsel[0] |= 1u << 21;
	good = good && REFUSED(vperfctr_control(self, &control), is_there ? EPERM : EINVAL);
	end_state(self);
	return good;
}

/* A run time system reads its clock in this way. */
bool the_time_stamp_is_read_a_million_times(void)
{
	uint64_t start = rdtsc();
	struct vperfctr *self = counting(control_of_tsc());
	unsigned long long last = 0, now;
	bool good = true;

	REQUIRE(self);
	for (unsigned int i = 0; good && i < 1000000; i++) {
		now = vperfctr_read_tsc(self);
		good = EXPECT(now > last);
		last = now;
	}
	good = good && EXPECT(last <= rdtsc() - start);
	end_state(self);
	return good;
}

bool a_second_handle_controls(void)
{
	struct vperfctr_control control = control_of_all(), read_back;
	struct perfctr_sum_ctrs first, second;
	struct vperfctr *self = counting(control_of_tsc()), *other;
	bool good;

	REQUIRE(self);
	good = REFUSED_POINTER(vperfctr_open(), EEXIST) &&
	       REFUSED_POINTER(vperfctr_open_mode(VPERFCTR_OPEN_CREAT_EXCL), EEXIST) &&
	       REFUSED_POINTER(vperfctr_open_mode(1), EINVAL);
	other = vperfctr_open_mode(0);
	REQUIRE(other);
	control.si_signo = 27;
	control.preserve = 1;
	good = good && EXPECT(vperfctr_control(other, &control) == 0) &&
	       EXPECT(vperfctr_read_state(self, &first, &read_back) == 0);
	/* The field is an order for one time. */
	control.preserve = 0;
	good = good &&
	       EXPECT(is_same(&read_back, &control, sizeof(control))) &&
	       EXPECT(vperfctr_read_ctrs(other, &second) == 0) && EXPECT(second.tsc > first.tsc);
	vperfctr_close(self);
	good = good && EXPECT(vperfctr_is_running(other)) &&
	       EXPECT(vperfctr_read_ctrs(other, &first) == 0) && EXPECT(first.tsc > second.tsc);
	/* A handle may be used as one of either kind, as one program does. */
	good = good && EXPECT(rvperfctr_stop((struct rvperfctr *)other) == 0) &&
	       EXPECT(!vperfctr_is_running(other));
	end_state(other);
	return good;
}

bool a_state_stays_when_handles_are_closed(void)
{
	struct vperfctr *self = counting(control_of_all());
	struct perfctr_sum_ctrs sum;
	bool good;

	REQUIRE(self);
	vperfctr_close(self);
	loop(ITERATIONS);
	good = REFUSED_POINTER(vperfctr_open(), EEXIST);
	self = vperfctr_open_mode(0);
	REQUIRE(self);
	good = good && EXPECT(vperfctr_read_ctrs(self, &sum) == 0) && EXPECT(sum.tsc > 0);
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(sum.pmc[k] > 2 * ITERATIONS);
	end_state(self);
	return good && REFUSED_POINTER(vperfctr_open_mode(0), EPERM);
}

bool preserved_counters_go_on(void)
{
	struct vperfctr_control control = control_of_all();
	struct vperfctr *self = counting(control);
	struct perfctr_sum_ctrs before, after;
	bool good;

	REQUIRE(self);
	if (!machine.n_events) {
		end_state(self);
		return true;
	}
	loop(ITERATIONS);
	control.preserve = 1;
	good = EXPECT(vperfctr_read_ctrs(self, &before) == 0) &&
	       EXPECT(vperfctr_control(self, &control) == 0) &&
	       EXPECT(vperfctr_read_ctrs(self, &after) == 0) &&
	       EXPECT(after.pmc[0] > before.pmc[0]) &&
	       EXPECT(after.pmc[0] < before.pmc[0] + ITERATIONS) &&
	       EXPECT(after.pmc[1] < ITERATIONS) && EXPECT(vperfctr_stop(self) == 0) &&
	       EXPECT(vperfctr_read_ctrs(self, &before) == 0) &&
	       EXPECT(vperfctr_control(self, &control) == 0) &&
	       EXPECT(vperfctr_read_state(self, &after, NULL) == 0) &&
	       EXPECT(after.pmc[0] > before.pmc[0]) &&
	       EXPECT(after.pmc[0] < before.pmc[0] + ITERATIONS);
	end_state(self);
	return good;
}

bool the_time_stamp_goes_on(void)
{
	struct vperfctr_control with = control_of_all(), without = control_of_all();
	struct vperfctr *self = counting(with);
	unsigned long long running, stopped, again;
	bool good;

	REQUIRE(self);
	loop(ITERATIONS);
	running = vperfctr_read_tsc(self);
	good = EXPECT(running > 0) && EXPECT(vperfctr_stop(self) == 0);
	stopped = vperfctr_read_tsc(self);
	loop(ITERATIONS);
	good = good && EXPECT(stopped >= running) && EXPECT(vperfctr_read_tsc(self) == stopped) &&
	       EXPECT(vperfctr_control(self, &with) == 0);
	again = vperfctr_read_tsc(self);
	good = good && EXPECT(again > stopped) && EXPECT(vperfctr_control(self, &with) == 0) &&
	       EXPECT(vperfctr_read_tsc(self) > again);
	without.cpu_control.tsc_on = 0;
	if (good && machine.n_events)
		good = EXPECT(vperfctr_control(self, &without) == 0) &&
		       EXPECT(vperfctr_read_tsc(self) == 0) && EXPECT(vperfctr_is_running(self));
	end_state(self);
	return good;
}

bool sums_stay_after_stop_and_unlink(void)
{
	struct vperfctr *self = counting(control_of_all());
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs stopped, sum;
	bool good;

	REQUIRE(self);
	loop(ITERATIONS);
	good = EXPECT(vperfctr_stop(self) == 0) && EXPECT(!vperfctr_is_running(self)) &&
	       EXPECT(vperfctr_read_ctrs(self, &stopped) == 0) && EXPECT(stopped.tsc > 0);
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(stopped.pmc[k] > 2 * ITERATIONS) &&
		       EXPECT(vperfctr_read_pmc(self, k) == stopped.pmc[k]);
	good = good && EXPECT(vperfctr_unlink(self) == 0) && EXPECT(vperfctr_unlink(self) == 0) &&
	       EXPECT(vperfctr_read_ctrs(self, &sum) == 0) &&
	       EXPECT(is_same(&sum, &stopped, sizeof(sum))) &&
	       EXPECT(vperfctr_read_state(self, &sum, NULL) == 0) &&
	       EXPECT(is_same(&sum, &stopped, sizeof(sum))) &&
	       EXPECT(vperfctr_read_tsc(self) == stopped.tsc) &&
	       EXPECT(!vperfctr_is_running(self)) &&
	       REFUSED(vperfctr_control(self, &control), ESRCH) &&
	       REFUSED(vperfctr_stop(self), ESRCH);
	vperfctr_close(self);
	return good;
}

static void *count_a_loop(void *handle)
{
	struct vperfctr *self = counting(control_of_all());

	loop(ITERATIONS);
	*(struct vperfctr **)handle = self;
	return NULL;
}

bool sums_stay_after_the_threads_exit(void)
{
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs sum, later;
	struct vperfctr *handle = NULL;
	pthread_t thread;
	bool good;

	REQUIRE(pthread_create(&thread, NULL, count_a_loop, &handle) == 0);
	REQUIRE(pthread_join(thread, NULL) == 0 && handle);
	/* The thread that joins goes on a little before the other thread is gone. */
	while (vperfctr_is_running(handle))
		usleep(1000);
	good = EXPECT(vperfctr_read_state(handle, &sum, NULL) == 0) && EXPECT(sum.tsc > 0);
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(sum.pmc[k] > 2 * ITERATIONS) &&
		       EXPECT(vperfctr_read_pmc(handle, k) == sum.pmc[k]);
	good = good && EXPECT(vperfctr_read_ctrs(handle, &later) == 0) &&
	       EXPECT(is_same(&sum, &later, sizeof(sum))) && EXPECT(!vperfctr_is_running(handle)) &&
	       REFUSED(vperfctr_control(handle, &control), ESRCH);
	end_state(handle);
	return good;
}

static void *count_nothing_else(void *good)
{
	struct vperfctr *self = counting(control_of_tsc());
	struct vperfctr *other = vperfctr_open_mode(0);
	unsigned long long tsc;

	if (!self || !other)
		return NULL;
	tsc = vperfctr_read_tsc(self);
	*(bool *)good =
		EXPECT(vperfctr_read_tsc(other) > tsc) && REFUSED_POINTER(vperfctr_open(), EEXIST);
	end_state(self);
	vperfctr_close(other);
	return NULL;
}

bool each_thread_has_its_own(void)
{
	struct vperfctr *self = counting(control_of_all());
	bool good = false;
	pthread_t thread;

	REQUIRE(self);
	for (unsigned int i = 0; i < 3; i++) {
		good = false;
		REQUIRE(pthread_create(&thread, NULL, count_nothing_else, &good) == 0);
		REQUIRE(pthread_join(thread, NULL) == 0);
		REQUIRE(good);
	}
	good = EXPECT(vperfctr_is_running(self));
	end_state(self);
	return good;
}

static bool child_begins_anew(struct vperfctr *parents)
{
	struct vperfctr_control control = control_of_all();
	struct vperfctr *self;
	bool good;

	good = REFUSED(vperfctr_control(parents, &control), ESRCH) &&
	       REFUSED(vperfctr_stop(parents), ESRCH) && REFUSED(vperfctr_unlink(parents), ESRCH);
	self = counting(control);
	REQUIRE(self);
	good = good && EXPECT(vperfctr_read_tsc(self) > 0);
	vperfctr_close(parents);
	end_state(self);
	return good;
}

bool a_forked_child_has_none(void)
{
	struct vperfctr *self = counting(control_of_all());
	struct perfctr_sum_ctrs before, after;
	int status;
	pid_t pid;
	bool good;

	REQUIRE(self);
	good = EXPECT(vperfctr_read_ctrs(self, &before) == 0);
	pid = fork();
	if (pid == 0)
		_exit(child_begins_anew(self) ? 0 : 1);
	good = good && EXPECT(waitpid(pid, &status, 0) == pid) && EXPECT(status == 0) &&
	       EXPECT(vperfctr_is_running(self)) && EXPECT(vperfctr_read_ctrs(self, &after) == 0) &&
	       EXPECT(after.tsc > before.tsc);
	end_state(self);
	return good;
}

/* The child inherits the descriptor. Without it the driver takes the state from the thread. */
bool an_unlinked_state_ends_with_a_forked_child(void)
{
	struct vperfctr *self = counting(control_of_all());
	int to_child;
	pid_t pid;
	bool good;

	REQUIRE(self);
	pid = looping_child(1, &to_child);
	REQUIRE(pid > 0);
	good = EXPECT(vperfctr_unlink(self) == 0) && REFUSED_POINTER(vperfctr_open(), EEXIST);
	vperfctr_close(self);
	good = release_child(pid, to_child) && good;
	self = counting(control_of_all());
	REQUIRE(self);
	end_state(self);
	return good;
}

bool a_new_program_has_none(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (counting(control_of_all()))
			execl("/proc/self/exe", "old", "anew", NULL);
		_exit(2);
	}
	return EXPECT(waitpid(pid, &status, 0) == pid) && EXPECT(status == 0);
}
