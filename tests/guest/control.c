// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Controls that the kernel refuses: the errno, the event that it blames, and that nothing has
 * changed.
 */
#include "guest.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define GOOD USER(INSTRUCTIONS)

/* A control with one thing wrong: the event at fault is always the last one. */
struct refusal {
	const char *what;
	struct perfctr_control control;
	uint32_t bad_event;
	uint32_t bad_reason;
};

#define CONTROL_SIZE .size = sizeof(struct perfctr_control)
#define ONE(...)  { CONTROL_SIZE, .n_events = 1, .event = { { __VA_ARGS__ } } }
#define NEXT(...) \
	{ CONTROL_SIZE, .n_events = 2, .event = { { 0, .evntsel = GOOD }, { __VA_ARGS__ } } }

static const struct refusal refusals[] = {
	{ "general counter 4", NEXT(4, .evntsel = GOOD), 1, PERFCTR_BAD_COUNTER },
	{ "fixed counter 3", NEXT(PERFCTR_FIXED + 3, .evntsel = USER(FIXED)), 1,
	  PERFCTR_BAD_COUNTER },
	{ "counter 2^32 - 1", ONE(UINT32_MAX, .evntsel = GOOD), 0, PERFCTR_BAD_COUNTER },
	{ "the same counter twice", NEXT(0, .evntsel = USER(BRANCHES)), 1,
	  PERFCTR_BAD_DUPLICATE },
	{ "evntsel bit 32", NEXT(1, .evntsel = GOOD | 1ull << 32), 1, PERFCTR_BAD_EVNTSEL },
	{ "evntsel bit 63", NEXT(1, .evntsel = GOOD | 1ull << 63), 1, PERFCTR_BAD_EVNTSEL },
	{ "interrupt enable", NEXT(1, .evntsel = GOOD | EVNTSEL_INT), 1, PERFCTR_BAD_EVNTSEL },
	{ "an event for a fixed counter", NEXT(PERFCTR_FIXED, .evntsel = GOOD), 1,
	  PERFCTR_BAD_EVNTSEL },
	{ "evntsel2", NEXT(1, .evntsel = GOOD, .evntsel2 = 1), 1, PERFCTR_BAD_EVNTSEL2 },
	{ "no enable bit", NEXT(1, .evntsel = GOOD & ~EVNTSEL_EN), 1, PERFCTR_BAD_ENABLE },
	{ "evntsel 0", ONE(0, .evntsel = 0), 0, PERFCTR_BAD_ENABLE },
	{ "no mode", NEXT(1, .evntsel = INSTRUCTIONS | EVNTSEL_EN), 1, PERFCTR_BAD_MODE },
	{ "no mode, fixed", NEXT(PERFCTR_FIXED, .evntsel = EVNTSEL_EN), 1, PERFCTR_BAD_MODE },
	{ "event flags", NEXT(1, .evntsel = GOOD, .flags = 1), 1, PERFCTR_BAD_FIELD },
	{ "a period of 2^63", NEXT(1, .evntsel = GOOD, .period = 1ull << 63), 1,
	  PERFCTR_BAD_PERIOD },
	{ "a signal without a period", NEXT(1, .evntsel = GOOD, .signal = 10), 1,
	  PERFCTR_BAD_SIGNAL },
	{ "a stop without a period", NEXT(1, .evntsel = GOOD, .flags = PERFCTR_EVENT_STOP), 1,
	  PERFCTR_BAD_SIGNAL },
	{ "a kind of core", NEXT(1, .evntsel = GOOD, .kinds = 1), 1, PERFCTR_BAD_KIND },
	{ "unknown control flag", { CONTROL_SIZE, .flags = 1u << 31 }, 0, 0 },
	{ "reserved control field", { CONTROL_SIZE, .reserved = 1 }, 0, 0 },
	{ "PEBS of the Pentium 4", { CONTROL_SIZE, .p4_pebs_enable = 1 }, 0, 0 },
	{ "PEBS matrix of the Pentium 4", { CONTROL_SIZE, .p4_pebs_matrix_vert = 1 }, 0, 0 },
	{ "33 events", { CONTROL_SIZE, .n_events = PERFCTR_MAX_COUNTERS + 1 }, 0, 0 },
	{ "2^32 - 1 events", { CONTROL_SIZE, .n_events = UINT32_MAX }, 0, 0 },
	{ "size 0", { .size = 0 }, 0, 0 },
	{ "size 3", { .size = 3 }, 0, 0 },
	{ "size before the event", { .size = offsetof(struct perfctr_control, event),
				     .n_events = 1, .event = { { 0, .evntsel = GOOD } } },
	  0, 0 },
};

