/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a perf event through its mmap page, by the method that perf_event_open(2) describes under
 * "struct perf_event_mmap_page".
 */
#ifndef PERF_PAGE_H
#define PERF_PAGE_H

#include <linux/perf_event.h>
#include <stdint.h>

#define PERF_PAGE_BARRIER() __asm__ volatile("" : : : "memory")

static inline uint64_t perf_page_rdpmc(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t perf_page_rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Nanoseconds since the page was written. */
static inline uint64_t perf_page_delta(const volatile struct perf_event_mmap_page *page)
{
	uint64_t cycles = perf_page_rdtsc();
	uint16_t shift = page->time_shift;
	uint32_t mult = page->time_mult;
	uint64_t rest = cycles & ((1ull << shift) - 1);

	return page->time_offset + (cycles >> shift) * mult + ((rest * mult) >> shift);
}

static inline uint64_t perf_page_hardware(const volatile struct perf_event_mmap_page *page)
{
	uint32_t index = page->index;
	uint64_t count = page->offset;

	if (page->cap_user_rdpmc && index) {
		unsigned int unused_bits = 64 - page->pmc_width;

		count += (int64_t)(perf_page_rdpmc(index - 1) << unused_bits) >> unused_bits;
	}
	return count;
}

/* The count alone, for a caller that knows that nothing was multiplexed. */
static inline uint64_t perf_page_count(const volatile struct perf_event_mmap_page *page)
{
	uint64_t count;
	uint32_t seq;

	do {
		seq = page->lock;
		PERF_PAGE_BARRIER();
		count = perf_page_hardware(page);
		PERF_PAGE_BARRIER();
	} while (page->lock != seq);
	return count;
}

/* The whole method, with the times that show whether the event was multiplexed. */
static inline uint64_t perf_page_read(const volatile struct perf_event_mmap_page *page,
				      uint64_t *enabled, uint64_t *running)
{
	uint64_t count, delta;
	uint32_t seq;

	do {
		seq = page->lock;
		PERF_PAGE_BARRIER();
		*enabled = page->time_enabled;
		*running = page->time_running;
		delta = 0;
		if (page->cap_user_time && *enabled != *running)
			delta = perf_page_delta(page);
		count = perf_page_hardware(page);
		PERF_PAGE_BARRIER();
	} while (page->lock != seq);
	*enabled += delta;
	if (page->index)
		*running += delta;
	return count;
}

/* The time that the event was enabled, up to now. */
static inline uint64_t perf_page_time(const volatile struct perf_event_mmap_page *page)
{
	uint64_t enabled;
	uint32_t seq;

	do {
		seq = page->lock;
		PERF_PAGE_BARRIER();
		enabled = page->time_enabled + perf_page_delta(page);
		PERF_PAGE_BARRIER();
	} while (page->lock != seq);
	return enabled;
}

#endif
