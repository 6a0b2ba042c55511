// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * i386 events|timestamp: the duties of a 32-bit kernel, on a machine with counters or with only a
 * time stamp. The program is static and does without libcheck, because no other file of the host
 * can be executed there. It speaks to the kernel through its ABI only; reads in user mode are the
 * library's. Prints a line for each test, "ok NAME" or "FAILED NAME".
 */
#define _GNU_SOURCE
#include "../guest/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Event select registers of the architectural PMU (SDM volume 3, 20.2.1.1 and table 20-1). */
#define INSTRUCTIONS	0x004000c0u
#define USER		0x00010000u
#define KERNEL		0x00020000u

#define ITERATIONS	1000000u
#define DEVICE		"/dev/perfctr"

static int device = -1;

/* Prints what is not so, for the reader of the log. The test has failed then. */
#define EXPECT(condition) \
	((condition) || (printf("%s:%d: not so: %s (errno: %s)\n", __FILE__, __LINE__, #condition, \
				strerror(errno)), false))
#define REQUIRE(condition) \
	do { \
		if (!EXPECT(condition)) \
			return false; \
	} while (0)

static int context_open(void)
{
	struct perfctr_open_args open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREATE };

	return ioctl(device, PERFCTR_IOC_OPEN, &open);
}

/* The first n of these: user instructions on counter 0, the kernel's on 1, both on 2. */
static int control(int fd, unsigned int n, uint32_t flags)
{
	struct perfctr_control control = {
		.size = sizeof(control),
		.flags = flags,
		.n_events = n,
		.event = {
			{ .counter = 0, .evntsel = INSTRUCTIONS | USER },
			{ .counter = 1, .evntsel = INSTRUCTIONS | KERNEL },
			{ .counter = 2, .evntsel = INSTRUCTIONS | USER | KERNEL },
		},
	};

	return ioctl(fd, PERFCTR_IOC_CONTROL, &control);
}

static struct perfctr_counts counts_of(int fd, uint32_t scope)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = scope };

	if (ioctl(fd, PERFCTR_IOC_READ, &counts))
		memset(&counts, 0, sizeof(counts));
	return counts;
}

/* A child that executes 6 + 2 * n instructions. */
static pid_t fork_loop(uint32_t n)
{
	long pid = SYS_fork;

	__asm__ volatile("int	$0x80\n\t"
			 "test	%%eax, %%eax\n\t"	/* 1 of the child */
			 "jnz	2f\n\t"			/* 1 */
			 "mov	%[n], %%ecx\n"		/* 1 */
			 "1:	dec	%%ecx\n\t"	/* n */
			 "jnz	1b\n\t"			/* n */
			 "xor	%%ebx, %%ebx\n\t"	/* 1 */
			 "mov	%[exit], %%eax\n\t"	/* 1 */
			 "int	$0x80\n"		/* 1 */
			 "2:"
			 : "+a"(pid)
			 : [n] "r"(n), [exit] "i"(SYS_exit)
			 : "ebx", "ecx", "memory", "cc");
	return pid;
}

static const struct perfctr_page *map(int fd)
{
	return mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
}

/* A mapped page keeps the context. */
static void unmap(const struct perfctr_page *page, int fd)
{
	munmap((void *)page, PERFCTR_PAGE_SIZE);
	close(fd);
}

static struct perfctr_pmu_info machine(void)
{
	struct perfctr_pmu_info info = { .size = sizeof(info) };

	if (ioctl(device, PERFCTR_IOC_INFO, &info))
		memset(&info, 0, sizeof(info));
	return info;
}

static bool counters_are_those_of_the_processor(void)
{
	struct perfctr_pmu_info info = machine();

	return EXPECT(info.abi_version == PERFCTR_ABI_VERSION) && EXPECT(info.n_general == 4) &&
	       EXPECT(info.n_fixed == 3);
}

/*
 * Instructions around the loop are the same each time, and drop out of the difference. The first
 * time does not count, because it may take more.
 */
static bool a_loop_is_counted_exactly(void)
{
	static const uint32_t iterations[] = { 1, ITERATIONS, 3 * ITERATIONS };
	uint64_t counted[3];
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 1, PERFCTR_CONTROL_STOPPED) == 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t before = counts_of(fd, PERFCTR_SCOPE_SELF).counter[0];

		ioctl(fd, PERFCTR_IOC_START);
		loop(iterations[i]);
		ioctl(fd, PERFCTR_IOC_STOP);
		counted[i] = counts_of(fd, PERFCTR_SCOPE_SELF).counter[0] - before;
	}
	close(fd);
	return EXPECT(counted[2] - counted[1] == 4ull * ITERATIONS);
}

/* All counters start and stop with the same write to IA32_PERF_GLOBAL_CTRL. */
static bool user_and_kernel_make_up_both(void)
{
	struct perfctr_counts counts;
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 3, 0) == 0);
	for (unsigned int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	loop(ITERATIONS);
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	close(fd);
	return EXPECT(counts.n_counters == 3) && EXPECT(counts.counter[0] > 2ull * ITERATIONS) &&
	       EXPECT(counts.counter[1] > 1000) &&
	       EXPECT(counts.counter[0] + counts.counter[1] == counts.counter[2]);
}