/* The context still counts the two events it was given. */
static void expect_untouched(int fd, const struct perfctr_counts *before, const char *what)
{
	struct perfctr_counts counts;

	spin(1000);
	counts = context_read(fd);
	ck_assert_msg(counts.flags == (PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT),
		      "%s stopped the context", what);
	ck_assert_msg(counts.n_counters == 2, "%s changed the number of events", what);
	ck_assert_msg(counts.counter[0] > before->counter[0] + 1000 &&
		      counts.counter[1] > before->counter[1] + 1000 && counts.tsc > before->tsc,
		      "%s disturbed the counts", what);
	/* spin() takes 2 instructions per branch: the events have not been swapped. */
	ck_assert_msg(counts.counter[0] > counts.counter[1], "%s changed the events", what);
}

static int counting_context(void)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 2, USER(INSTRUCTIONS) }, { 3, USER(BRANCHES) }));
	return fd;
}

START_TEST(p10_a_wrong_control_is_refused_and_the_earlier_one_goes_on)
{
	int fd = counting_context();

	for (size_t i = 0; i < ARRAY_SIZE(refusals); i++) {
		const struct refusal *r = &refusals[i];
		struct perfctr_control control = r->control;
		struct perfctr_counts before = context_read(fd);

		errno = 0;
		ck_assert_msg(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == -1, "%s is accepted",
			      r->what);
		ck_assert_msg(errno == EINVAL, "%s: %s", r->what, strerror(errno));
		ck_assert_msg(control.bad_event == r->bad_event &&
			      control.bad_reason == r->bad_reason,
			      "%s: event %u, reason %u instead of event %u, reason %u", r->what,
			      control.bad_event, control.bad_reason, r->bad_event, r->bad_reason);
		expect_untouched(fd, &before, r->what);
	}
}
END_TEST

/* Longer structs: the part that this kernel does not know must be zero. */
START_TEST(a_longer_control_is_accepted_when_its_tail_is_zero)
{
	struct {
		struct perfctr_control known;
		uint64_t tail;
	} control = {
		.known = control_of(EVENTS({ 2, USER(INSTRUCTIONS) }, { 3, USER(BRANCHES) })),
	};
	int fd = counting_context();
	struct perfctr_counts before = context_read(fd);

	control.known.size = sizeof(control);
	control.tail = 1ull << 56;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, E2BIG);
	expect_untouched(fd, &before, "a longer control");
	control.tail = 0;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_uint_eq(context_read(fd).n_counters, 2);
}
END_TEST

START_TEST(a_shorter_control_counts_as_filled_up_with_zeros)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = counting_context();

	control.size = offsetof(struct perfctr_control, event[1]);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	ck_assert_uint_eq(context_read(fd).n_counters, 1);
}
END_TEST

START_TEST(memory_that_is_not_there_is_refused)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perfctr_control *half = (struct perfctr_control *)(two + 4096 - 16);
	int fd = counting_context(), device = device_open();
	struct perfctr_counts before = context_read(fd);

	ck_assert(two != MAP_FAILED);
	munmap(two + 4096, 4096);
	half->size = sizeof(*half);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, half), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_OPEN, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_INFO, NULL), -1);
	ck_assert_int_eq(errno, EFAULT);
	expect_untouched(fd, &before, "a bad pointer");
}
END_TEST

