// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hybrid processors: CPU 0 is a P-core, kind 0, CPU 1 an E-core, kind 1 (README of the emulator).
 * Counts are exact to the instruction, wherever a thread is sent, and so is its time on each kind.
 */
#include "hybrid.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* With CPUID leaf 23H, which reports what P-cores have beyond E-cores. */
bool is_extended(void)
{
	return !strcmp(profile.name, "hybrid-ext");
}

bool kind_info(uint32_t number, struct perfctr_kind *kind)
{
	struct perfctr_pmu_info info = machine_info();

	if (number >= info.n_kinds)
		return false;
	*kind = info.kind[number];
	return true;
}

static bool kind_is(uint32_t number, const char *name, uint32_t leaf_1a, uint64_t counters,
		    uint64_t allowed)
{
	uint64_t cpus[2] = { 0, UINT64_MAX };
	struct perfctr_kind_cpus request = {
		.size = sizeof(request),
		.kind = number,
		.cpus = (uintptr_t)cpus,
		.cpus_bytes = sizeof(cpus),
	};
	struct perfctr_kind kind;

	return EXPECT(kind_info(number, &kind)) && EXPECT(!strcmp(kind.name, name)) &&
	       EXPECT_EQUAL(kind.leaf_1a, leaf_1a) && EXPECT_EQUAL(kind.counters, counters) &&
	       EXPECT_EQUAL(kind.evntsel_allowed, allowed) &&
	       EXPECT(!device_call(PERFCTR_IOC_KIND_CPUS, &request)) &&
	       EXPECT_EQUAL(cpus[0], 1u << number) && EXPECT_EQUAL(cpus[1], 0);
}

static bool cpus_fail(struct perfctr_kind_cpus request, int error)
{
	request.size = sizeof(request);
	return EXPECT(device_call(PERFCTR_IOC_KIND_CPUS, &request) == -1) &&
	       EXPECT_EQUAL(errno, error);
}

bool hybrid_kinds_are_told(void)
{
	const uint64_t allowed = 0xffc7ffff, umask2 = 0xff0000000000;
	struct perfctr_pmu_info info = machine_info();
	uint64_t cpus;
	const uint64_t address = (uintptr_t)&cpus;

	return EXPECT_EQUAL(info.n_kinds, 2) && EXPECT_EQUAL(info.evntsel_allowed, allowed) &&
	       kind_is(0, "core", 0x40000001, is_extended() ? COUNTERS(8, 4) : COUNTERS(6, 3),
		       is_extended() ? allowed | umask2 : allowed) &&
	       kind_is(1, "atom", 0x20000001, COUNTERS(6, 3), allowed) &&
	       cpus_fail((struct perfctr_kind_cpus){ .kind = 2, .cpus = address, .cpus_bytes = 8 },
			 ENOENT) &&
	       cpus_fail((struct perfctr_kind_cpus){ .cpus = address, .cpus_bytes = 0 }, EINVAL) &&
	       cpus_fail((struct perfctr_kind_cpus){ .cpus = address, .cpus_bytes = 8,
						     .reserved = 1 },
			 EINVAL) &&
	       cpus_fail((struct perfctr_kind_cpus){ .cpus = 4096, .cpus_bytes = 8 }, EFAULT);
}

void control_kind(struct perfctr_control *control, uint32_t counter, uint64_t code, uint32_t kinds)
{
	control->event[control->n_events++] = (struct perfctr_event_control){
		.counter = counter,
		.evntsel = (counter & PERFCTR_FIXED ? 0 : code) | EN | profile.user.evntsel,
		.kinds = kinds,
	};
}

static struct perfctr_control one(uint32_t counter, uint64_t code, uint32_t kinds)
{
	struct perfctr_control control = control_empty(0);

	control_kind(&control, counter, code, kinds);
	return control;
}

