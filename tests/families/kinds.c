// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Concurrency on a hybrid machine: threads that read their own counters while they are sent from
 * one kind of core to the other, sessions beside contexts, and a kind whose last CPU goes offline.
 */
#include "hybrid.h"

#include <perfctr.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READERS 4
#define MIGRATIONS 100

static const struct perfctr_page *map_page(int fd)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

static uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter) : "memory");
	return (uint64_t)high << 32 | low;
}

/* A counter that only P-cores have, where they report it. */
static uint32_t counter_of_p_cores(void)
{
	return is_extended() ? 7 : 1;
}

/* The whole, and the parts of P-cores and E-cores. */
static struct perfctr_control parts(void)
{
	struct perfctr_control control = control_empty(0);

	control_kind(&control, 0, INSTRUCTIONS, 0);
	control_kind(&control, counter_of_p_cores(), INSTRUCTIONS, P);
	control_kind(&control, 2, INSTRUCTIONS, E);
	if (is_extended())
		control_kind(&control, FIXED(3), 0, P);
	return control;
}

static bool reads_on_both_kinds(void)
{
	struct perfctr_control control = parts();
	int fd = context_open(0);
	const struct perfctr_page *page = map_page(fd);

	REQUIRE(fd >= 0 && page);
	REQUIRE(context_control(fd, &control));
	REQUIRE(EXPECT_EQUAL(!(page->flags & PERFCTR_PAGE_RDPMC), is_extended()));
	for (int i = 0; i < 20; i++) {
		uint64_t before, after;

		REQUIRE(pin(0, 0));
		before = perfctr_read_pmc(page, 1);
		REQUIRE(EXPECT(perfctr_read_pmc(page, 1) > before));
		REQUIRE(pin(0, 1));
		before = perfctr_read_pmc(page, 1);
		after = perfctr_read_pmc(page, 1);
		REQUIRE(EXPECT_EQUAL(after, before));
		/* A counter that the thread does not use shows nothing. */
		if (is_extended())
			REQUIRE(EXPECT_EQUAL(rdpmc(6), 0));
		REQUIRE(EXPECT_EQUAL(counts_of(fd, PERFCTR_SCOPE_SELF).counter[1], before));
	}
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
	return true;
}

/*
 * The kernel executes it after the fault. The thread has read the counter's number on another CPU,
 * and did not choose its control.
 */
bool hybrid_rdpmc_of_a_counter_that_is_not_here_is_executed(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(!reads_on_both_kinds());
	return EXPECT(reap(pid));
}

/* A counter that neither kind has is still an error of the program. */
bool hybrid_rdpmc_of_a_counter_that_is_nowhere_faults(void)
{
	const uint32_t counters[] = { 8, 31, 32, FIXED(4), FIXED(31), FIXED(32), 1u << 29, 1u << 31 };

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		for (unsigned int cpu = 0; cpu < 2; cpu++) {
			pid_t pid = fork();
			int status;

			if (!pid) {
				struct perfctr_control control = parts();
				int fd = context_open(0);

				if (fd < 0 || !map_page(fd) || !context_control(fd, &control) ||
				    !pin(0, cpu))
					_exit(1);
				rdpmc(counters[i]);
				_exit(0);
			}
			REQUIRE(waitpid(pid, &status, 0) == pid);
			if (!EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV)) {
				printf("counter 0x%x on CPU %u\n", counters[i], cpu);
				return false;
			}
		}
	return true;
}

