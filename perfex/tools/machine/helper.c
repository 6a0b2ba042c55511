// SPDX-License-Identifier: GPL-2.0-or-later
/* The processes that a check starts beside its own. */
#define _GNU_SOURCE
#include "loop.h"
#include "machine.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LOOPER_BEGINS, LOOPER_READY, LOOPER_GOES, LOOPER_DONE };

/* Runs of the empty loop, to find the overhead of reading. */
enum { EMPTY_RUNS = 20 };

void sleep_ms(unsigned int ms)
{
	const struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	nanosleep(&time, NULL);
}

void pin_to(pid_t pid, int cpu, struct outcome *outcome)
{
	if (pin_process(pid, cpu) < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE,
			  "a process of its own cannot be sent to a CPU: %s", strerror(errno));
}

int pin_here(struct outcome *outcome)
{
	int cpu = sched_getcpu();

	if (cpu < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE, "the CPU is not known: %s", strerror(errno));
	pin_to(0, cpu, outcome);
	return cpu;
}

pid_t start_helper(struct outcome *outcome)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		end_check(outcome, VERDICT_IMPOSSIBLE, "a process cannot be started: %s",
			  strerror(errno));
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

void end_helper(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

pid_t start_competitor(const struct subject *subject, int cpu, struct outcome *outcome)
{
	pid_t pid = start_helper(outcome);
	struct outcome *own;

	if (pid)
		return pid;
	own = share_memory(sizeof(*own), outcome);
	pin_to(0, cpu, own);
	if (subject->n_events)
		meter_open(subject, 0, own);
	for (;;)
		run_loop(1000);
}

void *share_memory(size_t size, struct outcome *outcome)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		end_check(outcome, VERDICT_IMPOSSIBLE, "out of memory");
	return memory;
}

static uint64_t time_loop(unsigned long n)
{
	uint64_t begin = now_ns();

	run_loop(n);
	return now_ns() - begin;
}

/* Uses the least of several times, because other processes compute here too. */
unsigned long find_iterations(unsigned int ms)
{
	unsigned long n = 1000;
	uint64_t least;

	do {
		n *= 2;
		least = time_loop(n);
		for (int i = 0; i < 3; i++) {
			uint64_t elapsed = time_loop(n);

			if (elapsed < least)
				least = elapsed;
		}
	} while (least < 5000000);
	return (unsigned long)((double)n * 1e6 * ms / (double)least) + 1;
}

static int read_step(const struct looper *looper)
{
	return __atomic_load_n(&looper->step, __ATOMIC_ACQUIRE);
}

static void set_step(struct looper *looper, int step)
{
	__atomic_store_n(&looper->step, step, __ATOMIC_RELEASE);
}

static void find_overhead(struct looper *looper, const struct perfctr *meter)
{
	struct perfctr_counts counts;

	for (unsigned int i = 0; i < EMPTY_RUNS; i++) {
		meter_loop(meter, 0, &counts, &looper->outcome);
		for (unsigned int k = 0; k < N_LOOP_EVENTS; k++)
			if (!i || counts.counter[k] < looper->overhead[k])
				looper->overhead[k] = counts.counter[k];
	}
}

__attribute__((noreturn)) static void run_looper(const struct subject *subject,
						 struct looper *looper)
{
	struct perfctr *meter = meter_open(subject, 0, &looper->outcome);
	struct rusage before, after;

	find_overhead(looper, meter);
	set_step(looper, LOOPER_READY);
	while (read_step(looper) != LOOPER_GOES)
		sleep_ms(1);
	getrusage(RUSAGE_SELF, &before);
	meter_loop(meter, looper->iterations, &looper->counts, &looper->outcome);
	getrusage(RUSAGE_SELF, &after);
	looper->faults = (uint64_t)(after.ru_minflt - before.ru_minflt) +
			 (uint64_t)(after.ru_majflt - before.ru_majflt);
	looper->preemptions = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
	set_step(looper, LOOPER_DONE);
	_exit(0);
}

struct looper *start_looper(const struct subject *subject, int cpu, unsigned long iterations,
			    struct outcome *outcome)
{
	struct looper *looper = share_memory(sizeof(*looper), outcome);

	pid_t pid;

	looper->iterations = iterations;
	pid = start_helper(outcome);
	if (pid == 0) {
		pin_to(0, cpu, &looper->outcome);
		run_looper(subject, looper);
	}
	looper->pid = pid;
	return looper;
}

/* Waits until the looper has reached a step.  Ends the check if the looper ends before that. */
static void await_step(struct looper *looper, int step, struct outcome *outcome)
{
	int status = 0;

	while (read_step(looper) < step) {
		if (waitpid(looper->pid, &status, WNOHANG) == looper->pid &&
		    read_step(looper) < step) {
			if (looper->outcome.verdict)
				end_check(outcome, looper->outcome.verdict, "%s",
					  looper->outcome.why);
			end_check(outcome, VERDICT_FAILED, "its process died of signal %d",
				  WTERMSIG(status));
		}
		sleep_ms(1);
	}
}

void release_loopers(struct looper *const loopers[], unsigned int n, struct outcome *outcome)
{
	for (unsigned int i = 0; i < n; i++)
		await_step(loopers[i], LOOPER_READY, outcome);
	for (unsigned int i = 0; i < n; i++)
		set_step(loopers[i], LOOPER_GOES);
}

bool is_looping(const struct looper *looper)
{
	return read_step(looper) == LOOPER_GOES && !looper->outcome.verdict;
}

void await_looper(struct looper *looper, struct outcome *outcome)
{
	await_step(looper, LOOPER_DONE, outcome);
}

void judge_looper(const struct subject *subject, const struct looper *looper, const char *what,
		  struct surroundings surroundings, struct outcome *outcome)
{
	uint64_t allowed;

	surroundings.faults = looper->faults;
	allowed = allowed_beyond(&surroundings);
	for (unsigned int i = 0; i < subject->n_events; i++) {
		uint64_t counted = looper->counts.counter[i];
		uint64_t expected = looper->overhead[i] +
				    (uint64_t)loop_events[i].per_iteration * looper->iterations;

		add_detail(outcome, "%s%s: %llu expected, %lld beyond, %llu explained", what,
			   loop_events[i].spec, (unsigned long long)expected,
			   (long long)(counted - expected), (unsigned long long)allowed);
		switch (judge_count(counted, expected, allowed)) {
		case COUNT_RIGHT:
			break;
		case COUNT_MISSES:
			end_check(outcome, VERDICT_FAILED, "%s%s: %llu are missing", what,
				  loop_events[i].spec, (unsigned long long)(expected - counted));
		case COUNT_EXCEEDS:
			end_check(outcome, VERDICT_FAILED,
				  "%s%s: %llu too many, of which %llu are explained", what,
				  loop_events[i].spec, (unsigned long long)(counted - expected),
				  (unsigned long long)allowed);
		}
	}
}
