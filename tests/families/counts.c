// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts of programs, and of the thread itself. */
#include "families.h"

#include <fcntl.h>
#include <perfctr.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CHILDREN 20

static struct workload endless(uint32_t rounds, uint32_t loop)
{
	return (struct workload){ .in = zeros(), .out = nowhere(), .rounds = rounds, .loop = loop };
}

bool count_children_of(int fd, const struct perfctr_control *control, const struct workload *w,
		       unsigned int n, struct perfctr_counts *counts)
{
	struct perfctr_control inherited = *control;
	pid_t pids[CHILDREN];

	inherited.flags |= PERFCTR_CONTROL_INHERIT;
	REQUIRE(context_control(fd, &inherited));
	for (unsigned int i = 0; i < n; i++) {
		pids[i] = workload_fork(w);
		REQUIRE(pids[i] > 0);
	}
	for (unsigned int i = 0; i < n; i++)
		REQUIRE(reap(pids[i]));
	*counts = counts_of(fd, PERFCTR_SCOPE_CHILDREN);
	return EXPECT(counts->n_counters == control->n_events);
}

/* The counts of n children of this thread, which run side by side under the control. */
static bool count_children(const struct perfctr_control *control, const struct workload *w,
			   unsigned int n, struct perfctr_counts *counts)
{
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	REQUIRE(count_children_of(fd, control, w, n, counts));
	close(fd);
	return true;
}

bool machine_is_what_its_profile_says(void)
{
	struct perfctr_pmu_info info = machine_info();

	return EXPECT(info.abi_version == PERFCTR_ABI_VERSION) &
	       EXPECT(!strcmp(info.family, profile.family)) &
	       EXPECT_EQUAL(info.features, profile.features) &
	       EXPECT_EQUAL(info.n_general, profile.n_general) &
	       EXPECT_EQUAL(info.general_bits, profile.general_bits) &
	       EXPECT_EQUAL(info.n_fixed, profile.n_fixed) &
	       EXPECT_EQUAL(info.fixed_bits, profile.fixed_bits) &
	       EXPECT_EQUAL(info.evntsel_user, profile.user.evntsel) &
	       EXPECT_EQUAL(info.evntsel2_user, profile.user.evntsel2) &
	       EXPECT_EQUAL(info.evntsel_kernel, profile.kernel.evntsel) &
	       EXPECT_EQUAL(info.evntsel2_kernel, profile.kernel.evntsel2);
}

bool instructions_are_exact_on_every_counter(void)
{
	const struct workload workloads[] = { endless(1, 1), endless(10, 1000),
					      endless(3, 1000000) };

	for (size_t i = 0; i < profile.instructions.n; i++) {
		struct perfctr_control control = control_one(&profile.instructions.of[i], USER);

		for (size_t k = 0; k < sizeof(workloads) / sizeof(*workloads); k++) {
			struct perfctr_counts counts;

			REQUIRE(count_children(&control, &workloads[k], 1, &counts));
			REQUIRE(EXPECT_EQUAL(counts.counter[0],
					     workload_instructions(&workloads[k])));
		}
	}
	return true;
}

bool controls_are_told_as_they_were_set(void)
{
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	for (size_t i = 0; i < profile.instructions.n; i++) {
		struct perfctr_control control = control_one(&profile.instructions.of[i], USER);

		REQUIRE(EXPECT(context_control(fd, &control)) && EXPECT(is_told(fd, &control)));
	}
	close(fd);
	return true;
}

bool branches_are_exact_on_every_counter(void)
{
	const struct workload w = endless(10, 1000);

	for (size_t i = 0; i < profile.branches.n; i++) {
		struct perfctr_control control = control_one(&profile.branches.of[i], USER);
		struct perfctr_counts counts;

		REQUIRE(count_children(&control, &w, 1, &counts));
		REQUIRE(EXPECT_EQUAL(counts.counter[0], workload_branches(&w)));
	}
	return true;
}

bool all_counters_count_at_once(void)
{
	const struct workload w = endless(10, 1000);
	struct perfctr_control control = control_empty(0);
	struct perfctr_counts counts;

	for (size_t i = 0; i < profile.instructions.n; i++)
		control_add(&control, &profile.instructions.of[i], USER);
	REQUIRE(count_children(&control, &w, 1, &counts));
	for (size_t i = 0; i < profile.instructions.n; i++)
		REQUIRE(EXPECT_EQUAL(counts.counter[i], workload_instructions(&w)));
	return true;
}

/*
 * Where counters do not start and stop with one instruction, some instructions of the kernel lie
 * between the writes to them. User mode is exact there, too.
 */