/* Reads until the thread has been on both kinds often enough. No counter ever goes back. */
static void *read_own(void *good)
{
	struct perfctr_control control = parts();
	uint64_t before[PERFCTR_MAX_COUNTERS] = { 0 };
	int fd = context_open(0);
	const struct perfctr_page *page = map_page(fd);
	struct perfctr_counts counts;
	pid_t rival;

	if (!EXPECT(fd >= 0 && page) || !context_control(fd, &control))
		return NULL;
	rival = start_rival();
	while (page->migrations < MIGRATIONS)
		for (uint32_t i = 0; i < control.n_events; i++) {
			uint64_t value = perfctr_read_pmc(page, i);

			if (!EXPECT(value >= before[i]))
				return NULL;
			before[i] = value;
		}
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	*(bool *)good = parts_make_up_whole(&counts) &&
			EXPECT(counts.counter[1] && counts.counter[2]) &&
			EXPECT(!(counts.flags & PERFCTR_COUNTS_DISTURBED));
	for (uint32_t i = 0; i < control.n_events; i++)
		*(bool *)good &= EXPECT(counts.counter[i] >= before[i]);
	*(bool *)good &= EXPECT(kill(rival, SIGKILL) == 0 && waitpid(rival, NULL, 0) == rival);
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
	return NULL;
}

/* Threads of one process. Each has mapped a page. RDPMC is allowed, or faults, for all of them. */
bool hybrid_threads_that_migrate_read_their_own_counters(void)
{
	const uint64_t disturbances = machine_info().disturbances;
	bool good[READERS] = { false };
	pthread_t threads[READERS];

	for (int i = 0; i < READERS; i++)
		REQUIRE(!pthread_create(&threads[i], NULL, read_own, &good[i]));
	for (int i = 0; i < READERS; i++)
		REQUIRE(!pthread_join(threads[i], NULL));
	for (int i = 0; i < READERS; i++)
		REQUIRE(EXPECT(good[i]));
	return EXPECT_EQUAL(machine_info().disturbances, disturbances);
}

/* The same three events on a session's counters and on those of a context. */
static void add_parts(struct perfctr_control *control, uint32_t first)
{
	control_kind(control, first, INSTRUCTIONS, 0);
	control_kind(control, first + 1, INSTRUCTIONS, P);
	control_kind(control, first + 2, INSTRUCTIONS, E);
}

bool hybrid_a_session_with_events_of_kinds_agrees_with_a_context(void)
{
	const uint32_t policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED;
	struct perfctr_control of_session = control_empty(0), of_context = control_empty(0);
	int mark_fd = mark_open(), session = session_open(mark_fd, policy), fd;
	const uint64_t disturbances = machine_info().disturbances;
	struct perfctr_counts a, b;
	struct walker w;

	REQUIRE(mark_fd >= 0 && session >= 0);
	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	add_parts(&of_session, 0);
	add_parts(&of_context, 3);
	REQUIRE(context_control(session, &of_session));
	REQUIRE(mark(mark_fd, w.pid));
	REQUIRE(context_control(fd, &of_context));
	for (int i = 0; i < 100; i++) {
		REQUIRE(round_on(&w, random_cpu(&w.random)));
		a = counts_of(session, PERFCTR_SCOPE_SELF);
		b = counts_of(fd, PERFCTR_SCOPE_SELF);
		REQUIRE(parts_make_up_whole(&a) && parts_make_up_whole(&b));
		for (int n = 0; n < 3; n++)
			REQUIRE(EXPECT_EQUAL(a.counter[n], b.counter[n]));
		REQUIRE(EXPECT_EQUAL(b.counter[1],
				     w.rounds[0] * round_instructions(&w.workload)));
		REQUIRE(EXPECT(!((a.flags | b.flags) & PERFCTR_COUNTS_DISTURBED)));
	}
	close(fd);
	close(session);
	close(mark_fd);
	return walker_end(&w) && EXPECT_EQUAL(machine_info().disturbances, disturbances);
}

static uint64_t e_cores(void)
{
	uint64_t cpus = UINT64_MAX;
	struct perfctr_kind_cpus request = {
		.size = sizeof(request),
		.kind = 1,
		.cpus = (uintptr_t)&cpus,
		.cpus_bytes = sizeof(cpus),
	};

	return device_call(PERFCTR_IOC_KIND_CPUS, &request) ? UINT64_MAX : cpus;
}

