// SPDX-License-Identifier: GPL-2.0-or-later
/* SELinux, with the policy of domains.cil: each domain is refused what its name says. */
#include "asked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SELINUX "/sys/fs/selinux"

static void load_policy(void)
{
	char policy[1 << 16];
	int from = open(program("domains.policy"), O_RDONLY | O_CLOEXEC), to;
	ssize_t size;

	ck_assert_int_ge(from, 0);
	size = read(from, policy, sizeof(policy));
	ck_assert(size > 0 && size < (ssize_t)sizeof(policy));
	close(from);
	ck_assert_msg(mount("selinuxfs", SELINUX, "selinuxfs", 0, NULL) == 0 || errno == EBUSY,
		      "no SELinux: %s", strerror(errno));
	to = open(SELINUX "/load", O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(to, 0);
	/* In one call: the kernel takes a policy only as a whole. */
	ck_assert_int_eq(write(to, policy, size), size);
	close(to);
	write_file(SELINUX "/enforce", "1");
}

static void enter(const char *domain)
{
	char context[64];
	int fd = open("/proc/self/attr/current", O_WRONLY | O_CLOEXEC);
	int n = snprintf(context, sizeof(context), "user:role:%s", domain);

	EXPECT(fd >= 0 && write(fd, context, n) == n);
	close(fd);
}

static void enter_domain(const struct asker *asker)
{
	enter(asker->name);
}

static void enter_everything(void)
{
	enter("everything");
}

/*
 * The domain is refused more than the domain that may do everything, and perfctr refuses all that
 * perf_events refuses.
 */
static void expect_refusals(const char *domain, const struct asked *everything)
{
	const struct asker asker = {
		.name = domain,
		.enter = enter_domain,
		.threads_enter = enter_everything,
	};
	const struct asked *asked = ask_all(&asker);

	ck_assert_uint_eq(asked->wrong, 0);
	ck_assert_uint_gt(asked->refused, everything->refused);
}

/* Linux 7 exports the function that asks whether a caller may count CPUs. */
static bool asks_of_cpus(void)
{
	struct utsname name;

	ck_assert_int_eq(uname(&name), 0);
	return !driver_is_module() || atoi(name.release) >= 7;
}

START_TEST(no_domain_counts_what_perf_events_refuses_it)
{
	const struct asker anybody = { .name = "before there is a policy" };
	const struct asker everything = {
		.name = "everything",
		.enter = enter_domain,
		.threads_enter = enter_everything,
	};
	static const char *const domains[] = { "no_perf_event", "no_kernel", "no_inspection",
					       "no_ptrace" };
	static const char *const of_the_patch[] = { "no_open", "no_read", "no_write" };
	const struct asked *without, *with;

	ck_assert_msg(access(SELINUX "/status", F_OK), "somebody has loaded a policy");
	without = ask_all(&anybody);
	ck_assert_uint_eq(without->wrong, 0);
	load_policy();
	with = ask_all(&everything);
	ck_assert_uint_eq(with->wrong, 0);
	expect_same(with, without);
	for (size_t i = 0; i < ARRAY_SIZE(domains); i++)
		expect_refusals(domains[i], with);
	if (asks_of_cpus())
		expect_refusals("no_cpu", with);
	for (size_t i = 0; i < ARRAY_SIZE(of_the_patch) && !driver_is_module(); i++)
		expect_refusals(of_the_patch[i], with);
}
END_TEST

SUITE(domains, no_domain_counts_what_perf_events_refuses_it)
