// SPDX-License-Identifier: GPL-2.0-or-later
/* The state pages of a session, which its reader maps: exact, of one fold, and without a hint to RDPMC. */
#include "marks.h"

#include <perfctr.h>

#include <sys/mman.h>
#include <unistd.h>

/* Maps the state pages of a session. */
static const char *map_pages(int session, const struct perfctr_session_args *open)
{
	void *pages = mmap(NULL, open->pages_bytes, PROT_READ, MAP_SHARED, session, 0);

	ck_assert_ptr_ne(pages, MAP_FAILED);
	return pages;
}

/* The sums over the CPUs as their pages show them. */
static uint64_t mapped_sum(const char *pages, const struct perfctr_session_args *open)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < open->n_cpus; i++) {
		const volatile struct perfctr_page *page = (const void *)(pages + i * open->cpu_bytes);
		uint32_t seq;
		uint64_t value;

		do {
			seq = page->seq;
			value = page->counter[0].sum;
		} while (seq & 1 || page->seq != seq);
		sum += value;
	}
	return sum;
}

static void expect_no_fast_reads(const struct perfctr_page *page)
{
	ck_assert_uint_ne(page->tsc.recheck, page->tsc.ticket);
	for (unsigned int i = 0; i < PERFCTR_MAX_COUNTERS; i++)
		ck_assert_uint_ne(page->counter[i].recheck, page->counter[i].ticket);
}

/*
 * Nothing in the page suggests that its reader may execute RDPMC, which would read the counter of
 * the reader's own CPU.
 */
START_TEST(a_session_s_page_is_read_like_that_of_a_stopped_thread)
{
	int mark_fd = mark_open();
	struct perfctr_session_args open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	int session = try_session(&open);
	const struct perfctr_page *page;
	struct perfctr_snapshot sums;
	const char *pages;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	page = (const void *)(pages + open.cpu_bytes);
	ck_assert_uint_eq(page->flags, 0);
	expect_no_fast_reads(page);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }, { GENERAL(1), 0 }));
	pin(0, 1);
	expect_success(marked_start(mark_fd, 1, COMMAND(program("loop-long"))));
	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_eq(page->abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(page->n_counters, 2);
	ck_assert_uint_eq(page->cpu, 1);
	ck_assert_int_eq(perfctr_read_stopped(page, 2, &sums), 1);
	ck_assert_uint_eq(sums.counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(sums.counter[1], LOOP_INSTRUCTIONS(LONG_LOOP));
	expect_no_fast_reads(page);
	ck_assert_uint_eq(sums.tsc, context_read(session).tsc);
	ck_assert_uint_ne(page->switches, 0);
	ck_assert_uint_eq(page->flags, 0);
	close(session);
	close(mark_fd);
}
END_TEST

START_TEST(pages_are_read_without_a_system_call_while_members_run)
{
	int mark_fd = mark_open();
	struct perfctr_session_args open = session_of(mark_fd, NOT_PRIVILEGED | MARKED);
	int session = try_session(&open);
	uint64_t last = 0, now, exact = 0;
	const char *pages;
	pid_t pid;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	ck_assert_ptr_eq(mmap(NULL, open.pages_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, session, 0),
			 MAP_FAILED);
	session_control(session, SESSION_EVENTS({ GENERAL(0), 0 }));
	pin(0, 0);
	pid = marked_start(mark_fd, 1, COMMAND(program("loop-long")));
	while (exact < LOOP_INSTRUCTIONS(LONG_LOOP)) {
		now = mapped_sum(pages, &open);
		ck_assert_uint_ge(now, last);
		last = now;
		exact = context_read(session).counter[0];
		ck_assert_uint_ge(exact, now);
	}
	ck_assert_uint_gt(last, 0);
	expect_success(pid);
	ck_assert_uint_eq(mapped_sum(pages, &open), LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(context_read(session).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	close(session);
	close(mark_fd);
}
END_TEST

/* Threads of both classes share CPU 1, and the caller has CPU 0. */
static void expect_folds_at_once(uint32_t policy, const struct session_event *events, size_t n,
				 int other)
{
	int mark_fd = mark_open();
	struct perfctr_session_args open = session_of(mark_fd, policy);
	int session = try_session(&open);
	pid_t marked = yielder_start(1), unmarked = yielder_start(1);
	const char *pages;

	ck_assert_int_ge(session, 0);
	pages = map_pages(session, &open);
	pin(0, 0);
	mark(marked, mark_fd);
	session_control(session, events, n);
	expect_equal_sums((const void *)(pages + open.cpu_bytes), other);
	kill_and_wait(marked);
	kill_and_wait(unmarked);
	close(session);
	close(mark_fd);
}

START_TEST(mapped_sums_are_of_one_fold)
{
	expect_folds_at_once(NOT_PRIVILEGED | MARKED,
			     SESSION_EVENTS({ GENERAL(0), 0 }, { GENERAL(1), 0 }, { GENERAL(2), 0 },
					    { GENERAL(3), 0 }, { FIXED_COUNTER(0), 0 }),
			     4);
}
END_TEST

/* The counters run on while they are folded: at each tick, since no gate closes. */
START_TEST(mapped_sums_of_kernel_mode_are_of_one_instruction)
{
	expect_folds_at_once(0,
			     SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, 0 },
					    { { 2, KERNEL(INSTRUCTIONS) }, 0 }),
			     1);
}
END_TEST

/* A gate closes the third counter while the others run on. */
START_TEST(mapped_sums_of_kernel_mode_are_of_one_instruction_at_a_gate)
{
	expect_folds_at_once(0,
			     SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, POLICY(0) },
					    { { 2, KERNEL(INSTRUCTIONS) }, POLICY(0) },
					    { { 1, KERNEL(INSTRUCTIONS) }, POLICY(MARKED) }),
			     1);
}
END_TEST

SUITE(session_pages, pages_are_read_without_a_system_call_while_members_run,
      a_session_s_page_is_read_like_that_of_a_stopped_thread, mapped_sums_are_of_one_fold,
      mapped_sums_of_kernel_mode_are_of_one_instruction,
      mapped_sums_of_kernel_mode_are_of_one_instruction_at_a_gate)