/* The kind still exists: accepted controls stay, new ones are accepted, and all of them wait. */
bool hybrid_a_kind_whose_last_cpu_goes_waits_for_it(void)
{
	const uint32_t policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED;
	int mark_fd = mark_open(), session = session_open(mark_fd, policy), fd;
	struct perfctr_control of_session = control_empty(0), of_context = control_empty(0);
	const uint64_t disturbances = machine_info().disturbances;
	struct perfctr_counts a, b;
	struct walker w;

	REQUIRE(mark_fd >= 0 && session >= 0);
	REQUIRE(walker_start(&w));
	fd = context_open(w.pid);
	REQUIRE(fd >= 0);
	add_parts(&of_session, 0);
	add_parts(&of_context, 3);
	REQUIRE(context_control(session, &of_session));
	REQUIRE(mark(mark_fd, w.pid));
	REQUIRE(context_control(fd, &of_context));
	for (int i = 0; i < 5; i++) {
		int late = context_open(0);
		struct perfctr_control of_late = control_empty(0);

		REQUIRE(round_on(&w, 1));
		REQUIRE(set_online(false));
		REQUIRE(EXPECT_EQUAL(machine_info().n_kinds, 2) && EXPECT_EQUAL(e_cores(), 0));
		control_kind(&of_late, 5, INSTRUCTIONS, E);
		REQUIRE(late >= 0 && context_control(late, &of_late));
		REQUIRE(round_on(&w, 0));
		REQUIRE(EXPECT_EQUAL(counts_of(late, PERFCTR_SCOPE_SELF).counter[0], 0));
		a = counts_of(session, PERFCTR_SCOPE_SELF);
		REQUIRE(EXPECT_EQUAL(a.counter[2], w.rounds[1] * round_instructions(&w.workload)));
		REQUIRE(set_online(true));
		REQUIRE(EXPECT_EQUAL(e_cores(), 2));
		REQUIRE(pin(0, 1) && pin(0, 0));
		REQUIRE(EXPECT(counts_of(late, PERFCTR_SCOPE_SELF).counter[0] > 0));
		close(late);
		REQUIRE(round_on(&w, 1));
		a = counts_of(session, PERFCTR_SCOPE_SELF);
		b = counts_of(fd, PERFCTR_SCOPE_SELF);
		REQUIRE(parts_make_up_whole(&a) && parts_make_up_whole(&b));
		for (int n = 0; n < 3; n++)
			REQUIRE(EXPECT_EQUAL(a.counter[n], b.counter[n]));
		REQUIRE(EXPECT_EQUAL(b.counter[2], w.rounds[1] * round_instructions(&w.workload)));
		REQUIRE(EXPECT(!((a.flags | b.flags) & PERFCTR_COUNTS_DISTURBED)));
	}
	close(fd);
	close(session);
	close(mark_fd);
	return walker_end(&w) && EXPECT_EQUAL(machine_info().disturbances, disturbances);
}

/* Ticks come on the kind that lacks some counters, and find the registers as they should be. */
bool hybrid_counters_that_are_not_here_are_no_disturbance(void)
{
	const struct timespec second = { .tv_sec = 1 };
	struct workload workload = { .in = zeros(), .out = nowhere(), .rounds = UINT32_MAX, .loop = 1000 };
	const uint64_t disturbances = machine_info().disturbances;
	struct perfctr_control control = mixed();
	struct perfctr_counts counts;
	pid_t pid = workload_fork(&workload);
	int fd = context_open(pid);

	REQUIRE(pid > 0 && fd >= 0);
	REQUIRE(pin(pid, 1));
	REQUIRE(context_control(fd, &control));
	nanosleep(&second, NULL);
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	close(fd);
	return EXPECT(!(counts.flags & PERFCTR_COUNTS_DISTURBED)) && parts_make_up_whole(&counts) &&
	       EXPECT_EQUAL(machine_info().disturbances, disturbances) &&
	       EXPECT(kill(pid, SIGKILL) == 0) && EXPECT(waitpid(pid, NULL, 0) == pid);
}