bool hybrid_controls_are_refused_for_the_right_reason(void)
{
	const uint64_t umask2 = 1ull << 40;
	const uint32_t none = 0, no_counter = is_extended() ? none : PERFCTR_BAD_COUNTER;
	const struct {
		uint32_t counter;
		uint64_t code;
		uint32_t kinds, reason;
	} tries[] = {
		{ 0, INSTRUCTIONS, 0, none },
		{ 0, INSTRUCTIONS, P | E, none },
		{ 0, INSTRUCTIONS, 4, PERFCTR_BAD_KIND },
		{ 0, INSTRUCTIONS, 1u << 31, PERFCTR_BAD_KIND },
		/*
		 * Only these are architectural. CPUID says that there are none of the last level
		 * cache.
		 */
		{ 0, 0x3c, 0, none },
		{ 0, 0x13c, 0, none },
		{ 0, BRANCHES, 0, none },
		{ 0, 0x4f2e, 0, PERFCTR_BAD_KIND },
		{ 0, 0x1c0, 0, PERFCTR_BAD_KIND },
		{ 0, NEAR_TAKEN_P, 0, PERFCTR_BAD_KIND },
		{ 0, D0_81, 0, PERFCTR_BAD_KIND },
		{ 0, D0_81, P, none },
		{ 0, D0_81, P | E, none },
		{ 6, INSTRUCTIONS, 0, PERFCTR_BAD_COUNTER },
		{ 6, INSTRUCTIONS, P, no_counter },
		{ 6, INSTRUCTIONS, E, PERFCTR_BAD_COUNTER },
		{ 6, INSTRUCTIONS, P | E, PERFCTR_BAD_COUNTER },
		{ 8, INSTRUCTIONS, P, PERFCTR_BAD_COUNTER },
		{ FIXED(2), 0, 0, none },
		{ FIXED(3), 0, 0, PERFCTR_BAD_COUNTER },
		{ FIXED(3), 0, P, no_counter },
		{ FIXED(3), 0, E, PERFCTR_BAD_COUNTER },
		{ 0, INSTRUCTIONS | umask2, 0, PERFCTR_BAD_EVNTSEL },
		{ 0, INSTRUCTIONS | umask2, P, is_extended() ? none : PERFCTR_BAD_EVNTSEL },
		{ 0, INSTRUCTIONS | umask2, E, PERFCTR_BAD_EVNTSEL },
		/*
		 * Events of a further register: OCR on P-cores, OFFCORE_RESPONSE and latency on
		 * E-cores
		 */
		{ 0, 0x12a, P, PERFCTR_BAD_REGISTER },
		{ 0, 0x1b7, E, PERFCTR_BAD_REGISTER },
		{ 0, 0x5d0, E, PERFCTR_BAD_REGISTER },
		{ 0, 0x5d0, P | E, PERFCTR_BAD_REGISTER },
		{ 0, 0x5d0, P, none },
		{ 0, 0x40ad, P, PERFCTR_BAD_REGISTER },
		{ 0, 0x40ad, E, none },
		/* On Golden Cove only counters 0 to 3 count codes below 90H, and memory events. */
		{ 4, 0x151, P, is_extended() ? none : PERFCTR_BAD_ROUTE },
		{ 3, 0x151, P, none },
		{ 4, 0x151, E, none },
		{ 4, 0x187, P, is_extended() ? none : PERFCTR_BAD_ROUTE },
		{ 4, D0_81, P, is_extended() ? none : PERFCTR_BAD_ROUTE },
		{ 4, D0_81, P | E, is_extended() ? none : PERFCTR_BAD_ROUTE },
		{ 4, D0_81, E, none },
		{ 4, 0x3c, 0, none },
		{ 4, 0x197, P, none },
	};
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	for (size_t i = 0; i < sizeof(tries) / sizeof(*tries); i++) {
		struct perfctr_control control =
			one(tries[i].counter, tries[i].code, tries[i].kinds);
		int result = ioctl(fd, PERFCTR_IOC_CONTROL, &control);

		if (result != (tries[i].reason ? -1 : 0) || control.bad_reason != tries[i].reason) {
			printf("try %zu: %d, reason %u instead of %u\n", i, result,
			       control.bad_reason, tries[i].reason);
			return false;
		}
	}
	close(fd);
	return true;
}

bool walker_start(struct walker *w)
{
	int in[2], out[2];

	REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	*w = (struct walker){
		.workload = { .in = in[0], .out = out[1], .rounds = UINT32_MAX, .loop = 1000 },
		.start = in[1],
		.end = out[0],
		.random = 1,
	};
	w->pid = workload_waiting(&w->workload);
	return EXPECT(w->pid > 0);
}

