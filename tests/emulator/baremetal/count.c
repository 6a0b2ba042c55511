/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the cases of count.S and compares all their counts. Also checks that ring 0 counts nothing
 * of them.
 */
#include "harness.h"

enum { NB_COUNTS = 5 };

extern const struct count_case {
	const char *name;
	void (*code)(void);
	uint32_t demand;
	uint32_t expected[NB_COUNTS];
} cases[];

static const struct {
	const char *name;
	uint32_t counter;
	uint32_t event;
} counts[NB_COUNTS] = {
	{ "instructions", FIXED(0), INSN },
	{ "branches", 0, BRANCHES },
	{ "near-taken", 1, NEAR_TAKEN },
	{ "loads", 2, LOADS },
	{ "stores", 3, STORES },
};

static void join(char *to, const char *a, const char *b)
{
	while (*a)
		*to++ = *a++;
	*to++ = '.';
	while ((*to++ = *b++))
		;
}

static void run_case(const struct count_case *c)
{
	char name[80];

	reset_pmu();
	for (int i = 1; i < NB_COUNTS; i++)
		wrmsr(IA32_PERFEVTSEL0 + counts[i].counter, counts[i].event | USR | EN);
	wrmsr(IA32_FIXED_CTR_CTRL, 2);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0x10000000f);
	unmap_demand_pages();
	demand_paging = c->demand;
	run_user(c->code);
	demand_paging = false;
	for (int i = 0; i < NB_COUNTS; i++) {
		join(name, c->name, counts[i].name);
		check(name, c->expected[i], rdpmc(counts[i].counter));
	}
}

void second_test(void)
{
}

void test(void)
{
	for (const struct count_case *c = cases; c->name; c++)
		run_case(c);
}