static bool reads_in_user_mode_lie_between_read_calls(void)
{
	const struct perfctr_page *page;
	bool good = true;
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 1, 0) == 0);
	page = map(fd);
	REQUIRE(page != MAP_FAILED);
	for (unsigned int i = 0; i < 1000 && good; i++) {
		struct perfctr_counts before = counts_of(fd, PERFCTR_SCOPE_SELF), after;
		uint64_t instructions, ticks;

		while (!perfctr_try_pmc(&page->counter[0], &instructions))
			continue;
		while (!perfctr_try_tsc(&page->tsc, &ticks))
			continue;
		after = counts_of(fd, PERFCTR_SCOPE_SELF);
		good = EXPECT(before.counter[0] < instructions) &&
		       EXPECT(instructions < after.counter[0]) && EXPECT(before.tsc < ticks) &&
		       EXPECT(ticks < after.tsc);
	}
	unmap(page, fd);
	return good;
}

static bool children_inherit_and_are_counted_exactly(void)
{
	bool good = true;
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 1, PERFCTR_CONTROL_INHERIT) == 0);
	for (uint64_t i = 1; i <= 20 && good; i++) {
		pid_t pid = fork_loop(ITERATIONS);
		struct perfctr_counts children;

		REQUIRE(pid > 0 && waitpid(pid, NULL, 0) == pid);
		children = counts_of(fd, PERFCTR_SCOPE_CHILDREN);
		good = EXPECT(children.counter[0] == i * (6 + 2ull * ITERATIONS));
	}
	close(fd);
	return good;
}

static bool only_the_time_stamp_is_there(void)
{
	struct perfctr_pmu_info info = machine();

	return EXPECT(info.abi_version == PERFCTR_ABI_VERSION) && EXPECT(info.n_general == 0) &&
	       EXPECT(info.n_fixed == 0) && EXPECT(info.features & PERFCTR_FEATURE_TSC);
}

static uint64_t rdtsc(void)
{
	uint64_t value;

	__asm__ volatile("rdtsc" : "=A"(value) : : "memory");
	return value;
}

/* No more ticks than have passed, and no tick while another process ran. */
static bool the_time_stamp_is_counted(void)
{
	const struct perfctr_page *page;
	struct perfctr_counts slept, counts;
	uint64_t start = rdtsc(), ticks;
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 0, 0) == 0);
	page = map(fd);
	REQUIRE(page != MAP_FAILED);
	/*
	 * Time that the host takes while the thread runs is counted. The thread sleeps until that
	 * is little.
	 */
	for (int i = 0; i < 100 && (i == 0 || slept.tsc >= (rdtsc() - start) / 2); i++) {
		usleep(200000);
		slept = counts_of(fd, PERFCTR_SCOPE_SELF);
	}
	REQUIRE(slept.tsc > 0 && slept.tsc < (rdtsc() - start) / 2);
	loop(ITERATIONS);
	while (!perfctr_try_tsc(&page->tsc, &ticks))
		continue;
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	unmap(page, fd);
	return EXPECT(slept.tsc < ticks) && EXPECT(ticks < counts.tsc) &&
	       EXPECT(counts.tsc < rdtsc() - start) && EXPECT(counts.n_counters == 0);
}

static bool a_control_with_events_is_refused(void)
{
	struct perfctr_counts counts;
	bool good;
	int fd = context_open();

	REQUIRE(fd >= 0);
	REQUIRE(control(fd, 0, 0) == 0);
	errno = 0;
	good = EXPECT(control(fd, 1, 0) == -1) && EXPECT(errno == ENODEV);
	counts = counts_of(fd, PERFCTR_SCOPE_SELF);
	close(fd);
	return good && EXPECT(counts.tsc > 0) && EXPECT(counts.flags & PERFCTR_COUNTS_STARTED);
}

#define TEST(machine, function) { machine, #function, function }

static const struct {
	const char *machine;
	const char *name;
	bool (*function)(void);
} tests[] = {
	TEST("events", counters_are_those_of_the_processor),
	TEST("events", a_loop_is_counted_exactly),
	TEST("events", user_and_kernel_make_up_both),
	TEST("events", reads_in_user_mode_lie_between_read_calls),
	TEST("events", children_inherit_and_are_counted_exactly),
	TEST("timestamp", only_the_time_stamp_is_there),
	TEST("timestamp", the_time_stamp_is_counted),
	TEST("timestamp", a_control_with_events_is_refused),
};

int main(int argc, char **argv)
{
	unsigned int ran = 0, failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0);	/* children print too */
	device = open(DEVICE, O_RDONLY | O_CLOEXEC);
	if (device < 0) {
		perror(DEVICE);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		if (argc != 2 || strcmp(argv[1], tests[i].machine))
			continue;
		ran++;
		if (tests[i].function()) {
			printf("ok      %s\n", tests[i].name);
		} else {
			printf("FAILED  %s\n", tests[i].name);
			failed++;
		}
	}
	if (!ran) {
		fputs("usage: i386 events|timestamp\n", stderr);
		return EXIT_FAILURE;
	}
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
