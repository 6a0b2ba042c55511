// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts events in as few passes as possible, on one CPU.  Each pass runs the benchmarks that its
 * events need.  A system call, which every backend has, reads the counters before and after each
 * run.
 */
#define _GNU_SOURCE
#include "../host/host.h"
#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 10, LONG_SIZE = 100000, MAX_REPEATS = 3, PAIR_SIZE = 10000, PAIR_RUNS = 3 };

struct validation_pass {
	struct validation *validation;
	const volatile sig_atomic_t *stop;
	struct perfctr *context;
	struct perfctr_control control;
	struct validated *event[PERFCTR_MAX_COUNTERS]; /* in the order of the control */
	unsigned int n;
	int cpu, other_cpu;
	unsigned int number, n_passes;
};

static bool is_over(struct validation_pass *pass)
{
	struct validation *validation = pass->validation;

	if (*pass->stop || now_ns() >= validation->deadline_ns)
		validation->cut_short = true;
	return validation->cut_short;
}

static void refuse_events(struct validated *const event[], size_t n, const char *why)
{
	for (size_t i = 0; i < n; i++) {
		snprintf(event[i]->why, sizeof(event[i]->why), "%s", why);
		name_commands(event[i]->why);
	}
}

static void refuse_pass(struct validation_pass *pass, const char *why)
{
	refuse_events(pass->event, pass->n, why);
}

/*
 * Reads the counters.  Returns false, and refuses the events of the pass, if it fails or if others
 * took the counters.
 */
static bool read_pass(struct validation_pass *pass, struct perfctr_counts *counts)
{
	const char *why = NULL;

	if (perfctr_read(pass->context, counts) < 0)
		why = errno == EBUSY ? "others had the counters meanwhile" : strerror(errno);
	else if (counts->flags & PERFCTR_COUNTS_REVOKED)
		why = "the administrator took the counters back meanwhile";
	else if (counts->flags & PERFCTR_COUNTS_DISTURBED)
		why = "another part of the system wrote to the counters meanwhile";
	if (why)
		refuse_pass(pass, why);
	return !why;
}

/* The code between the two readings is the same for all benchmarks. */
__attribute__((noinline)) static bool count_benchmark(struct validation_pass *pass,
						      kernel_function *run, uint64_t n,
						      void *memory, struct perfctr_counts *counts)
{
	struct perfctr_counts before;

	if (!read_pass(pass, &before))
		return false;
	run(n, memory);
	if (!read_pass(pass, counts))
		return false;
	for (unsigned int i = 0; i < counts->n_counters; i++)
		counts->counter[i] -= before.counter[i];
	counts->tsc -= before.tsc;
	return true;
}

static void add_sample(struct trial *trial, struct observation sample)
{
	if (trial->n == trial->room) {
		trial->room = 2 * trial->room + 16;
		trial->sample = realloc(trial->sample, trial->room * sizeof(*trial->sample));
		if (!trial->sample)
			fail("out of memory");
	}
	trial->sample[trial->n++] = sample;
}

static struct trial *begin_trial(struct validated *event, unsigned int benchmark)
{
	struct trial *trial;

	if (!event->trial)
		event->trial = allocate(N_BENCHMARKS, sizeof(*event->trial));
	trial = &event->trial[event->n_trials++];
	trial->benchmark = benchmark;
	return trial;
}

/*
 * Keeps the least count of the runs: what others have more comes from disturbances, not from
 * reading.
 */
static void add_reading(struct validated *event, double counted)
{
	if (event->reading < 0 || counted < event->reading)
		event->reading = counted;
}

/* Disturbances add nothing to events of the operating system. */
static double count_disturbances(const struct validated *event, const struct surroundings *before,
				 const struct surroundings *after)
{
	if (!event->registers[0])
		return 0;
	return (double)(after->interrupts - before->interrupts + after->faults - before->faults);
}

