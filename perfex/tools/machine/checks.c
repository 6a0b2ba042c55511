// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the checks.  Each check is a process of its own, and all that it starts is in its process
 * group.  It shares memory with perfex, into which it writes its outcome.  A check that dies has
 * failed, and the others are not affected.  A check that hangs is killed at the deadline: it is not
 * finished, and the checks after it are not begun.
 */
#define _GNU_SOURCE
#include "machine.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const struct check checks[N_CHECKS] = {
	{ "loops", "a loop counts what it executes, from 100 iterations to 10^7", check_loops },
	{ "migration", "a loop that is sent from CPU to CPU counts what it executes",
	  check_migration },
	{ "inheritance", "a parent that has waited has what its children executed",
	  check_inheritance },
	{ "isolation", "two processes on one CPU count what each of them executes",
	  check_isolation },
	{ "counter-reads", "reads in user mode never go back, and miss nothing, when preempted",
	  check_counter_reads },
	{ "time-reads", "reads of the virtual time in user mode never go back when preempted",
	  check_time_reads },
	{ "time-stamp", "the CPUs have one time stamp, of the rate that the kernel knows",
	  check_time_stamp },
	{ "virtual-time", "a thread's virtual time is its time on a CPU", check_virtual_time },
	{ "events", "which known events count what they should, as perfex validate says",
	  measure_events },
	{ "costs", "what reading and switching costs, in ticks of the time stamp", measure_costs },
};

/*
 * Runs in the check's process, in a process group of its own, which gets no ^C from the terminal.
 * seconds: the limit of its CPU time
 */
__attribute__((noreturn)) static void run_check(const struct check *check,
						const struct subject *subject, pid_t parent,
						unsigned int seconds, struct outcome *outcome)
{
	struct rlimit no_core = { 0, 0 }, time = { seconds, seconds };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	setpgid(0, 0);
	setrlimit(RLIMIT_CORE, &no_core);
	setrlimit(RLIMIT_CPU, &time);
	check->run(subject, outcome);
	_exit(0);
}

static struct timespec time_until(uint64_t deadline_ns)
{
	uint64_t now = now_ns(), left = deadline_ns > now ? deadline_ns - now : 0;

	return (struct timespec){ .tv_sec = (time_t)(left / 1000000000),
				  .tv_nsec = (long)(left % 1000000000) };
}

/*
 * Returns the set of SIGCHLD and the terminating signals, without those that perfex was started to
 * ignore.
 */
static sigset_t watched_signals(void)
{
	sigset_t set = ending_signals();

	sigaddset(&set, SIGCHLD);
	return set;
}

void hold_signals(void)
{
	sigset_t set = watched_signals();

	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * Returns true if the process has ended.  The process stays a zombie, so that nobody else gets its
 * number, which is also that of its process group, before end_group() has killed the group.
 */
static bool has_ended(pid_t pid, siginfo_t *info)
{
	info->si_pid = 0;
	return waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info->si_pid == pid;
}

/*
 * Waits for the end of a check.  Returns the signal that perfex got, or 0.  With 0, *info says how
 * the check ended, or si_pid is 0 if the time was over.
 */
static int await_check(pid_t pid, uint64_t deadline_ns, siginfo_t *info)
{
	sigset_t set = watched_signals();

	while (!has_ended(pid, info)) {
		struct timespec left = time_until(deadline_ns);
		int number = sigtimedwait(&set, NULL, &left);

		if (number > 0 && number != SIGCHLD)
			return number;
		if (number < 0 && errno == EAGAIN)
			return 0;
	}
	return 0;
}

/*
 * Kills a check with all that it started, and waits for them.  perfex is the subreaper, so orphans
 * become its children.
 */
static void end_group(pid_t pid)
{
	kill(-pid, SIGKILL);
	while (waitpid(-pid, NULL, 0) > 0 || errno == EINTR)
		;
}

static int start_check(const struct check *check, const struct subject *subject,
		       uint64_t deadline_ns, struct outcome *outcome)
{
	pid_t parent = getpid(), pid = fork();
	siginfo_t info = { 0 };
	int number;

	if (pid == 0)
		run_check(check, subject, parent, (unsigned int)time_until(deadline_ns).tv_sec + 2,
			  outcome);
	if (pid < 0) {
		give_verdict(outcome, VERDICT_IMPOSSIBLE, "a process cannot be started");
		return 0;
	}
	setpgid(pid, pid);
	number = await_check(pid, deadline_ns, &info);
	end_group(pid);
	if (outcome->verdict != VERDICT_UNFINISHED)
		return number;
	if (number)
		give_verdict(outcome, VERDICT_UNFINISHED, "a signal came");
	else if (!info.si_pid)
		give_verdict(outcome, VERDICT_UNFINISHED, "the time was over; see --seconds");
	else if (info.si_code == CLD_EXITED)
		give_verdict(outcome, VERDICT_FAILED, "its process ended too early");
	else
		give_verdict(outcome, VERDICT_FAILED, "its process died of signal %d",
			     info.si_status);
	return number;
}

int run_checks(const struct subject *subject, uint64_t deadline_ns, bool progress,
	       struct outcome outcomes[N_CHECKS])
{
	struct outcome *shared = mmap(NULL, N_CHECKS * sizeof(*shared), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int number = 0;

	if (shared == MAP_FAILED)
		fail("out of memory");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (unsigned int i = 0; i < N_CHECKS; i++) {
		if (number || now_ns() >= deadline_ns) {
			give_verdict(&shared[i], VERDICT_UNFINISHED, "it was not begun");
			continue;
		}
		if (progress)
			fprintf(stderr, "check %u of %u: %s\n", i + 1, (unsigned int)N_CHECKS,
				checks[i].name);
		number = start_check(&checks[i], subject, deadline_ns, &shared[i]);
	}
	memcpy(outcomes, shared, N_CHECKS * sizeof(*shared));
	munmap(shared, N_CHECKS * sizeof(*shared));
	return number;
}