bool walker_end(struct walker *w)
{
	close(w->start);
	close(w->end);
	close(w->workload.in);
	close(w->workload.out);
	return EXPECT(kill(w->pid, SIGKILL) == 0) && EXPECT(waitpid(w->pid, NULL, 0) == w->pid);
}

bool round_on(struct walker *w, unsigned int cpu)
{
	char byte;

	REQUIRE(pin(w->pid, cpu));
	REQUIRE(write(w->start, "", 1) == 1);
	REQUIRE(read(w->end, &byte, 1) == 1);
	w->rounds[cpu]++;
	return wait_until_waiting(w->pid);
}

/* Knuth's linear congruential generator. */
unsigned int random_cpu(uint64_t *random)
{
	*random = *random * 6364136223846793005ull + 1442695040888963407ull;
	return *random >> 63;
}

/* The count of an event of these kinds that happens n times in each round. */
static uint64_t seen(const struct walker *w, uint32_t kinds, uint64_t n)
{
	return n * ((!kinds || kinds & P ? w->rounds[0] : 0) +
		    (!kinds || kinds & E ? w->rounds[1] : 0));
}

static int perf_open(pid_t pid, const char *pmu, uint64_t config)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	char path[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	file = fopen(path, "r");
	if (!file)
		return -1;
	found = fscanf(file, "%u", &attr.type);
	fclose(file);
	return found == 1 ? (int)syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0) : -1;
}

bool hybrid_linux_itself_counts_the_same_on_each_kind(void)
{
	struct walker w;
	uint64_t count;
	int fd[4];

	REQUIRE(walker_start(&w));
	fd[0] = perf_open(w.pid, "cpu_core", INSTRUCTIONS);
	fd[1] = perf_open(w.pid, "cpu_atom", INSTRUCTIONS);
	fd[2] = perf_open(w.pid, "cpu_core", NEAR_TAKEN_P);
	fd[3] = perf_open(w.pid, "cpu_atom", NEAR_TAKEN_E);
	for (int i = 0; i < 4; i++)
		REQUIRE(fd[i] >= 0);
	for (int i = 0; i < 50; i++)
		REQUIRE(round_on(&w, random_cpu(&w.random)));
	for (int i = 0; i < 4; i++) {
		REQUIRE(read(fd[i], &count, sizeof(count)) == sizeof(count));
		REQUIRE(EXPECT_EQUAL(count, seen(&w, i % 2 ? E : P,
						 i < 2 ? round_instructions(&w.workload)
						       : w.workload.loop)));
		close(fd[i]);
	}
	return walker_end(&w);
}

/* On one counter of the kind, with nothing beside it. */
static bool counts_alone(uint32_t counter, uint32_t kinds)
{
	struct perfctr_control control = one(counter, INSTRUCTIONS, kinds);
	struct perfctr_counts counts;
	struct walker w;
	int fd;

	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &control));
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		REQUIRE(round_on(&w, cpu));
		counts = counts_of(fd, PERFCTR_SCOPE_SELF);
		REQUIRE(EXPECT_EQUAL(counts.counter[0],
				     seen(&w, kinds, round_instructions(&w.workload))));
	}
	close(fd);
	return walker_end(&w);
}

bool hybrid_events_of_one_kind_count_there_alone(void)
{
	for (uint32_t number = 0; number < 2; number++) {
		struct perfctr_kind kind;

		REQUIRE(kind_info(number, &kind));
		for (uint32_t bit = 0; bit < 64; bit++)
			if (kind.counters >> bit & 1)
				REQUIRE(counts_alone(bit < 32 ? bit : FIXED(bit - 32),
						     1u << number));
	}
	return true;
}

