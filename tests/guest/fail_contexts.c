// SPDX-License-Identifier: GPL-2.0-or-later
/* Contexts, their controls and their pages, where the kernel finds no memory. */
#include "fail.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static long open_self(void)
{
	struct perfctr_open_args open = { .size = sizeof(open), .flags = PERFCTR_OPEN_CREATE };

	return ioctl(device, PERFCTR_IOC_OPEN, &open);
}

static long look_at_self(void)
{
	struct perfctr_open_args open = { .size = sizeof(open) };

	return ioctl(device, PERFCTR_IOC_OPEN, &open);
}

static long first_control(void)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_EXIT_RECORDS);

	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

static long first_control_with_periods(void)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_EXIT_RECORDS);

	control.event[0].period = 1009;
	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

/* The memory that the CPUs have for the tree is allocated, too. */
static long totals_control(void)
{
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_TOTALS);

	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

/* Replaces the context by one without a control. */
static void open_anew(long result)
{
	(void)result;
	close(own);
	own = context_open(0, PERFCTR_OPEN_CREATE);
}

static long other_control(void)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(BRANCHES) }, { 1, USER(LOADS) }));

	control.flags = PERFCTR_CONTROL_STOPPED;
	return ioctl(own, PERFCTR_IOC_CONTROL, &control);
}

static void install_tree_control(long result)
{
	(void)result;
	ck_assert_int_eq(first_control(), 0);
}

static long read_tree(void)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = PERFCTR_SCOPE_TREE };

	return ioctl(own, PERFCTR_IOC_READ, &counts);
}

static long map_page(void)
{
	return (long)mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, own, 0);
}

static void unmap_page(long address)
{
	munmap((void *)address, PERFCTR_PAGE_SIZE);
}

START_TEST(a_context_is_there_as_a_whole_or_not_at_all)
{
	static const struct call calls[] = {
		{ "open", open_self, close_descriptor, 0, 4 },
	};
	static const struct call calls_of_context[] = {
		{ "first control", first_control, open_anew, 0, 2 },
		{ "first control, with periods", first_control_with_periods, open_anew, 0, 4 },
		{ "first control, by totals", totals_control, open_anew, 0, 1 },
		{ "map the page", map_page, unmap_page, 0, 1 },
	};

	fail_begin();
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	own = context_open(0, PERFCTR_OPEN_CREATE);
	expect_clean_calls(calls_of_context, ARRAY_SIZE(calls_of_context));
	fail_finish();
}
END_TEST

START_TEST(a_control_that_fails_leaves_the_one_before_at_work)
{
	static const struct call calls[] = {
		{ "other control", other_control, install_tree_control, 0, 2 },
		{ "control by totals", totals_control, install_tree_control, 0, 1 },
		{ "look", look_at_self, close_descriptor, 0, 1 },
		{ "read", read_tree, nothing_to_undo, 0, 1 },
	};

	fail_begin();
	own = tree_open(PERFCTR_CONTROL_EXIT_RECORDS);
	expect_clean_calls(calls, ARRAY_SIZE(calls));
	fail_finish();
}
END_TEST

SUITE(fail_contexts, a_context_is_there_as_a_whole_or_not_at_all,
      a_control_that_fails_leaves_the_one_before_at_work)