static bool user_part_is_exact(const struct perfctr_counts *counts, const struct workload *w)
{
	const uint64_t between_writes = 64;
	int64_t excess = counts->counter[0] - counts->counter[1] - workload_instructions(w);

	if (profile.features & PERFCTR_FEATURE_GLOBAL_ENABLE)
		return EXPECT_EQUAL(counts->counter[0] - counts->counter[1],
				    workload_instructions(w));
	return EXPECT(llabs(excess) <= (int64_t)(between_writes * (counts->switches + 2)));
}

bool user_and_kernel_make_up_both(void)
{
	const struct workload w = endless(300, 1000);

	for (size_t i = 0; i + 1 < profile.instructions.n; i++) {
		struct perfctr_control control = control_empty(0);
		struct perfctr_counts counts;

		control_add(&control, &profile.instructions.of[i], BOTH);
		control_add(&control, &profile.instructions.of[i + 1], KERNEL);
		REQUIRE(count_children(&control, &w, 1, &counts));
		/* Each round has two system calls. */
		REQUIRE(EXPECT(counts.counter[1] > 2 * 50 * w.rounds));
		REQUIRE(user_part_is_exact(&counts, &w));
	}
	return true;
}

/* The second program has 1000 times the first one's user instructions, and as many system calls. */
bool kernel_mode_alone_has_no_user_instruction(void)
{
	const struct workload small = endless(10, 1000), large = endless(10, 1000000);

	for (size_t i = 0; i < profile.instructions.n; i++) {
		struct perfctr_control control = control_one(&profile.instructions.of[i], KERNEL);
		struct perfctr_counts few, many;

		REQUIRE(count_children(&control, &small, 1, &few));
		REQUIRE(count_children(&control, &large, 1, &many));
		REQUIRE(few.counter[0] > 0);
		REQUIRE(many.counter[0] < workload_instructions(&large) / 2);
	}
	return true;
}

bool children_inherit_and_are_counted_exactly(void)
{
	const struct workload w = endless(10, 10000);
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	struct perfctr_counts counts;

	return count_children(&control, &w, CHILDREN, &counts) &&
	       EXPECT_EQUAL(counts.counter[0], CHILDREN * workload_instructions(&w));
}

bool counts_of_both_modes_hold_the_user_instructions(void)
{
	const struct workload w = endless(10, 1000000);

	for (size_t i = 0; i < profile.instructions.n; i++) {
		struct perfctr_control control = control_one(&profile.instructions.of[i], BOTH);

		for (unsigned int n = 1; n <= CHILDREN; n += CHILDREN - 1) {
			struct perfctr_counts counts;

			REQUIRE(count_children(&control, &w, n, &counts));
			REQUIRE(is_count_of_both_modes(counts.counter[0],
						       n * workload_instructions(&w)));
		}
	}
	return true;
}

static const struct perfctr_page *map(int fd)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

/* A mapped page keeps the context. */
static void unmap(const struct perfctr_page *page, int fd)
{
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
}

/* Reads through the library, which chooses the way that the machine has. */
bool reads_of_the_thread_itself_lie_between_read_calls(void)
{
	const bool in_user_mode = profile.features & PERFCTR_FEATURE_RDPMC;
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	struct perfctr *self = perfctr_open();

	REQUIRE(self);
	REQUIRE(perfctr_set_control(self, &control) == 0);
	REQUIRE(!!perfctr_get_page(self) == in_user_mode);
	for (unsigned int i = 0; i < 1000; i++) {
		struct perfctr_counts before, after;
		uint64_t instructions;

		REQUIRE(perfctr_read(self, &before) == 0);
		instructions = perfctr_read_counter(self, 0);
		REQUIRE(perfctr_read(self, &after) == 0);
		REQUIRE(before.counter[0] < instructions && instructions < after.counter[0]);
	}
	perfctr_close(self);
	return true;
}

static sigjmp_buf fault;

static void on_fault(int signal)
{
	(void)signal;
	siglongjmp(fault, 1);
}

/* SIGILL comes where there is no such instruction. */
bool read_pmc(uint32_t index, uint64_t *value)
{
	struct sigaction action = { .sa_handler = on_fault }, before, before_ill;
	bool done = false;

	sigaction(SIGSEGV, &action, &before);
	sigaction(SIGILL, &action, &before_ill);
	if (!sigsetjmp(fault, 1)) {
		uint32_t low, high;

		__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
		*value = (uint64_t)high << 32 | low;
		done = true;
	}
	sigaction(SIGSEGV, &before, NULL);
	sigaction(SIGILL, &before_ill, NULL);
	return done;
}

static bool try_rdpmc(uint32_t index)
{
	uint64_t value;

	return read_pmc(index, &value);
}