/* Each round has 5 loads, from "in" to "byte", and no store (workload.c). */
bool hybrid_codes_mean_what_they_mean_on_their_kind(void)
{
	const struct {
		uint64_t code;
		uint32_t kinds;
		uint64_t p, e; /* in a round */
	} events[] = {
		{ D0_81, P, 5, 0 },	{ D0_82, P, 0, 0 }, { D0_81, P | E, 5, 0 },
		{ D0_82, P | E, 0, 5 }, { D0_81, E, 0, 0 }, { D0_82, E, 0, 5 },
	};
	struct perfctr_control control = control_empty(0);
	struct perfctr_counts counts;
	struct walker w;
	int fd;

	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	for (uint32_t i = 0; i < 6; i++)
		control_kind(&control, i, events[i].code, events[i].kinds);
	REQUIRE(context_control(fd, &control));
	for (int i = 0; i < 50; i++)
		REQUIRE(round_on(&w, random_cpu(&w.random)));
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	for (uint32_t i = 0; i < 6; i++)
		REQUIRE(EXPECT_EQUAL(counts.counter[i], events[i].p * w.rounds[0] +
								 events[i].e * w.rounds[1]));
	close(fd);
	return walker_end(&w);
}

/* Events of both kinds, of one kind each, and codes that only one kind has. */
struct perfctr_control mixed(void)
{
	struct perfctr_control control = control_empty(0);

	control_kind(&control, 0, INSTRUCTIONS, 0);
	control_kind(&control, 1, INSTRUCTIONS, P);
	control_kind(&control, 2, INSTRUCTIONS, E);
	control_kind(&control, 3, NEAR_TAKEN_P, P);
	control_kind(&control, 4, NEAR_TAKEN_E, E);
	control_kind(&control, 5, BRANCHES, 0);
	control_kind(&control, FIXED(0), 0, P);
	control_kind(&control, FIXED(1), 0, 0);
	control_kind(&control, FIXED(2), 0, E);
	if (is_extended()) {
		control_kind(&control, 7, INSTRUCTIONS, P);
		control_kind(&control, FIXED(3), 0, P);
	}
	return control;
}

/* Near taken branches of a round: the loop's but the last, and the round's own. */
bool mixed_counts_are_exact(const struct perfctr_counts *counts, const struct walker *w,
			    const struct perfctr_control *control)
{
	const uint64_t each = round_instructions(&w->workload), loop = w->workload.loop;

	REQUIRE(EXPECT_EQUAL(counts->n_counters, control->n_events));
	for (uint32_t i = 0; i < control->n_events; i++) {
		uint64_t n = i == 3 || i == 4 ? loop : i == 5 ? loop + 3 : each;

		REQUIRE(EXPECT_EQUAL(counts->counter[i], seen(w, control->event[i].kinds, n)));
	}
	return true;
}

bool e4_hybrid_rounds_on_kinds_at_random_are_exact_with_their_time(void)
{
	struct perfctr_control control = mixed();
	struct perfctr_counts before = { 0 }, counts;
	struct walker w;
	int fd;

	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &control));
	for (int i = 0; i < 300; i++) {
		unsigned int cpu = random_cpu(&w.random);

		REQUIRE(round_on(&w, cpu));
		counts = counts_at_rest(fd);
		REQUIRE(mixed_counts_are_exact(&counts, &w, &control));
		REQUIRE(EXPECT_EQUAL(counts.kind_tsc[!cpu], before.kind_tsc[!cpu]));
		REQUIRE(EXPECT_EQUAL(counts.kind_tsc[cpu] - before.kind_tsc[cpu],
				     counts.tsc - before.tsc));
		REQUIRE(EXPECT(counts.tsc > before.tsc));
		REQUIRE(EXPECT_EQUAL(counts.kind_tsc[2] + counts.kind_tsc[3], 0));
		before = counts;
	}
	REQUIRE(w.rounds[0] && w.rounds[1]);
	close(fd);
	return walker_end(&w);
}

bool parts_make_up_whole(const struct perfctr_counts *counts)
{
	return EXPECT_EQUAL(counts->counter[1] + counts->counter[2], counts->counter[0]) &&
	       EXPECT_EQUAL(counts->kind_tsc[0] + counts->kind_tsc[1], counts->tsc);
}

/*
 * The program is sent to and fro in the middle of its instructions, until both kinds have seen
 * some.
 */
