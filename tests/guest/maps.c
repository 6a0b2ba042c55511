// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first mapping of a state page may come at any time: before the thread counts, while it runs
 * here or on another CPU, begins or exits, and after its exit. The page shows what was counted
 * before. The mapping neither loses nor adds counts. Until then there is no page.
 */
#include "trees.h"

#include <perfctr.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define OBJECT_SIZE "/sys/kernel/slab/perfctr_context/object_size"

/* A copy as of one moment. */
static struct perfctr_page copy_of(const struct perfctr_page *page)
{
	struct perfctr_page copy;
	uint32_t seq;

	do {
		seq = page->seq;
		__asm__ volatile("" : : : "memory");
		memcpy(&copy, page, sizeof(copy));
		__asm__ volatile("" : : : "memory");
	} while (seq & 1 || page->seq != seq);
	return copy;
}

/* A counter without an event is 0, whatever the memory held before, and cannot be read. */
static void expect_nothing_from(const struct perfctr_page *page, unsigned int n)
{
	const char *bytes = (const char *)page;

	for (unsigned int i = n; i < PERFCTR_MAX_COUNTERS; i++) {
		ck_assert_uint_eq(page->counter[i].bias, 0);
		ck_assert_uint_eq(page->counter[i].sum, 0);
		ck_assert_uint_eq(page->counter[i].ticket, 0);
		ck_assert_uint_eq(page->counter[i].recheck, UINT64_MAX);
	}
	for (size_t i = page->size; i < PERFCTR_PAGE_SIZE; i++)
		ck_assert_msg(bytes[i] == 0, "byte %zu is %#x", i, bytes[i]);
}

START_TEST(who_maps_its_page_late_goes_on_where_it_was)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page;
	struct perfctr_counts before, after;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) }));
	spin(1000000);
	before = context_read(fd);
	page = context_map(fd);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t own = perfctr_read_pmc(page, i);

		after = context_read(fd);
		ck_assert_uint_ge(own, before.counter[i]);
		ck_assert_uint_le(own, after.counter[i]);
		ck_assert_uint_lt(after.counter[i] - before.counter[i], 100000);
	}
	ck_assert_uint_ge(before.counter[0], 1000000);
	ck_assert_uint_eq(page->n_counters, 2);
	ck_assert_uint_eq(page->size, sizeof(*page));
	ck_assert_uint_eq(page->abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(page->flags, PERFCTR_PAGE_STARTED | PERFCTR_PAGE_RDPMC);
	expect_nothing_from(page, 2);
}
END_TEST

/* A page stays where it is when fewer events are counted, and when it is mapped again. */
START_TEST(a_page_is_the_same_for_all_controls_and_mappings)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd), *again;

	expect_nothing_from(page, 0);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(BRANCHES) },
				   { 2, USER(CYCLES) }));
	spin(1000);
	context_control(fd, EVENTS({ 3, USER(INSTRUCTIONS) }));
	again = context_map(fd);
	ck_assert_uint_eq(page->n_counters, 1);
	ck_assert_uint_eq((uint32_t)page->counter[0].ticket, 3);
	for (unsigned int i = 1; i < 3; i++) {
		ck_assert_uint_eq(page->counter[i].sum, 0);
		ck_assert_uint_ne(page->counter[i].ticket, page->counter[i].recheck);
	}
	expect_nothing_from(page, 3);
	ck_assert_uint_le(perfctr_read_pmc(page, 0), perfctr_read_pmc(again, 0));
	ck_assert_uint_le(perfctr_read_pmc(again, 0), context_read(fd).counter[0]);
}
END_TEST

