// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts that are known by hand, while everybody else does what they like.  The expected value is a
 * difference of two measurements along the same path, of loops of different length.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SHORT_LOOP 1u
#define LONG_LOOP 1001u
#define DIFFERENCE (2 * (LONG_LOOP - SHORT_LOOP)) /* two instructions an iteration */
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

/* What counter 0 counts of the loop and the same instructions around it each time. */
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

/* By RDPMC, until it is known to be right (include/linux/perfctr.h). */
static uint64_t read_page(const volatile struct perfctr_page *page)
{
	const volatile struct perfctr_page_counter *c = &page->counter[0];
	uint32_t low, high;
	uint64_t ticket, bias;

	do {
		ticket = c->ticket;
		bias = c->bias;
		if (ticket != c->recheck)
			continue;
		__asm__ volatile("rdpmc"
				 : "=a"(low), "=d"(high)
				 : "c"((uint32_t)ticket)
				 : "memory");
		bias += (uint64_t)high << 32 | low;
	} while (c->recheck != ticket);
	return bias;
}

static void compare_page(int fd)
{
	struct perfctr_counts before, after;
	uint64_t value;
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	if (page == MAP_FAILED) {
		finding(NULL, CHECK_CANARY, "mmap: %s", strerror(errno));
		return;
	}
	if (read_counts(fd, &before)) {
		value = read_page(page);
		if (read_counts(fd, &after) &&
		    (value <= before.counter[0] || value >= after.counter[0]))
			finding(NULL, CHECK_CANARY, "RDPMC gave %llu between %llu and %llu",
				(unsigned long long)value, (unsigned long long)before.counter[0],
				(unsigned long long)after.counter[0]);
	}
	munmap(page, PERFCTR_PAGE_SIZE);
}

/* Others may have the thread's context, a session the counter. */
static void use_context(struct fuzzer *f)
{
	struct perfctr_open open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREATE };
	struct perfctr_control control = control_of(f);
	int fd = ioctl(device, PERFCTR_IOC_OPEN, &open);
	uint64_t base;

	if (fd < 0)
		return;
	if (ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0) {
		base = measure(fd, SHORT_LOOP);
		compare("a context", base, measure(fd, LONG_LOOP));
		compare_page(fd);
	}
	close(fd);
}

static uint64_t own_mark(void)
{
	struct perfctr_mark mark = { .size = sizeof(mark),
				     .action = PERFCTR_MARK_GET,
				     .group = -1 };

	return ioctl(device, PERFCTR_IOC_MARK, &mark) == 0 ? mark.id : 0;
}

static void use_session(struct fuzzer *f)
{
	struct perfctr_group_open group = { .size = sizeof(group) };
	struct perfctr_session_open open = {
		.size = sizeof(open),
		.policy = PERFCTR_POLICY_DP | PERFCTR_POLICY_DMR,
		.group = ioctl(device, PERFCTR_IOC_GROUP, &group),
	};
	struct perfctr_control control = control_of(f);
	int fd = ioctl(device, PERFCTR_IOC_SESSION, &open);
	uint64_t base, measured;

	if (fd >= 0 && ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0 &&
	    ioctl(open.group, PERFCTR_IOC_ENTER) == 0) {
		base = measure(fd, SHORT_LOOP);
		measured = measure(fd, LONG_LOOP);
		/* Whoever is privileged may take the mark away; nobody else can set it again. */
		if (own_mark() == group.id)
			compare("a session", base, measured);
		ioctl(open.group, PERFCTR_IOC_LEAVE);
	}
	if (fd >= 0)
		close(fd);
	close(open.group);
}

void canary(uint64_t seed)
{
	struct fuzzer f = { .random = seed | 1 };

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