/* One run: its counts, and the numbers of interrupts and page faults before and after it. */
struct measured_run {
	struct perfctr_counts counts;
	struct surroundings before, after;
};

/*
 * Runs a benchmark once.  An interrupt in a short run came most likely while interrupts were read,
 * and nothing was counted of it: then the run is repeated, MAX_REPEATS times at most.  Returns
 * false if the time is over, or if there is no count.
 */
static bool run_once(struct validation_pass *pass, const struct benchmark *benchmark,
		     struct workplace *workplace, uint64_t size, struct measured_run *run)
{
	unsigned int repeats = size < LONG_SIZE ? MAX_REPEATS : 0;

	do {
		run->before = run->after;
		if (benchmark->run == kernel_faults)
			forget_pages(workplace);
		if (!count_benchmark(pass, benchmark->run, size, workplace->memory, &run->counts))
			return false;
		run->after = surroundings_begin(pass->cpu);
		if (is_over(pass))
			return false;
	} while (run->after.interrupts != run->before.interrupts && repeats--);
	return true;
}

static void add_run(struct validation_pass *pass, const struct measured_run *run, uint64_t size,
		    struct trial *trials[])
{
	for (unsigned int i = 0; i < pass->n; i++)
		if (trials[i])
			add_sample(trials[i],
				   (struct observation){ .size = (double)size,
							 .expected = (double)run->counts.tsc,
							 .counted = (double)run->counts.counter[i],
							 .disturbances =
								 count_disturbances(pass->event[i],
										    &run->before,
										    &run->after) });
}

/*
 * Runs a benchmark with one size.  The first run warms up.  Returns false if the time is over, or
 * if there is no count.
 */
static bool run_size(struct validation_pass *pass, unsigned int number, struct workplace *workplace,
		     uint64_t size, struct trial *trials[])
{
	struct measured_run measured = { .after = surroundings_begin(pass->cpu) };

	for (unsigned int run = 0; run <= pass->validation->runs; run++) {
		if (!run_once(pass, &benchmarks[number], workplace, size, &measured))
			return false;
		if (run && number != EMPTY)
			add_run(pass, &measured, size, trials);
		for (unsigned int i = 0; run && number == EMPTY && i < pass->n; i++)
			add_reading(pass->event[i], (double)measured.counts.counter[i]);
	}
	return true;
}

static void show_progress(const struct validation_pass *pass, const struct benchmark *benchmark)
{
	if (pass->validation->progress)
		fprintf(stderr, "\rpass %u of %u: %-20s", pass->number + 1, pass->n_passes,
			benchmark->name);
}

static bool is_possible(const struct validation_pass *pass, const struct benchmark *benchmark)
{
	const struct geometry *geometry = &pass->validation->geometry;

	if ((benchmark->needs_avx && !geometry->has_avx) ||
	    (benchmark->needs_fma && !geometry->has_fma))
		return false;
	for (unsigned int i = 0; i < pass->n; i++)
		if (event_needs(pass->event[i], benchmark))
			return true;
	return false;
}

static struct workplace begin_workplace(const struct validation_pass *pass)
{
	return (struct workplace){ .geometry = &pass->validation->geometry,
				   .cpu = pass->cpu,
				   .other_cpu = pass->other_cpu,
				   .to = -1,
				   .from = -1 };
}

static bool make_workplace(const struct benchmark *benchmark, struct workplace *workplace)
{
	return benchmark->make ? benchmark->make(workplace) : make_buffer(workplace);
}

static bool run_benchmark(struct validation_pass *pass, unsigned int number)
{
	const struct benchmark *benchmark = &benchmarks[number];
	struct workplace workplace = begin_workplace(pass);
	struct trial *trials[PERFCTR_MAX_COUNTERS] = { 0 };
	uint64_t size = number == EMPTY ? benchmark->last_size : FIRST_SIZE;
	bool good = true;

	show_progress(pass, benchmark);
	if (make_workplace(benchmark, &workplace)) {
		for (unsigned int i = 0; number != EMPTY && i < pass->n; i++)
			if (event_needs(pass->event[i], benchmark))
				trials[i] = begin_trial(pass->event[i], number);
		for (; good && size <= benchmark->last_size; size *= 10)
			good = run_size(pass, number, &workplace, size, trials);
	}
	workplace_release(&workplace);
	return good;
}

