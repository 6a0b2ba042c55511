// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Landlock: a caller that has restricted itself may trace only processes that are restricted as
 * well. It may read only files in /dev.
 */
#include "asked.h"

static void restrict_itself(const struct asker *asker)
{
	(void)asker;
	restrict_files();
}

static const struct asker unrestricted = { .name = "unrestricted" };

START_TEST(who_is_restricted_counts_nobody_whom_perf_events_refuses)
{
	const struct asker restricted = { .name = "restricted", .enter = restrict_itself };
	const struct asked *without = ask_all(&unrestricted), *asked = ask_all(&restricted);

	ck_assert_uint_eq(without->wrong, 0);
	ck_assert_uint_eq(asked->wrong, 0);
	ck_assert_uint_gt(asked->refused, without->refused);
}
END_TEST

START_TEST(who_is_restricted_counts_whoever_is_restricted_with_it)
{
	const struct asker restricted = {
		.name = "restricted together",
		.enter = restrict_itself,
		.before = true,
	};
	const struct asked *without = ask_all(&unrestricted), *asked = ask_all(&restricted);

	ck_assert_uint_eq(asked->wrong, 0);
	expect_same(asked, without);
}
END_TEST

SUITE(sandbox, who_is_restricted_counts_nobody_whom_perf_events_refuses,
      who_is_restricted_counts_whoever_is_restricted_with_it)