/* The driver reads only the first words of READ's struct. */
START_TEST(counts_that_end_in_no_memory_are_refused_and_not_begun)
{
	char *two = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const size_t present[] = { 24, 64, sizeof(struct perfctr_counts) - 8 };
	struct perfctr_counts image = { .size = sizeof(image) };
	int fd = counting_context();

	ck_assert(two != MAP_FAILED);
	munmap(two + 4096, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(present); i++)
		for (uint32_t scope = PERFCTR_SCOPE_SELF; scope <= PERFCTR_SCOPE_TREE; scope++) {
			char *counts = two + 4096 - present[i];

			image.scope = scope;
			memcpy(counts, &image, present[i]);
			ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, counts), -1);
			ck_assert_int_eq(errno, EFAULT);
			ck_assert_mem_eq(counts, &image, present[i]);
		}
}
END_TEST

START_TEST(unknown_calls_are_refused)
{
	int fd = counting_context(), device = device_open();

	ck_assert_int_eq(ioctl(fd, _IO(PERFCTR_IOC_MAGIC, 0x7f)), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(ioctl(device, _IO(PERFCTR_IOC_MAGIC, 0x7f)), -1);
	ck_assert_int_eq(errno, ENOTTY);
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, ENOTTY);
}
END_TEST

static const struct {
	const char *what;
	struct perfctr_open_args request;
	int error;
} open_refusals[] = {
	{ "size 0", { .size = 0, .flags = PERFCTR_OPEN_CREATE }, EINVAL },
	{ "size 3", { .size = 3, .flags = PERFCTR_OPEN_CREATE }, EINVAL },
	{ "unknown flag", { .size = sizeof(struct perfctr_open_args), .flags = 1u << 31 }, EINVAL },
	{ "reserved", { .size = sizeof(struct perfctr_open_args), .flags = PERFCTR_OPEN_CREATE,
			.reserved = 1 }, EINVAL },
	/* Above the largest pid that Linux ever gives, 2^22. */
	{ "tid of nobody", { .size = sizeof(struct perfctr_open_args), .flags = PERFCTR_OPEN_CREATE,
			     .tid = (1 << 22) + 1 }, ESRCH },
	{ "no context", { .size = sizeof(struct perfctr_open_args) }, ENOENT },
};

START_TEST(a_wrong_open_is_refused_and_makes_no_context)
{
	int device = device_open();
	uint32_t contexts = pmu_info().n_contexts;

	for (size_t i = 0; i < ARRAY_SIZE(open_refusals); i++) {
		struct perfctr_open_args request = open_refusals[i].request;

		errno = 0;
		ck_assert_msg(ioctl(device, PERFCTR_IOC_OPEN, &request) == -1, "%s is accepted",
			      open_refusals[i].what);
		ck_assert_msg(errno == open_refusals[i].error, "%s: %s", open_refusals[i].what,
			      strerror(errno));
	}
	ck_assert_uint_eq(pmu_info().n_contexts, contexts);
}
END_TEST

START_TEST(a_descriptor_that_did_not_make_the_context_may_only_read)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = counting_context(), other = context_open(0, 0);
	struct perfctr_counts before = context_read(other);

	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_STOP), -1);
	ck_assert_int_eq(errno, EPERM);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EPERM);
	close(other);
	expect_untouched(fd, &before, "another descriptor");
}
END_TEST

START_TEST(a_wrong_read_is_refused)
{
	struct {
		struct perfctr_counts known;
		uint64_t tail;
	} counts = { .known.size = 0 };
	int fd = counting_context();

	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), -1);
	ck_assert_int_eq(errno, EINVAL);
	counts.known = (struct perfctr_counts){ .size = sizeof(counts.known), .flags = 1 };
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), -1);
	ck_assert_int_eq(errno, EINVAL);
	counts.known = (struct perfctr_counts){ .size = sizeof(counts) };
	counts.tail = 1;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), -1);
	ck_assert_int_eq(errno, E2BIG);
}
END_TEST