/* The page is mapped before the thread runs, while it runs on the other CPU, and at its end. */
START_TEST(a_page_that_is_mapped_while_the_thread_runs_costs_no_count)
{
	for (unsigned int delay = 0; delay < 40; delay++) {
		struct counted c = counted_start(delay & 1, COMMAND(program("loop")),
						 EVENTS({ 0, USER(INSTRUCTIONS) },
							{ 1, USER(BRANCHES) }));
		const struct perfctr_page *page;
		struct perfctr_page copy;
		int fd = c.fd, status;

		sleep_us(delay * 500);
		page = context_map(fd);
		copy = copy_of(page);
		ck_assert_uint_eq(copy.n_counters, 2);
		ck_assert_uint_le(copy.counter[0].sum, LOOP_INSTRUCTIONS(SHORT_LOOP));
		ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
		ck_assert_int_eq(status, 0);
		ck_assert_uint_eq(page->counter[0].sum, LOOP_INSTRUCTIONS(SHORT_LOOP));
		ck_assert_uint_eq(page->counter[1].sum, LOOP_BRANCHES(SHORT_LOOP));
		ck_assert_uint_eq(context_read(fd).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
		ck_assert(page->counter[0].ticket != page->counter[0].recheck);
		munmap((void *)page, PERFCTR_PAGE_SIZE);
		close(fd);
	}
}
END_TEST

START_TEST(the_page_of_who_has_exited_shows_its_last_sums)
{
	struct counted c = counted_start(ANY_CPU, COMMAND(program("loop")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	const struct perfctr_page *page;
	int status;

	ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
	page = context_map(c.fd);
	ck_assert_uint_eq(page->counter[0].sum, LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(page->tsc.sum, context_read(c.fd).tsc);
	ck_assert(!(page->flags & PERFCTR_PAGE_STARTED));
	ck_assert(page->counter[0].ticket != page->counter[0].recheck);
	expect_nothing_from(page, 1);
	close(c.fd);
}
END_TEST

/* Members begin and end all the time. Meanwhile the test maps the pages of those that it finds. */
START_TEST(members_whose_pages_others_map_are_counted_once)
{
	volatile uint64_t *made = shared_number();
	int tree = tree_open(0);
	uint64_t before = read_children(tree).counter[0];
	pid_t child[8];
	unsigned int mapped = 0;
	int status;

	for (unsigned int round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(child); i++)
			child[i] = spawn(COMMAND(program("loop")));
		for (size_t i = 0; i < 4 * ARRAY_SIZE(child); i++) {
			int fd = try_context_open(child[i % ARRAY_SIZE(child)], 0);
			void *page = fd < 0 ? MAP_FAILED :
				     mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

			if (page != MAP_FAILED) {
				mapped++;
				ck_assert_uint_le(copy_of(page).counter[0].sum,
						  LOOP_INSTRUCTIONS(SHORT_LOOP) +
							  SPAWN_INSTRUCTIONS);
				munmap(page, PERFCTR_PAGE_SIZE);
			}
			if (fd >= 0)
				close(fd);
		}
		for (size_t i = 0; i < ARRAY_SIZE(child); i++)
			ck_assert_int_eq(wait_for(child[i], &status), child[i]);
		*made += ARRAY_SIZE(child);
	}
	ck_assert_uint_gt(mapped, 0);
	ck_assert_uint_eq(read_children(tree).counter[0] - before,
			  *made * (LOOP_INSTRUCTIONS(SHORT_LOOP) + SPAWN_INSTRUCTIONS));
}
END_TEST

/*
 * Other threads of the CPU leave counts in the counters that the thread uses. A bias is what the
 * thread had counted when it entered, less what the counter held then: a negative one would show
 * that the counter held counts of others.
 */
static void expect_none_of_others(const struct perfctr_page *page)
{
	struct perfctr_page copy = copy_of(page);

	for (unsigned int i = 0; i < copy.n_counters; i++)
		ck_assert_int_ge((int64_t)copy.counter[i].bias, 0);
}

/*
 * The program runs on CPU 0. The caller goes to the other CPU unless it is counted itself: on CPU 0
 * its entry would scrub the counters.
 */
static struct counted counted_beside(struct event event, int cpu)
{
	struct counted c = counted_start(0, COMMAND(program("loop-huge")), &event, 1);

	pin(0, cpu);
	return c;
}

static void let_others_run(void)
{
	for (unsigned int i = 0; i < 20; i++)
		sleep_us(5000);
}

START_TEST(a_page_that_is_mapped_late_tells_nothing_of_others)
{
	struct counted other = counted_beside((struct event){ 0, USER(INSTRUCTIONS) }, 0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	let_others_run();
	expect_none_of_others(context_map(fd));
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	expect_none_of_others(context_map(fd));
	kill_and_wait(other.pid);
}
END_TEST

START_TEST(a_page_of_who_is_stopped_tells_nothing_of_others)
{
	struct counted other = counted_beside((struct event){ 0, USER(INSTRUCTIONS) }, 0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page;

	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	let_others_run();
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	page = context_map(fd);
	ck_assert_uint_eq(page->counter[0].bias, 0);
	kill_and_wait(other.pid);
}
END_TEST

/* The thread cannot execute RDPMC. So the driver need not hide from it what the counters hold. */
static void look_at_others(struct event theirs, bool late)
{
	struct counted other = counted_beside(theirs, 1);
	struct counted c = counted_start(0, COMMAND(program("loop-huge")),
					 EVENTS({ 0, USER(INSTRUCTIONS) }));
	const struct perfctr_page *page;

	if (late)
		let_others_run();
	page = context_map(c.fd);
	for (unsigned int i = 0; i < 100; i++) {
		expect_none_of_others(page);
		sleep_us(3000);
	}
	kill_and_wait(c.pid);
	kill_and_wait(other.pid);
}

START_TEST(a_page_of_another_process_tells_nothing_of_a_third)
{
	look_at_others((struct event){ 0, USER(INSTRUCTIONS) }, false);
}
END_TEST

START_TEST(a_page_that_another_process_maps_late_tells_nothing_of_a_third)
{
	for (unsigned int i = 0; i < 5; i++)
		look_at_others((struct event){ 0, USER(INSTRUCTIONS) }, true);
}
END_TEST

START_TEST(a_page_of_another_process_tells_nothing_of_the_kernel)
{
	look_at_others((struct event){ 0, BOTH(INSTRUCTIONS) }, false);
}
END_TEST

/* The page does not show what was counted under the former control, either. */
static void look_at_the_control_before(bool mapped)
{
	struct counted other = counted_beside((struct event){ 0, USER(INSTRUCTIONS) }, 0);
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = mapped ? context_map(fd) : NULL;

	context_control(fd, EVENTS({ 0, KERNEL(INSTRUCTIONS) }, { 1, KERNEL(BRANCHES) }));
	let_others_run();
	control.flags = PERFCTR_CONTROL_STOPPED;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	if (!page)
		page = context_map(fd);
	for (unsigned int i = 0; i < 2; i++)
		ck_assert_uint_eq(page->counter[i].bias, 0);
	kill_and_wait(other.pid);
}

START_TEST(a_new_control_forgets_the_biases_of_the_one_before)
{
	look_at_the_control_before(true);
}
END_TEST

START_TEST(a_new_page_does_not_have_the_biases_of_the_control_before)
{
	look_at_the_control_before(false);
}
END_TEST

/* With the seven counters of this machine. tests/bench measures pages. */
START_TEST(who_inherits_takes_1200_bytes_at_most)
{
	ck_assert_uint_le(read_number(OBJECT_SIZE), 1200);
}
END_TEST

SUITE(maps,
      who_maps_its_page_late_goes_on_where_it_was,
      a_page_is_the_same_for_all_controls_and_mappings,
      a_page_that_is_mapped_while_the_thread_runs_costs_no_count,
      the_page_of_who_has_exited_shows_its_last_sums,
      members_whose_pages_others_map_are_counted_once,
      a_page_that_is_mapped_late_tells_nothing_of_others,
      a_page_of_who_is_stopped_tells_nothing_of_others,
      a_page_of_another_process_tells_nothing_of_a_third,
      a_page_that_another_process_maps_late_tells_nothing_of_a_third,
      a_page_of_another_process_tells_nothing_of_the_kernel,
      a_new_control_forgets_the_biases_of_the_one_before,
      a_new_page_does_not_have_the_biases_of_the_control_before,
      who_inherits_takes_1200_bytes_at_most)