/*
 * Opens a context for the n events of requests.  Returns false, and refuses the events of the pass,
 * if it fails.
 */
static bool open_pass(struct validation_pass *pass, const struct perfctr_request *requests,
		      unsigned int n)
{
	const struct validation *validation = pass->validation;
	char error[256];

	pass->context = NULL;
	if (perfctr_requests_assign(&validation->pmu, requests, n, &pass->control, error,
				    sizeof(error)) < 0) {
		refuse_pass(pass, error);
		return false;
	}
	pass->context = perfctr_open_with(validation->backend.name, 0, PERFCTR_OPEN_CREATE);
	if (!pass->context) {
		perfctr_open_error_with(validation->backend.name, errno, error, sizeof(error));
		refuse_pass(pass, error);
		return false;
	}
	if (perfctr_set_control(pass->context, &pass->control) == 0)
		return true;
	perfctr_control_error(errno, &pass->control, &validation->pmu, error, sizeof(error));
	refuse_pass(pass, error);
	perfctr_close(pass->context);
	return false;
}

/*
 * Returns the event's first benchmark that works with a plain buffer and expects more counts of a
 * larger size.  Returns NULL if there is none.
 */
static const struct benchmark *benchmark_for_pair(const struct validated *event)
{
	for (size_t i = 0; i < event->n_trials; i++) {
		const struct benchmark *benchmark = &benchmarks[event->trial[i].benchmark];
		const struct expectation *e = benchmark_expects(benchmark, event->quantity);

		if (e && e->per_size > 0 && !benchmark->make)
			return benchmark;
	}
	return NULL;
}

/* Counts the event with two counters at once, if possible, and keeps their largest difference. */
static void compare_pair(struct validation_pass *pass, struct validated *event)
{
	struct perfctr_request requests[] = { event->request, event->request };
	const struct benchmark *benchmark = benchmark_for_pair(event);
	struct workplace workplace = begin_workplace(pass);
	struct validation_pass pair = *pass;
	struct perfctr_counts counts;

	if (!benchmark || !event->registers[0])
		return;
	/* If the event cannot be counted twice, it is not refused. */
	pair.n = 0;
	if (!open_pass(&pair, requests, 2))
		return;
	if (make_workplace(benchmark, &workplace))
		for (unsigned int run = 0; run < PAIR_RUNS; run++) {
			double difference;

			if (!count_benchmark(&pair, benchmark->run, PAIR_SIZE, workplace.memory,
					     &counts))
				break;
			difference = (double)(counts.counter[0] > counts.counter[1]
						      ? counts.counter[0] - counts.counter[1]
						      : counts.counter[1] - counts.counter[0]);
			if (difference > event->pair)
				event->pair = difference;
		}
	workplace_release(&workplace);
	perfctr_close(pair.context);
}

static void run_pass(struct validation_pass *pass, const struct perfctr_request *requests)
{
	bool good = true;

	if (!open_pass(pass, requests, pass->n))
		return;
	for (unsigned int i = 0; good && i < N_BENCHMARKS; i++)
		good = !is_possible(pass, &benchmarks[i]) || run_benchmark(pass, i);
	perfctr_close(pass->context);
	for (unsigned int i = 0; good && i < pass->n; i++)
		compare_pair(pass, pass->event[i]);
}

/*
 * Returns true if this CPU is of one of these kinds: its ticks are counted under its own kind only.
 */