bool hybrid_parts_make_up_the_whole_at_any_moment(void)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	struct perfctr_control control = mixed();
	struct workload w = { .in = zeros(), .out = nowhere(), .rounds = UINT32_MAX, .loop = 1000 };
	struct perfctr_counts counts = { 0 };
	uint64_t random = 2;
	pid_t pid = workload_fork(&w);
	int fd = context_open(pid);

	REQUIRE(pid > 0 && fd >= 0);
	REQUIRE(context_control(fd, &control));
	while (counts.migrations < 200) {
		pin(pid, random_cpu(&random));
		counts = counts_of(fd, PERFCTR_SCOPE_SELF);
		REQUIRE(parts_make_up_whole(&counts));
		nanosleep(&pause, NULL);
	}
	REQUIRE(EXPECT(counts.counter[1] > 0) && EXPECT(counts.counter[2] > 0));
	close(fd);
	return EXPECT(kill(pid, SIGKILL) == 0) && EXPECT(waitpid(pid, NULL, 0) == pid);
}

/* Between two reads lie 2 * n instructions, and a constant number of others. */
static __attribute__((noinline)) uint64_t difference(const struct perfctr_page *page, uint32_t n)
{
	uint64_t before = perfctr_read_pmc(page, 0);

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc");
	return perfctr_read_pmc(page, 0) - before;
}

/* A read that a switch has disturbed takes more of the others. */
static uint64_t undisturbed_difference(const struct perfctr_page *page, uint32_t n)
{
	uint64_t switches, result;

	do {
		switches = page->switches;
		result = difference(page, n);
	} while (page->switches != switches);
	return result;
}

static bool self_reads_are_exact(struct perfctr *self, uint32_t counter, uint32_t kinds)
{
	const bool everywhere = counter >= PERFCTR_FIXED ? counter < FIXED(3) : counter < 6;
	struct perfctr_control control = one(counter, INSTRUCTIONS, kinds);
	const struct perfctr_page *page;

	REQUIRE(perfctr_set_control(self, &control) == 0);
	page = perfctr_get_page(self);
	REQUIRE(EXPECT_EQUAL(!!page, everywhere));
	for (unsigned int cpu = 0; page && cpu < 2; cpu++) {
		const uint32_t n = 100000;
		bool here = !kinds || kinds >> cpu & 1;
		uint64_t expected = here ? 2ull * (n - 1) : 0;

		REQUIRE(pin(0, cpu));
		REQUIRE(EXPECT_EQUAL(undisturbed_difference(page, n) -
					     undisturbed_difference(page, 1),
				     expected));
	}
	return true;
}

bool hybrid_self_reads_are_exact_on_each_kind(void)
{
	struct perfctr *self = perfctr_open();

	REQUIRE(self);
	for (uint32_t kinds = 0; kinds < 4; kinds++)
		for (uint32_t bit = 0; bit < 64; bit++) {
			struct perfctr_kind core;

			REQUIRE(kind_info(0, &core));
			if (!((kinds == P ? core.counters : COUNTERS(6, 3)) >> bit & 1))
				continue;
			REQUIRE(self_reads_are_exact(self, bit < 32 ? bit : FIXED(bit - 32),
						     kinds));
		}
	perfctr_close(self);
	return true;
}

pid_t start_rival(void)
{
	const struct timespec pause = { .tv_nsec = 300000 };
	const pid_t victim = (pid_t)syscall(SYS_gettid);
	uint64_t random = 3;
	pid_t pid = fork();

	while (!pid) {
		if (!pin(victim, random_cpu(&random)))
			_exit(1);
		nanosleep(&pause, NULL);
	}
	return pid;
}

/*
 * Counter 0 counts on both kinds, 1 and 2 on one kind each. They are read one after the other. So
 * the sum of the parts is ahead of the whole by the instructions from its RDPMC to the RDPMC of the
 * part that counts here.
 */
static bool ahead(const struct perfctr_page *page, uint64_t *value)
{
	struct perfctr_snapshot s;

	perfctr_read_snapshot(page, 3, &s);
	*value = s.counter[1] + s.counter[2] - s.counter[0];
	return true;
}

