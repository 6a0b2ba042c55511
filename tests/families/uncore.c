// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AMD's counters of the northbridge, or data fabric, and of the L3 cache count what all processors
 * do. While one of them counts, RDPMC does not show them to threads with a page of perfctr. The
 * test writes their MSRs as perf_events' amd_uncore does, on another processor.
 */
#include "families.h"

#include <cpuid.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

/* AMD64 Architecture Programmer's Manual, volume 3, CPUID Fn8000_0001_ECX and RDPMC. */
static const struct block {
	uint32_t promise; /* bit of CPUID */
	uint32_t msr;	  /* of the first event select; each one is followed by its counter */
	uint32_t n;
	uint32_t first; /* RDPMC's index */
} blocks[] = {
	{ 1u << 24, 0xc0010240, 4, 6 },
	{ 1u << 28, 0xc0010230, 6, 10 },
};

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))
#define EVENT 0x0040ff04 /* enabled */
#define LEFT 123456789
#define WRITER 1 /* processor */

static bool is_promised(const struct block *b)
{
	unsigned int eax, ebx, ecx = 0, edx;

	return !strncmp(profile.family, "AMD", 3) &&
	       __get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx) && ecx & b->promise;
}

bool has_uncore(void)
{
	return is_promised(&blocks[0]);
}

static bool write_uncore(uint32_t msr, uint64_t value)
{
	char name[32];
	int msrs;
	bool good;

	snprintf(name, sizeof(name), "/dev/cpu/%d/msr", WRITER);
	msrs = open(name, O_WRONLY | O_CLOEXEC);
	REQUIRE(msrs >= 0);
	good = EXPECT(pwrite64(msrs, &value, sizeof(value), msr) == sizeof(value));
	close(msrs);
	return good;
}

static bool start_uncore(const struct block *b, uint32_t n)
{
	return write_uncore(b->msr + 2 * n + 1, LEFT) && write_uncore(b->msr + 2 * n, EVENT);
}

static bool stop_uncore(const struct block *b, uint32_t n)
{
	return write_uncore(b->msr + 2 * n, 0) && write_uncore(b->msr + 2 * n + 1, 0);
}

/* A counter of the thread's own on processor 0, mapped and started. */
struct own {
	int fd;
	struct perfctr_page *page;
};

static bool begin_own(struct own *own)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);

	own->fd = context_open(0);
	REQUIRE(own->fd >= 0 && pin(0, 0));
	REQUIRE(context_control(own->fd, &control));
	own->page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, own->fd, 0);
	return EXPECT(own->page != MAP_FAILED);
}

static void end_own(struct own *own)
{
	munmap(own->page, PERFCTR_PAGE_SIZE);
	close(own->fd);
}

/* The thread reads its own counter right, whether RDPMC is executed or faults and is emulated. */
static bool reads_its_own(int fd)
{
	struct perfctr_counts before = counts_of(fd, PERFCTR_SCOPE_SELF), after;
	uint64_t value;

	REQUIRE(read_pmc(profile.instructions.of[0].counter, &value));
	after = counts_of(fd, PERFCTR_SCOPE_SELF);
	return EXPECT(before.counter[0] < value && value < after.counter[0]);
}

/*
 * Any one that counts hides all. The first read is that of a counter that may be read: the module
 * allows RDPMC at such a fault.
 */
static bool all_are(bool shown)
{
	uint64_t value;

	REQUIRE(read_pmc(profile.instructions.of[0].counter, &value));
	for (size_t i = 0; i < LENGTH(blocks); i++)
		for (uint32_t n = 0; n < blocks[i].n && is_promised(&blocks[i]); n++)
			REQUIRE(EXPECT_EQUAL(read_pmc(blocks[i].first + n, &value), shown));
	return true;
}

static bool is_hidden_while_it_counts(int fd, const struct block *b, uint32_t n)
{
	REQUIRE(all_are(true));
	REQUIRE(start_uncore(b, n));
	run_for_a_while();
	REQUIRE(all_are(false));
	REQUIRE(reads_its_own(fd));
	REQUIRE(stop_uncore(b, n));
	run_for_a_while();
	return reads_its_own(fd) && all_are(true);
}

bool counters_of_the_uncore_that_count_are_not_shown(void)
{
	struct own own;

	REQUIRE(begin_own(&own));
	for (size_t i = 0; i < LENGTH(blocks); i++)
		for (uint32_t n = 0; n < blocks[i].n && is_promised(&blocks[i]); n++)
			REQUIRE(is_hidden_while_it_counts(own.fd, &blocks[i], n));
	end_own(&own);
	return true;
}

bool counters_of_the_uncore_that_count_are_not_shown_to_who_maps_a_page_then(void)
{
	struct own own;
	bool good;

	REQUIRE(start_uncore(&blocks[0], 0));
	run_for_a_while();
	good = begin_own(&own) && all_are(false) && reads_its_own(own.fd);
	end_own(&own);
	return stop_uncore(&blocks[0], 0) && good;
}

/*
 * With a real-time priority: no other address space runs there meanwhile, as its switches would
 * show the change, too.
 */
static bool is_hidden_from_the_uncounted(void)
{
	const struct sched_param first = { .sched_priority = 1 };

	REQUIRE(pin(0, 1) && !sched_setscheduler(0, SCHED_FIFO, &first));
	REQUIRE(all_are(true));
	REQUIRE(start_uncore(&blocks[0], 0));
	run_for_a_while();
	return all_are(false);
}

/*
 * Runs beside the counted thread of its process: the tick does not come to its processor for a
 * context.
 */
static void *run_uncounted(void *good)
{
	*(bool *)good = is_hidden_from_the_uncounted();
	return NULL;
}

bool counters_of_the_uncore_that_count_are_not_shown_to_threads_that_are_not_counted(void)
{
	pthread_t thread;
	struct own own;
	bool good = false;

	REQUIRE(begin_own(&own));
	REQUIRE(!pthread_create(&thread, NULL, run_uncounted, &good));
	REQUIRE(!pthread_join(thread, NULL));
	end_own(&own);
	return stop_uncore(&blocks[0], 0) && good;
}
