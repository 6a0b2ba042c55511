// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Landlock: who has restricted itself may trace only what is restricted as well.  It may read no
 * file either, but those of /dev.
 */
#include "asked.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void restrict_itself(const struct asker *asker)
{
	const struct landlock_ruleset_attr ruleset = {
		.handled_access_fs = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE |
				     LANDLOCK_ACCESS_FS_READ_DIR,
	};
	const struct landlock_path_beneath_attr dev = {
		.allowed_access = ruleset.handled_access_fs,
		.parent_fd = open("/dev", O_PATH | O_CLOEXEC),
	};
	int fd = syscall(SYS_landlock_create_ruleset, &ruleset, sizeof(ruleset), 0);

	(void)asker;
	EXPECT(fd >= 0 && dev.parent_fd >= 0);
	EXPECT(syscall(SYS_landlock_add_rule, fd, LANDLOCK_RULE_PATH_BENEATH, &dev, 0) == 0);
	EXPECT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	EXPECT(syscall(SYS_landlock_restrict_self, fd, 0) == 0);
	close(fd);
	close(dev.parent_fd);
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
