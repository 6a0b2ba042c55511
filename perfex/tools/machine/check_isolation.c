// SPDX-License-Identifier: GPL-2.0-or-later
/* Two processes on one CPU that count themselves, and a third that must not see their counts. */
#define _GNU_SOURCE
#include "machine.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/* The result of RDPMC in a process that counts nothing. */
struct stranger {
	uint64_t reads, changes;
	bool faulted;
};

static sigjmp_buf after_fault;

static void leave_read(int number)
{
	siglongjmp(after_fault, 1);
}

static uint32_t read_hardware(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
	return low;
}

/* Reads the counter until RDPMC faults or the process is killed. */
__attribute__((noreturn)) static void read_as_stranger(struct stranger *stranger, uint32_t counter)
{
	struct sigaction action = { .sa_handler = leave_read };
	uint32_t last;

	/* With a handler the fault is not in the kernel's log, which has only faults that kill. */
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(after_fault, 1)) {
		stranger->faulted = true;
		_exit(0);
	}
	last = read_hardware(counter);
	for (;;) {
		uint32_t value = read_hardware(counter);

		stranger->changes += value != last;
		stranger->reads++;
		last = value;
	}
}

static struct stranger *start_stranger(const struct subject *subject, int cpu, pid_t *pid,
				       struct outcome *outcome)
{
	struct stranger *stranger = share_memory(sizeof(*stranger), outcome);

	*pid = start_helper(outcome);
	if (*pid == 0) {
		pin_to(0, cpu, outcome);
		read_as_stranger(stranger, subject->control.event[0].counter);
	}
	return stranger;
}

static void judge_stranger(const struct subject *subject, const struct stranger *stranger,
			   struct outcome *outcome)
{
	bool isolated = subject->backend.capabilities & PERFCTR_CAN_ISOLATE;

	if (stranger->faulted)
		add_detail(outcome, "RDPMC of a process that counts nothing: refused");
	else
		add_detail(outcome,
			   "RDPMC of a process that counts nothing: %llu reads, another value %llu "
			   "times",
			   (unsigned long long)stranger->reads,
			   (unsigned long long)stranger->changes);
	if (!isolated)
		add_detail(outcome, "this backend does not promise to refuse it");
	else if (!stranger->faulted && stranger->changes)
		end_check(outcome, VERDICT_FAILED, "RDPMC shows foreign counts");
}

void check_isolation(const struct subject *subject, struct outcome *outcome)
{
	unsigned long iterations;
	struct looper *loopers[2];
	struct surroundings around;
	struct stranger *stranger;
	pid_t stranger_pid;
	int cpu;

	need_events(subject, outcome);
	cpu = pin_here(outcome);
	iterations = find_iterations(subject->phase_ms);
	around = surroundings_begin(cpu);
	loopers[0] = start_looper(subject, cpu, iterations, outcome);
	loopers[1] = start_looper(subject, cpu, iterations / 3 * 2 + 12345, outcome);
	release_loopers(loopers, 2, outcome);
	stranger = start_stranger(subject, cpu, &stranger_pid, outcome);
	await_looper(loopers[0], outcome);
	await_looper(loopers[1], outcome);
	end_helper(stranger_pid);
	surroundings_end(&around, cpu);
	add_detail(outcome, "they were preempted %llu and %llu times",
		   (unsigned long long)loopers[0]->preemptions,
		   (unsigned long long)loopers[1]->preemptions);
	judge_looper(subject, loopers[0], "the first, ", around, outcome);
	judge_looper(subject, loopers[1], "the second, ", around, outcome);
	add_uncounted(subject, outcome);
	judge_stranger(subject, stranger, outcome);
	if (!loopers[0]->preemptions || !loopers[1]->preemptions)
		end_check(outcome, VERDICT_IMPOSSIBLE,
			  "the two were never preempted for each other");
	end_check(outcome, VERDICT_PASSED, "%s", "");
}