/* A program with older headers has shorter structs. The kernel must not write behind their end. */
START_TEST(a_shorter_struct_is_not_written_behind_its_end)
{
	struct perfctr_counts counts = { .size = offsetof(struct perfctr_counts, counter[1]) };
	struct perfctr_pmu_info info = { .size = offsetof(struct perfctr_pmu_info, n_general) };
	int fd = counting_context(), device = device_open();

	counts.counter[1] = 0x5a5a;
	info.n_general = 0x5a5a;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_READ, &counts), 0);
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_INFO, &info), 0);
	ck_assert_uint_gt(counts.counter[0], 0);
	ck_assert_uint_eq(counts.counter[1], 0x5a5a);
	ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(info.n_general, 0x5a5a);
}
END_TEST

START_TEST(start_without_a_control_is_refused)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), -1);
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(a_stopped_control_waits_for_start)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_counts counts;

	control.flags = PERFCTR_CONTROL_STOPPED;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	spin(1000);
	counts = context_read(fd);
	ck_assert_uint_eq(counts.flags, PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_eq(counts.counter[0], 0);
	ck_assert_uint_eq(counts.tsc, 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	spin(1000);
	counts = context_read(fd);
	ck_assert_uint_eq(counts.flags, PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT);
	ck_assert_uint_gt(counts.counter[0], 1000);
}
END_TEST

START_TEST(a_new_control_clears_all_sums)
{
	int fd = counting_context();

	spin(1000000);
	context_control(fd, EVENTS({ 0, USER(BRANCHES) }));
	ck_assert_uint_lt(context_read(fd).counter[0], 1000);
}
END_TEST

/* The expected values are those of the architectural PMU in the emulator's README. */
START_TEST(info_tells_the_machine)
{
	struct perfctr_pmu_info info = pmu_info();

	ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION);
	ck_assert_uint_eq(info.n_general, 4);
	ck_assert_uint_eq(info.n_fixed, 3);
	ck_assert_uint_eq(info.general_bits, 48);
	ck_assert_uint_eq(info.fixed_bits, 48);
	ck_assert_uint_eq(info.features & ~PERFCTR_FEATURE_MODULE,
			  PERFCTR_FEATURE_TSC | PERFCTR_FEATURE_RDPMC |
				  PERFCTR_FEATURE_GLOBAL_ENABLE | PERFCTR_FEATURE_ISOLATED |
				  PERFCTR_FEATURE_TOTALS | PERFCTR_FEATURE_INTERRUPT |
				  PERFCTR_FEATURE_SIGNAL);
	ck_assert_uint_eq(info.evntsel_required, EVNTSEL_EN);
	ck_assert_uint_eq(info.evntsel_allowed & EVNTSEL_INT, 0);
	ck_assert_uint_eq(info.evntsel_allowed & 0xffff, 0xffff);
	ck_assert_uint_eq(info.fixed_allowed, EVNTSEL_EN | EVNTSEL_OS | EVNTSEL_USR);
	ck_assert_uint_eq(info.evntsel2_allowed, 0);
	ck_assert_uint_eq(info.holder, PERFCTR_HOLDER_NONE);
	ck_assert_uint_eq(info.n_contexts, 0);
	ck_assert_uint_gt(info.tsc_khz, 0);
}
END_TEST

/* tests/unit/abi_layout.c checks sizes and offsets. */
START_TEST(p9_a_32_bit_program_has_the_same_abi)
{
	struct run r;

	RUN(&r, program("abi32"));
	ck_assert_msg(r.status == 0, "wait status %#x: step %d of i386/abi.c", r.status,
		      r.status >> 8);
}
END_TEST

SUITE(control,
      info_tells_the_machine,
      p10_a_wrong_control_is_refused_and_the_earlier_one_goes_on,
      a_longer_control_is_accepted_when_its_tail_is_zero,
      a_shorter_control_counts_as_filled_up_with_zeros,
      memory_that_is_not_there_is_refused,
      counts_that_end_in_no_memory_are_refused_and_not_begun,
      unknown_calls_are_refused,
      a_wrong_open_is_refused_and_makes_no_context,
      a_descriptor_that_did_not_make_the_context_may_only_read,
      a_wrong_read_is_refused,
      a_shorter_struct_is_not_written_behind_its_end,
      start_without_a_control_is_refused,
      a_stopped_control_waits_for_start,
      a_new_control_clears_all_sums,
      p9_a_32_bit_program_has_the_same_abi)