static bool is_of_kinds(const struct validation *validation, uint32_t kinds)
{
	struct perfctr *context =
		perfctr_open_with(validation->backend.name, 0, PERFCTR_OPEN_CREATE);
	struct perfctr_control control;
	struct perfctr_counts counts;
	bool good = false;

	if (!context)
		return false;
	perfctr_control_init(&control);
	if (perfctr_set_control(context, &control) == 0 && perfctr_read(context, &counts) == 0)
		for (unsigned int i = 0; i < PERFCTR_MAX_KINDS; i++)
			good |= kinds >> i & 1 && counts.kind_tsc[i];
	perfctr_close(context);
	return good;
}

/*
 * Chooses the CPU to measure on, binds perfex to it, and chooses another CPU if there is one.
 * kinds 0: any CPU will do.  Returns false if perfex may run on no CPU of these kinds.
 */
static bool choose_cpus(struct validation_pass *pass, const struct cpu_list *cpus, uint32_t kinds)
{
	pass->cpu = pass->other_cpu = -1;
	for (unsigned int i = 0; i < cpus->n; i++) {
		if (pass->cpu >= 0) {
			pass->other_cpu = cpus->cpu[i];
			break;
		}
		if (pin_process(0, cpus->cpu[i]) == 0 &&
		    (!kinds || is_of_kinds(pass->validation, kinds)))
			pass->cpu = cpus->cpu[i];
	}
	if (pass->cpu > cpus->cpu[0] && pass->other_cpu < 0)
		pass->other_cpu = cpus->cpu[0];
	return pass->cpu >= 0 && pin_process(0, pass->cpu) == 0;
}

/* Measures the events of one kind of core, all on one CPU of that kind. */
static void measure_kind(struct validation *validation, const struct cpu_list *cpus, uint32_t kinds,
			 const volatile sig_atomic_t *stop)
{
	struct perfctr_request *requests = allocate(validation->n, sizeof(*requests));
	struct validated **events = allocate(validation->n, sizeof(*events));
	unsigned int *which = allocate(validation->n, sizeof(*which));
	struct validation_pass pass = { .validation = validation, .stop = stop };
	char error[512];
	size_t n = 0;

	for (size_t i = 0; i < validation->n; i++)
		if (validation->event[i].request.kinds == kinds) {
			events[n] = &validation->event[i];
			requests[n++] = validation->event[i].request;
		}
	if (n && is_over(&pass))
		n = 0;
	if (n && perfctr_requests_plan(&validation->pmu, requests, n, which, &pass.n_passes, error,
				       sizeof(error)) < 0)
		fail("%s", error);
	/* Events of other kinds are measured nevertheless. */
	if (n && !choose_cpus(&pass, cpus, kinds)) {
		refuse_events(events, n, "perfex may run on no CPU that counts it");
		pass.n_passes = 0;
	}
	for (; pass.number < pass.n_passes && !is_over(&pass); pass.number++) {
		struct perfctr_request members[PERFCTR_MAX_COUNTERS];

		pass.n = 0;
		for (size_t i = 0; i < n; i++)
			if (which[i] == pass.number) {
				members[pass.n] = requests[i];
				pass.event[pass.n++] = events[i];
			}
		run_pass(&pass, members);
	}
	free(which);
	free(events);
	free(requests);
}

void validation_measure(struct validation *validation, const volatile sig_atomic_t *stop)
{
	uint64_t begin = now_ns();
	struct cpu_list cpus;

	geometry_find(&validation->geometry);
	find_cpus(&cpus);
	for (uint32_t kinds = 0; kinds < 1u << PERFCTR_MAX_KINDS; kinds++)
		measure_kind(validation, &cpus, kinds, stop);
	if (validation->progress)
		fprintf(stderr, "\r%-40s\r", "");
	free(cpus.cpu);
	for (size_t i = 0; i < validation->n; i++)
		judge_event(&validation->event[i]);
	validation->elapsed = (double)(now_ns() - begin) / 1e9;
}
