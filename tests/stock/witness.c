// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Debian's kernel with its own perf_events on the emulated PMU, and nothing of this project in
 * between. If this fails, the other suites show nothing.
 */
#include "stock.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

START_TEST(it_is_debian_s_kernel_without_the_patch)
{
	struct utsname name;

	ck_assert_int_eq(uname(&name), 0);
	ck_assert_msg(strstr(name.version, "Debian"), "%s", name.version);
	ck_assert_int_eq(access("/dev/perfctr", F_OK), -1);
}
END_TEST

START_TEST(linux_counts_a_program_exactly)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	int fd = perf_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PERF_OF_PINNED, pid, -1);

	ck_assert_msg(fd >= 0, "%s", strerror(errno));
	run_to_end(pid);
	ck_assert_uint_eq(perf_read(fd), LOOP_INSTRUCTIONS(SHORT_LOOP));
}
END_TEST

START_TEST(linux_counts_a_tree_exactly)
{
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("tree"), program("loop")));
	int fd = perf_open(PERF_TYPE_RAW, INSTRUCTIONS, PERF_OF_TREE, pid, -1);

	ck_assert_msg(fd >= 0, "%s", strerror(errno));
	run_to_end(pid);
	ck_assert_uint_eq(perf_read(fd), TREE_INSTRUCTIONS);
}
END_TEST

START_TEST(linux_lets_user_mode_read_the_counter)
{
	int fd = perf_open(PERF_TYPE_RAW, INSTRUCTIONS, PERF_OF_PINNED, 0, -1);
	const struct perf_event_mmap_page *page;
	uint32_t index;
	uint64_t first;

	ck_assert_msg(fd >= 0, "%s", strerror(errno));
	page = mmap(NULL, getpagesize(), PROT_READ, MAP_SHARED, fd, 0);
	ck_assert(page != MAP_FAILED);
	ck_assert(page->cap_user_rdpmc);
	index = page->index;
	ck_assert_uint_gt(index, 0);
	first = rdpmc(index - 1);
	spin(1000);
	ck_assert_uint_gt(rdpmc(index - 1), first + 1000);
}
END_TEST

/* Only general counters count these codes. Instructions could also be on a fixed counter. */
START_TEST(linux_refuses_a_fifth_event_of_a_group)
{
	static const uint64_t codes[] = { LOADS, STORES, BRANCHES, 0x20c4, 0x010b };
	int leader = perf_open(PERF_TYPE_RAW, codes[0], PERF_OF_PINNED, 0, -1);

	ck_assert_msg(leader >= 0, "%s", strerror(errno));
	for (size_t i = 1; i < 4; i++)
		ck_assert_int_ge(perf_open(PERF_TYPE_RAW, codes[i], 0, 0, leader), 0);
	errno = 0;
	ck_assert_int_eq(perf_open(PERF_TYPE_RAW, codes[4], 0, 0, leader), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

SUITE(witness, it_is_debian_s_kernel_without_the_patch, linux_counts_a_program_exactly,
      linux_counts_a_tree_exactly, linux_lets_user_mode_read_the_counter,
      linux_refuses_a_fifth_event_of_a_group)
