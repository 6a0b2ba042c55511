// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of other processes. */
#include "old.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Counts a child from before its loop to its exit. */
static bool count_child(uint32_t n, struct perfctr_sum_ctrs *sum)
{
	struct vperfctr_control control = control_of_all(), read_back;
	struct rvperfctr *remote;
	int to_child;
	pid_t pid = looping_child(n, &to_child);
	bool good;

	REQUIRE(pid > 0);
	/* The child is in its system call when its counts do not change any more. */
	wait_until_asleep(pid);
	remote = rvperfctr_open(pid);
	good = EXPECT(remote) && EXPECT(rvperfctr_pid(remote) == pid) &&
	       /* With perf_events any number of callers may count one process. */
	       (runs_on(PERF_EVENTS) || REFUSED_POINTER(rvperfctr_open(pid), EEXIST)) &&
	       EXPECT(rvperfctr_control(remote, &control) == 0);
	good = release_child(pid, to_child) && good &&
	       EXPECT(rvperfctr_read_state(remote, sum, &read_back) == 0) &&
	       EXPECT(is_same(&control, &read_back, sizeof(control))) &&
	       REFUSED(rvperfctr_control(remote, &control), ESRCH) &&
	       REFUSED(rvperfctr_iresume(remote), can_interrupt() ? ESRCH : ENOSYS) &&
	       EXPECT(rvperfctr_unlink(remote) == 0);
	rvperfctr_close(remote);
	return good && EXPECT(sum->tsc > 0);
}

bool another_process_is_counted(void)
{
	return loops_are_counted(count_child) && REFUSED_POINTER(rvperfctr_open(0x3fffff), ESRCH);
}

static bool has_grown(const struct perfctr_sum_ctrs *before, const struct perfctr_sum_ctrs *after)
{
	for (unsigned int k = 0; k < machine.n_events; k++)
		if (after->pmc[k] <= before->pmc[k] + ITERATIONS)
			return false;
	return after->tsc > before->tsc;
}

static bool count_running(struct rvperfctr *remote)
{
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs before, after;

	REQUIRE(rvperfctr_control(remote, &control) == 0);
	REQUIRE(rvperfctr_read_ctrs(remote, &before) == 0);
	do {
		usleep(10000);
		REQUIRE(rvperfctr_read_ctrs(remote, &after) == 0);
	} while (!has_grown(&before, &after));
	REQUIRE(rvperfctr_stop(remote) == 0);
	REQUIRE(rvperfctr_read_ctrs(remote, &before) == 0);
	usleep(100000);
	REQUIRE(rvperfctr_read_ctrs(remote, &after) == 0);
	return EXPECT(is_same(&before, &after, sizeof(before))) && EXPECT(after.tsc > 0);
}

bool a_running_process_is_read(void)
{
	pid_t pid = fork();
	struct rvperfctr *remote;
	bool good;

	if (pid == 0)
		for (;;)
			loop(ITERATIONS);
	remote = rvperfctr_open(pid);
	good = EXPECT(remote) && count_running(remote);
	rvperfctr_close(remote);
	/* The state has ended with its handle. */
	remote = rvperfctr_open(pid);
	good = good && EXPECT(remote);
	rvperfctr_close(remote);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return good;
}

/* Reads a state that another process made, as perfex does for its command. */
static bool read_what_another_made(void)
{
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs before, after;
	struct vperfctr *self = vperfctr_open_mode(0);

	/* perf_events does not show it. */
	if (runs_on(PERF_EVENTS))
		return EXPECT(!self) && EXPECT(errno == EPERM);
	REQUIRE(self);
	REQUIRE(vperfctr_is_running(self));
	REQUIRE(vperfctr_read_ctrs(self, &before) == 0 && before.tsc > 0);
	loop(ITERATIONS);
	REQUIRE(vperfctr_read_state(self, &after, NULL) == 0 && after.tsc > before.tsc);
	for (unsigned int k = 0; k < machine.n_events; k++)
		REQUIRE(after.pmc[k] - before.pmc[k] > 2 * ITERATIONS &&
			vperfctr_read_pmc(self, k) > after.pmc[k]);
	REQUIRE(vperfctr_read_pmc(self, machine.n_events) == 0);
	REQUIRE(vperfctr_read_tsc(self) > after.tsc);
	REQUIRE(REFUSED(vperfctr_control(self, &control), EPERM));
	REQUIRE(REFUSED(vperfctr_stop(self), EPERM) && REFUSED(vperfctr_unlink(self), EPERM));
	REQUIRE(vperfctr_is_running(self));
	vperfctr_close(self);
	return true;
}

bool what_another_program_counts_is_read(void)
{
	struct vperfctr_control control = control_of_all();
	struct rvperfctr *remote;
	int to_child[2], status;
	char byte;
	bool good;
	pid_t pid;

	REQUIRE(pipe(to_child) == 0);
	pid = fork();
	if (pid == 0)
		_exit(read(to_child[0], &byte, 1) == 1 && read_what_another_made() ? 0 : 1);
	remote = rvperfctr_open(pid);
	good = EXPECT(remote) && EXPECT(rvperfctr_control(remote, &control) == 0);
	close(to_child[0]);
	good = EXPECT(write(to_child[1], "", 1) == 1) && good;
	close(to_child[1]);
	good = EXPECT(waitpid(pid, &status, 0) == pid) && EXPECT(status == 0) && good;
	rvperfctr_close(remote);
	return good;
}
