// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies of a slot of the test, which a signal handler changes as the BPF programs would. */
#include "unit.h"
#include "../../lib/backend/bpf/bpf.h"

#include <errno.h>
#include <signal.h>
#include <sys/time.h>

static struct perfctr_bpf_slot slot;

static void finish_fold(int signo)
{
	(void)signo;
	slot.members = 43;
	__atomic_store_n(&slot.ended, slot.begun, __ATOMIC_RELEASE);
}

START_TEST(a_slot_is_not_copied_during_a_fold)
{
	const struct itimerval timer = { .it_value.tv_usec = 50000 };
	struct perfctr_bpf_slot copy;

	slot = (struct perfctr_bpf_slot){ .begun = 8, .ended = 7, .members = 42 };
	signal(SIGALRM, finish_fold);
	setitimer(ITIMER_REAL, &timer, NULL);
	ck_assert_int_eq(perfctr_bpf_copy(&slot, &copy), 0);
	ck_assert_uint_eq(copy.members, 43);
}
END_TEST

START_TEST(a_slot_whose_fold_never_ends_is_refused)
{
	struct perfctr_bpf_slot copy;

	slot = (struct perfctr_bpf_slot){ .begun = 8, .ended = 7 };
	ck_assert_int_eq(perfctr_bpf_copy(&slot, &copy), -1);
	ck_assert_int_eq(errno, EPROTO);
}
END_TEST

TCase *bpf_slot_tests(void)
{
	TCase *tests = tcase_create("bpf_slot");

	tcase_add_test(tests, a_slot_is_not_copied_during_a_fold);
	tcase_add_test(tests, a_slot_whose_fold_never_ends_is_refused);
	return tests;
}
