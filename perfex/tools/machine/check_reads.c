// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks reads in user mode while a competitor on the same CPU counts too. */
#define _GNU_SOURCE
#include "loop.h"
#include "machine.h"

#include <string.h>
#include <sys/resource.h>

/* Iterations of the loop between two reads.  They take 2 + 2 * WORK instructions. */
enum { WORK = 20 };
/* Reads in user mode before each look at the clock and each read by a system call. */
enum { READS = 1000 };
/* The most instructions that a system call, or a read that was preempted, may add. */
enum { DISTURBED = 10000 };

/* The value to read: counter 0 of a context, or its virtual time. */
struct reading {
	const struct perfctr *meter;
	const struct perfctr_page *page; /* for the virtual time; NULL: counter 0 is read */
};

static uint64_t read_there(const struct reading *reading)
{
	return reading->page ? perfctr_read_tsc(reading->page)
			     : perfctr_read_counter(reading->meter, 0);
}

static uint64_t read_by_call(const struct reading *reading, struct outcome *outcome)
{
	struct perfctr_counts counts;

	meter_read(reading->meter, PERFCTR_SCOPE_SELF, &counts, outcome);
	return reading->page ? counts.tsc : counts.counter[0];
}

static uint64_t count_preemptions(void)
{
	struct rusage usage = { 0 };

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_nivcsw;
}

static void read_long(const struct reading *reading, unsigned int ms, struct read_chain *chain,
		      struct outcome *outcome)
{
	uint64_t end = now_ns() + (uint64_t)ms * 1000000;

	do {
		for (unsigned int i = 0; i < READS; i++) {
			read_chain_add(chain, read_there(reading));
			run_loop(WORK);
		}
		read_chain_add(chain, read_by_call(reading, outcome));
		run_loop(WORK);
	} while (now_ns() < end);
}

/*
 * Returns by how many ticks virtual time may go back: one millisecond with bpf, otherwise 0.  The
 * backend bpf takes back the time of interrupts, see BUGS in perfctr-bpfd(8).  More than a
 * millisecond of interrupts in one turn on the CPU is not expected.
 */
static uint64_t time_drift(const struct subject *subject, const struct reading *reading)
{
	return reading->page && strcmp(subject->backend.name, "bpf") == 0 ? subject->pmu.tsc_khz
									  : 0;
}

static void check_reading(const struct subject *subject, const struct reading *reading,
			  struct outcome *outcome)
{
	struct read_chain chain = {
		.work = reading->page ? 0 : 2 + 2 * WORK,
		.slack = DISTURBED,
		.drift = time_drift(subject, reading),
	};
	uint64_t preemptions;
	pid_t competitor;

	competitor = start_competitor(subject, pin_here(outcome), outcome);
	preemptions = count_preemptions();
	read_long(reading, 2 * subject->phase_ms, &chain, outcome);
	preemptions = count_preemptions() - preemptions;
	end_helper(competitor);
	add_detail(outcome, "%llu reads, one in %u by a system call; preempted %llu times",
		   (unsigned long long)chain.reads, READS + 1, (unsigned long long)preemptions);
	add_detail(outcome, "from one read to the next: %llu at least, %llu at most",
		   (unsigned long long)chain.least_step, (unsigned long long)chain.most_step);
	if (chain.most_back)
		add_detail(outcome, "back: %llu at most, %llu explained",
			   (unsigned long long)chain.most_back, (unsigned long long)chain.drift);
	if (!judge_reads(&chain))
		end_check(
			outcome, VERDICT_FAILED,
			"%llu reads went back, %llu lack what was executed since the read before, "
			"%llu have more than %u too many",
			(unsigned long long)chain.backwards, (unsigned long long)chain.small,
			(unsigned long long)chain.large, DISTURBED);
	if (!preemptions)
		end_check(outcome, VERDICT_IMPOSSIBLE, "the reader was never preempted");
	end_check(outcome, VERDICT_PASSED, "%s", "");
}

void check_counter_reads(const struct subject *subject, struct outcome *outcome)
{
	struct reading reading = { .meter = meter_open(subject, 0, outcome) };

	if (!(perfctr_capabilities(reading.meter) & PERFCTR_CAN_RDPMC))
		end_check(outcome, VERDICT_IMPOSSIBLE, "user mode may not read counters here");
	check_reading(subject, &reading, outcome);
}

void check_time_reads(const struct subject *subject, struct outcome *outcome)
{
	struct reading reading = { .meter = meter_open_time(subject, outcome) };

	reading.page = perfctr_tsc_page(reading.meter);
	if (!reading.page)
		end_check(outcome, VERDICT_IMPOSSIBLE,
			  "this backend's virtual time is read by system calls");
	check_reading(subject, &reading, outcome);
}
