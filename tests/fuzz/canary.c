// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts that are known by hand, while all other processes do what they like. The expected value is
 * the difference of two measurements along the same path, with loops of different length.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHORT_LOOP 1u
#define LONG_LOOP 1001u
#define DIFFERENCE (2 * (LONG_LOOP - SHORT_LOOP)) /* two instructions an iteration */
#define FOLLOWED 100				  /* readings in a row */
#define PAUSE_US 20000

/* Of the architectural PMU (SDM volume 3, 20.2.1.1): instructions retired, user mode, enabled. */
#define INSTRUCTIONS 0x004100c0
#define FIXED 0x00410000

static int device;

static void loop(uint32_t iterations)
{
	__asm__ volatile("1:\tdec\t%0\n\tjnz\t1b" : "+r"(iterations));
}

static bool read_counts(int fd, struct perfctr_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	counts->size = sizeof(*counts);
	if (ioctl(fd, PERFCTR_IOC_READ, counts) == 0)
		return true;
	finding(NULL, CHECK_CANARY, "read: %s", strerror(errno));
	return false;
}

/* Counter 0's count of the loop, and of the same instructions around it each time. */
static __attribute__((noinline)) uint64_t measure(int fd, uint32_t iterations)
{
	struct perfctr_counts before, after;

	if (!read_counts(fd, &before))
		return 0;
	loop(iterations);
	if (!read_counts(fd, &after))
		return 0;
	return after.counter[0] - before.counter[0];
}

static struct perfctr_control control_of(struct fuzzer *f)
{
	uint32_t general = shared->info.n_general;
	uint32_t n = below(f, general + 1);
	struct perfctr_control control = { .size = sizeof(control), .n_events = 1 };

	control.event[0].counter = n < general ? n : PERFCTR_FIXED;
	control.event[0].evntsel = n < general ? INSTRUCTIONS : FIXED;
	return control;
}

static void compare(const char *what, uint64_t base, uint64_t measured)
{
	if (measured - base != DIFFERENCE)
		finding(NULL, CHECK_CANARY, "%s counted %llu and %llu, which is not %u more", what,
			(unsigned long long)base, (unsigned long long)measured, DIFFERENCE);
	atomic_fetch_add(&shared->canaries, 1);
}

#define TRIES 1000

enum reading { DONE, NOT_NOW, FAULT };

/* Reads by RDPMC until the value is known to be right (include/linux/perfctr.h). */
static enum reading read_page(struct fuzzer *f, const volatile struct perfctr_page *page,
			      uint64_t *value)
{
	const volatile struct perfctr_page_counter *c = &page->counter[0];

	for (unsigned int i = 0; i < TRIES; i++) {
		uint64_t ticket = c->ticket, bias = c->bias, low;

		if (ticket != c->recheck)
			continue;
		if (!rdpmc(f, ticket, &low))
			return FAULT;
		*value = bias + low;
		if (c->recheck == ticket)
			return DONE;
	}
	return NOT_NOW;
}

/* The page was mapped before, and root has not denied RDPMC to everybody since. */
static void check_fault(enum reading reading, struct glimpse allowed)
{
	if (reading == FAULT && allowed.value != 0 && has_stayed(RDPMC_FOR, allowed))
		finding(NULL, CHECK_CANARY, "RDPMC faulted although a page is mapped");
}

static void compare_page(struct fuzzer *f, int fd, const void *page, struct glimpse allowed)
{
	struct perfctr_counts before, after;
	enum reading reading;
	uint64_t value;

	if (!read_counts(fd, &before))
		return;
	reading = read_page(f, page, &value);
	check_fault(reading, allowed);
	if (reading == DONE && read_counts(fd, &after) &&
	    (value <= before.counter[0] || value >= after.counter[0]))
		finding(NULL, CHECK_CANARY, "RDPMC gave %llu between %llu and %llu",
			(unsigned long long)value, (unsigned long long)before.counter[0],
			(unsigned long long)after.counter[0]);
}

