// SPDX-License-Identifier: GPL-2.0-or-later
/* Other processes' counters. */
#include "old.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* From before its loop to its exit. */
static bool count_child(uint32_t n, struct perfctr_sum_ctrs *sum)
{
	struct vperfctr_control control = control_of_all(), read_back;
	struct rvperfctr *remote;
	int to_child;
	pid_t pid = looping_child(n, &to_child);
	bool good;

	REQUIRE(pid > 0);
	/* It is at its system call when nothing changes any more. */
	usleep(100000);
	remote = rvperfctr_open(pid);
	good = EXPECT(remote) && EXPECT(rvperfctr_pid(remote) == pid) &&
	       /* perf_events lets any number count one. */
	       (getenv("PERFCTR_BACKEND") || REFUSED_POINTER(rvperfctr_open(pid), EEXIST)) &&
	       EXPECT(rvperfctr_control(remote, &control) == 0);
	good = let_go(pid, to_child) && good &&
	       EXPECT(rvperfctr_read_state(remote, sum, &read_back) == 0) &&
	       EXPECT(is_same(&control, &read_back, sizeof(control))) &&
	       REFUSED(rvperfctr_control(remote, &control), ESRCH) &&
	       REFUSED(rvperfctr_iresume(remote), ENOSYS) && EXPECT(rvperfctr_unlink(remote) == 0);
	rvperfctr_close(remote);
	return good && EXPECT(sum->tsc > 0);
}

bool another_process_is_counted(void)
{
	struct perfctr_sum_ctrs one, three;
	bool good = true;

	/* The first one finds less in memory. */
	REQUIRE(count_child(1, &one) && count_child(ITERATIONS, &one) &&
		count_child(3 * ITERATIONS, &three));
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(three.pmc[k] - one.pmc[k] == 4ull * ITERATIONS);
	return good && REFUSED_POINTER(rvperfctr_open(0x3fffff), ESRCH);
}

static bool count_running(struct rvperfctr *remote)
{
	struct vperfctr_control control = control_of_all();
	struct perfctr_sum_ctrs before, after;

	REQUIRE(rvperfctr_control(remote, &control) == 0);
	REQUIRE(rvperfctr_read_ctrs(remote, &before) == 0);
	usleep(300000);
	REQUIRE(rvperfctr_read_ctrs(remote, &after) == 0);
	REQUIRE(after.tsc > before.tsc);
	for (unsigned int k = 0; k < machine.n_events; k++)
		REQUIRE(after.pmc[k] > before.pmc[k] + ITERATIONS);
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
	/* It has ended with its handle. */
	remote = rvperfctr_open(pid);
	good = good && EXPECT(remote);
	rvperfctr_close(remote);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return good;
}
