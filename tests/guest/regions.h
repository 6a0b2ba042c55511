/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A context with the regions of one test, and a loop that is counted in them. */
#ifndef REGIONS_H
#define REGIONS_H

#include "guest.h"

#include <perfctr.h>
#include <perfctr_regions.h>

/*
 * 1 + 2 * n instructions, n branches. rounds is set beforehand, so that a region contains nothing
 * else.
 */
static __thread unsigned long rounds;

static inline __attribute__((always_inline)) void loop(void)
{
	__asm__ volatile("mov %0, %%rcx\n"
			 "1: dec %%rcx\n\t"
			 "jnz 1b"
			 :
			 : "m"(rounds)
			 : "rcx", "cc");
}

#define LOOP(n) (1 + 2 * (uint64_t)(n))

/* A context, the regions of one test, and the array of its thread. */
enum { A, B, C };
static const char *const names[] = { "a", "b", "c" };

struct subject {
	struct perfctr *p;
	struct perfctr_control control;
	struct perfctr_regions *regions;
	struct perfctr_region *mine;
};

static inline struct perfctr *open_context(struct perfctr_control *control)
{
	struct perfctr *p = perfctr_open();

	EXPECT(p);
	EXPECT(perfctr_set_control(p, control) == 0);
	return p;
}

static inline struct subject subject(const struct event *events, size_t n)
{
	struct subject s = { .control = control_of(events, n) };

	s.p = open_context(&s.control);
	s.regions = perfctr_regions_open(&s.control, NULL, names, ARRAY_SIZE(names));
	ck_assert(s.regions);
	s.mine = perfctr_regions_thread(s.regions, s.p);
	ck_assert(s.mine);
	return s;
}

static inline void done(struct subject *s)
{
	perfctr_regions_close(s->regions);
	perfctr_close(s->p);
}

static inline struct perfctr_region_result result_of(const struct subject *s, unsigned int region,
						     unsigned int flags)
{
	struct perfctr_region_result result;

	ck_assert_int_eq(perfctr_regions_read(s->regions, 0, region, flags, &result), 0);
	return result;
}

#define TWO_EVENTS EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) })

/* The file that a program saves at its end. */
#define SAVED "/tmp/regions-saved"

/* Instructions of an end that is read in vain, and read again. */
#define DISTURBANCE 100

#endif