/* Moves to the other CPU, if it is there, or leaves the CPU for a moment. */
static void disturb(struct fuzzer *f)
{
	cpu_set_t cpus;

	if (chance(f, 50)) {
		usleep(below(f, 500));
		return;
	}
	CPU_ZERO(&cpus);
	CPU_SET(below(f, 2), &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* Reads by the page or the call: the count has grown by the loop at least since the last time. */
static void follow(struct fuzzer *f, int fd, const void *page, struct glimpse allowed)
{
	struct perfctr_counts counts;
	uint64_t last = 0, value;

	for (unsigned int i = 0; i < FOLLOWED; i++) {
		enum reading reading = chance(f, 70) ? read_page(f, page, &value) : NOT_NOW;

		check_fault(reading, allowed);
		if (reading != DONE) {
			if (!read_counts(fd, &counts))
				return;
			value = counts.counter[0];
		}
		if (i > 0 && value < last + 2 * LONG_LOOP)
			finding(NULL, CHECK_CANARY, "%llu after %llu and %u instructions",
				(unsigned long long)value, (unsigned long long)last, 2 * LONG_LOOP);
		last = value;
		if (chance(f, 20))
			disturb(f);
		loop(LONG_LOOP);
	}
	atomic_fetch_add(&shared->canaries, 1);
}

/* This process has mapped no other page. */
static void check_unmapped(struct fuzzer *f, struct glimpse allowed)
{
	uint64_t value;

	if (rdpmc(f, 0, &value) && allowed.value != 2 && has_stayed(RDPMC_FOR, allowed))
		finding(NULL, CHECK_PRIVILEGE, "RDPMC of a process that maps no page any more");
}

static void use_page(struct fuzzer *f, int fd)
{
	struct glimpse allowed = glance(RDPMC_FOR);
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED) {
		finding(NULL, CHECK_CANARY, "mmap: %s", strerror(errno));
		return;
	}
	compare_page(f, fd, page, allowed);
	if (chance(f, 30))
		follow(f, fd, page, allowed);
	munmap(page, PERFCTR_PAGE_SIZE);
	check_unmapped(f, allowed);
}

/* Another process may have the thread's context, and a session the counter. */
static void use_context(struct fuzzer *f)
{
	struct perfctr_open_args open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREATE };
	struct perfctr_control control = control_of(f);
	int fd = ioctl(device, PERFCTR_IOC_OPEN, &open);
	uint64_t base;

	if (fd < 0)
		return;
	if (ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0) {
		base = measure(fd, SHORT_LOOP);
		compare("a context", base, measure(fd, LONG_LOOP));
		use_page(f, fd);
	}
	close(fd);
}

static uint64_t own_mark(void)
{
	struct perfctr_mark_args mark = { .size = sizeof(mark),
					  .action = PERFCTR_MARK_GET,
					  .mark = -1 };

	return ioctl(device, PERFCTR_IOC_MARK, &mark) == 0 ? mark.id : 0;
}

static void use_session(struct fuzzer *f)
{
	struct perfctr_open_mark_args mark = { .size = sizeof(mark) };
	struct perfctr_session_args open = {
		.size = sizeof(open),
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
		.mark = ioctl(device, PERFCTR_IOC_OPEN_MARK, &mark),
	};
	struct perfctr_control control = control_of(f);
	int fd = ioctl(device, PERFCTR_IOC_SESSION, &open);
	uint64_t base, measured;

	if (fd >= 0 && ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0 &&
	    ioctl(open.mark, PERFCTR_IOC_ENTER) == 0) {
		base = measure(fd, SHORT_LOOP);
		measured = measure(fd, LONG_LOOP);
		/* A privileged process may take the mark away. Nobody else can set it again. */
		if (own_mark() == mark.id)
			compare("a session", base, measured);
		ioctl(open.mark, PERFCTR_IOC_LEAVE);
	}
	if (fd >= 0)
		close(fd);
	close(open.mark);
}

void canary(uint64_t seed)
{
	struct fuzzer f = { .random = seed | 1 };

	memory_init();
	device = open("/dev/perfctr", O_RDWR | O_CLOEXEC);
	while (!atomic_load(&shared->stop)) {
		if (chance(&f, 70))
			use_context(&f);
		else
			use_session(&f);
		usleep(PAUSE_US);
	}
	close(device);
}