bool hybrid_self_reads_across_migrations_are_exact(void)
{
	struct perfctr_control control = control_empty(0);
	struct perfctr *self = perfctr_open();
	const struct perfctr_page *page;
	uint64_t on[2], value, migrations;
	pid_t rival;

	REQUIRE(self);
	control_kind(&control, 0, INSTRUCTIONS, 0);
	control_kind(&control, 1, INSTRUCTIONS, P);
	control_kind(&control, 2, INSTRUCTIONS, E);
	REQUIRE(perfctr_set_control(self, &control) == 0);
	page = perfctr_get_page(self);
	REQUIRE(page);
	for (unsigned int cpu = 0; cpu < 2; cpu++)
		REQUIRE(pin(0, cpu) && ahead(page, &on[cpu]));
	/* Counter 2 is read twice as many instructions after counter 0 as counter 1 is. */
	REQUIRE(EXPECT(on[0] > 0) && EXPECT_EQUAL(on[1], 2 * on[0]));
	migrations = page->migrations;
	rival = start_rival();
	REQUIRE(rival > 0);
	while (page->migrations - migrations < 300) {
		REQUIRE(ahead(page, &value));
		REQUIRE(EXPECT(value == on[0] || value == on[1]));
	}
	perfctr_close(self);
	return EXPECT(kill(rival, SIGKILL) == 0) && EXPECT(waitpid(rival, NULL, 0) == rival);
}

bool hybrid_children_inherit_kinds(void)
{
	const struct workload w = { .in = zeros(), .out = nowhere(), .rounds = 10, .loop = 100000 };
	struct perfctr_control control = mixed();
	struct perfctr_counts counts;
	uint64_t random = 4;
	pid_t pids[20];
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	control.flags |= PERFCTR_CONTROL_INHERIT;
	REQUIRE(context_control(fd, &control));
	for (int i = 0; i < 20; i++) {
		REQUIRE(pin(0, random_cpu(&random)));
		pids[i] = workload_fork(&w);
		REQUIRE(pids[i] > 0);
	}
	for (int i = 0; i < 20; i++)
		pin(pids[i], random_cpu(&random));
	for (int i = 0; i < 20; i++)
		REQUIRE(reap(pids[i]));
	counts = counts_of(fd, PERFCTR_SCOPE_CHILDREN);
	close(fd);
	return EXPECT_EQUAL(counts.counter[0], 20 * workload_instructions(&w)) &&
	       EXPECT_EQUAL(counts.counter[5], 20 * workload_branches(&w)) &&
	       parts_make_up_whole(&counts);
}

bool hybrid_sessions_count_on_both_kinds(void)
{
	const uint32_t policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED;
	int mark_fd = mark_open(), session = session_open(mark_fd, policy);
	struct perfctr_control control = mixed();
	struct perfctr_counts counts;
	struct walker w;

	REQUIRE(mark_fd >= 0 && session >= 0);
	REQUIRE(walker_start(&w));
	REQUIRE(context_control(session, &control));
	REQUIRE(mark(mark_fd, w.pid));
	for (int i = 0; i < 100; i++) {
		REQUIRE(round_on(&w, random_cpu(&w.random)));
		counts = counts_of(session, PERFCTR_SCOPE_SELF);
		REQUIRE(mixed_counts_are_exact(&counts, &w, &control));
		REQUIRE(parts_make_up_whole(&counts));
		REQUIRE(EXPECT_EQUAL(!!counts.kind_tsc[0], !!w.rounds[0]));
		REQUIRE(EXPECT_EQUAL(!!counts.kind_tsc[1], !!w.rounds[1]));
	}
	close(session);
	close(mark_fd);
	return walker_end(&w);
}

bool set_online(bool online)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, online ? "1" : "0", 1) == 1;

	close(fd);
	return EXPECT(good);
}

/* The E-core goes offline while a thread is there, which must then go on elsewhere. */
bool hybrid_cores_may_go_and_come(void)
{
	struct perfctr_control control = mixed();
	struct perfctr_counts counts;
	struct walker w;
	int fd;

	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &control));
	for (int i = 0; i < 5; i++) {
		struct perfctr_kind atom;

		REQUIRE(round_on(&w, 1));
		REQUIRE(set_online(false));
		REQUIRE(kind_info(1, &atom) && EXPECT(!strcmp(atom.name, "atom")));
		REQUIRE(round_on(&w, 0));
		REQUIRE(set_online(true));
		REQUIRE(round_on(&w, 1));
		counts = counts_of(fd, PERFCTR_SCOPE_SELF);
		REQUIRE(mixed_counts_are_exact(&counts, &w, &control));
		REQUIRE(parts_make_up_whole(&counts));
	}
	close(fd);
	return walker_end(&w);
}
