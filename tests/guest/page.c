// SPDX-License-Identifier: GPL-2.0-or-later
/* The state page: always read-only, of one size, with public fields only. */
#include "guest.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static void expect_refused(int fd, int protection, int flags, size_t length, off_t offset,
			   int error_a, int error_b)
{
	void *page = mmap(NULL, length, protection, flags, fd, offset);

	ck_assert(page == MAP_FAILED);
	ck_assert_msg(errno == error_a || errno == error_b, "errno %d", errno);
}

START_TEST(a_writable_mapping_is_refused)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	expect_refused(fd, PROT_READ | PROT_WRITE, MAP_SHARED, 4096, 0, EACCES, EPERM);
	expect_refused(fd, PROT_READ | PROT_WRITE, MAP_PRIVATE, 4096, 0, EACCES, EPERM);
	expect_refused(fd, PROT_WRITE, MAP_SHARED, 4096, 0, EACCES, EPERM);
}
END_TEST

START_TEST(another_length_or_offset_is_refused)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	expect_refused(fd, PROT_READ, MAP_SHARED, 8192, 0, EINVAL, EINVAL);
	expect_refused(fd, PROT_READ, MAP_SHARED, 4096, 4096, EINVAL, EINVAL);
}
END_TEST

START_TEST(mprotect_cannot_make_it_writable)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	void *page = (void *)context_map(fd);

	ck_assert_int_eq(mprotect(page, 4096, PROT_READ | PROT_WRITE), -1);
	ck_assert_int_eq(errno, EACCES);
}
END_TEST

START_TEST(it_tells_the_version_and_what_is_counted)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);

	context_control(fd, EVENTS({ 2, USER(INSTRUCTIONS) }, { PERFCTR_FIXED + 1, USER(FIXED) }));
	ck_assert_uint_eq(page->abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_eq(page->flags, PERFCTR_PAGE_STARTED | PERFCTR_PAGE_RDPMC);
	ck_assert_uint_eq(page->n_counters, 2);
	ck_assert_uint_eq((uint32_t)page->counter[0].ticket, 2);
	ck_assert_uint_eq((uint32_t)page->counter[1].ticket, PERFCTR_FIXED + 1);
	ck_assert_uint_eq(page->seq & 1, 0);
}
END_TEST

/*
 * Kernel addresses of x86-64 begin at 0xffff800000000000; the direct map, vmalloc and vmemmap end
 * below 0xfffffc0000000000.  A bias is a small negative number and lies above.
 */
START_TEST(it_holds_no_kernel_address_and_nothing_behind_its_size)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);
	const uint64_t *words = (const uint64_t *)page;
	const char *bytes = (const char *)page;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	spin(1000000);
	for (size_t i = page->size; i < PERFCTR_PAGE_SIZE; i++)
		ck_assert_msg(bytes[i] == 0, "byte %zu is %#x", i, bytes[i]);
	for (size_t i = 0; i < PERFCTR_PAGE_SIZE / sizeof(*words); i++)
		ck_assert_msg(words[i] < 0xffff800000000000 || words[i] >= 0xfffffc0000000000,
			      "word %zu is %#llx", i, (unsigned long long)words[i]);
	for (size_t i = 0; i < ARRAY_SIZE(page->reserved); i++)
		ck_assert_uint_eq(page->reserved[i], 0);
}
END_TEST

START_TEST(a_stopped_counter_shows_its_sum_and_fails_the_recheck)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	ck_assert(page->counter[0].ticket == page->counter[0].recheck);
	spin(1000);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	ck_assert(!(page->flags & PERFCTR_PAGE_STARTED));
	ck_assert(page->counter[0].ticket != page->counter[0].recheck);
	ck_assert(page->tsc.ticket != page->tsc.recheck);
	ck_assert_uint_eq(page->counter[0].sum, context_read(fd).counter[0]);
	ck_assert_uint_eq(page->tsc.sum, context_read(fd).tsc);
}
END_TEST

SUITE(page,
      a_writable_mapping_is_refused,
      another_length_or_offset_is_refused,
      mprotect_cannot_make_it_writable,
      it_tells_the_version_and_what_is_counted,
      it_holds_no_kernel_address_and_nothing_behind_its_size,
      a_stopped_counter_shows_its_sum_and_fails_the_recheck)