/* RDPMC is for threads that have mapped a page of their own, where the processor has it. */
bool rdpmc_is_for_those_who_may(void)
{
	const bool in_user_mode = profile.features & PERFCTR_FEATURE_RDPMC;
	const struct counting *first = &profile.instructions.of[0];
	struct perfctr_control control = control_one(first, USER);
	const struct perfctr_page *page;
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &control));
	REQUIRE(!try_rdpmc(first->counter));
	page = map(fd);
	REQUIRE(page);
	REQUIRE(!!(page->flags & PERFCTR_PAGE_RDPMC) == in_user_mode);
	REQUIRE(try_rdpmc(first->counter) == in_user_mode);
	unmap(page, fd);
	return EXPECT(!try_rdpmc(first->counter));
}

/* The thread does not count with this counter, in which another thread may have left something. */
static bool is_hidden(int msrs, uint32_t msr, uint32_t index)
{
	const uint64_t left = 12345;
	uint64_t seen = left, there = 0;

	REQUIRE(pwrite(msrs, &left, sizeof(left), msr) == sizeof(left));
	REQUIRE(read_pmc(index, &seen));
	REQUIRE(pread(msrs, &there, sizeof(there), msr) == sizeof(there));
	return EXPECT_EQUAL(there, left) && EXPECT_EQUAL(seen, 0);
}

/* Architectural PMU: IA32_PMC1 and IA32_FIXED_CTR1 (SDM volume 4). */
bool e3_counters_of_others_are_hidden_from_rdpmc(void)
{
	const struct counting *own = &profile.instructions.of[0];
	struct perfctr_control control = control_one(own, USER);
	const struct perfctr_page *page;
	uint64_t value = 0;
	int msrs = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC), fd = context_open(0);
	bool good;

	REQUIRE(msrs >= 0 && fd >= 0 && pin(0, 0));
	REQUIRE(context_control(fd, &control));
	page = map(fd);
	REQUIRE(page);
	good = EXPECT(read_pmc(own->counter, &value)) && EXPECT(value > 0) &&
	       is_hidden(msrs, 0xc2, 1) && is_hidden(msrs, 0x30a, PERFCTR_FIXED + 1);
	unmap(page, fd);
	close(msrs);
	return good;
}

bool only_the_time_stamp_can_be_controlled(void)
{
	const struct counting any = { .counter = 0, .event = { .evntsel = 0x004100c0 } };
	struct perfctr_control stamp = control_empty(0), events = control_one(&any, USER);
	struct perfctr_counts counts;
	bool good;
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &stamp));
	errno = 0;
	good = EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &events) == -1) && EXPECT(errno == ENODEV);
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	close(fd);
	return good && EXPECT(counts.tsc > 0) && EXPECT(counts.flags & PERFCTR_COUNTS_STARTED);
}

static uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* No more ticks than have passed, and no tick while another process ran. */
bool the_time_stamp_counts_while_the_thread_runs(void)
{
	const struct timespec nap = { .tv_nsec = 200000000 };
	struct perfctr_control control = control_empty(0);
	const struct perfctr_page *page;
	struct perfctr_counts slept, counts;
	uint64_t start = rdtsc(), ticks;
	int fd = context_open(0);

	REQUIRE(fd >= 0);
	REQUIRE(context_control(fd, &control));
	page = map(fd);
	REQUIRE(page);
	/*
	 * Time that the host takes while the thread runs is counted. The thread sleeps until that
	 * is little.
	 */
	for (int i = 0; i < 100 && (i == 0 || slept.tsc >= (rdtsc() - start) / 2); i++) {
		nanosleep(&nap, NULL);
		slept = counts_of(fd, PERFCTR_SCOPE_SELF);
	}
	REQUIRE(slept.tsc > 0 && slept.tsc < (rdtsc() - start) / 2);
	while (!perfctr_try_tsc(&page->tsc, &ticks))
		continue;
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	unmap(page, fd);
	return EXPECT(slept.tsc < ticks) && EXPECT(ticks < counts.tsc) &&
	       EXPECT(counts.tsc < rdtsc() - start);
}

/*
 * IA32_PERF_GLOBAL_STATUS_SET, bit CTR_FRZ: as after an interrupt that froze the counters and that
 * nobody served (SDM volume 3, 20.2.4).
 */
bool counters_that_others_left_frozen_count(void)
{
	const uint64_t frozen = 1ull << 59;
	const struct counting *counting = &profile.instructions.of[0];
	struct perfctr_control control = control_one(counting, USER);
	int msrs = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC), fd = context_open(0);
	uint64_t first;

	REQUIRE(msrs >= 0 && fd >= 0);
	REQUIRE(pin(0, 0));
	REQUIRE(pwrite(msrs, &frozen, sizeof(frozen), 0x391) == sizeof(frozen));
	REQUIRE(context_control(fd, &control));
	first = counts_of(fd, PERFCTR_SCOPE_SELF).counter[0];
	REQUIRE(counts_of(fd, PERFCTR_SCOPE_SELF).counter[0] > first);
	close(fd);
	close(msrs);
	return true;
}
