// SPDX-License-Identifier: GPL-2.0-or-later
/* What is the bpf backend's own of events of the processor: the contract counts them. */
#include "bpf.h"
#include "../guest/guest.h"

#include <errno.h>
#include <string.h>

START_TEST(hardware_is_a_capability_then)
{
	struct perfctr_backend_info info;

	ck_assert_int_eq(perfctr_backend("bpf", &info), 0);
	ck_assert_uint_ne(info.capabilities & PERFCTR_CAN_HARDWARE, 0);
	ck_assert_msg(strstr(info.why, "experimental"), "%s", info.why);
	ck_assert_msg(strstr(info.why, "instructions:u, r00c4:u"), "%s", info.why);
}
END_TEST

START_TEST(another_event_is_refused_and_those_there_are_are_told)
{
	struct perfctr *p = counted(0, 2, 0);
	struct perfctr_control control;
	struct perfctr_pmu_info info;
	char text[512] = "";

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	/* In kernel mode nothing is counted either. */
	for (int i = 0; i < 2; i++) {
		perfctr_control_init(&control);
		perfctr_control_add(&control, PERFCTR_ANY, i ? 0x4300c0 : 0x4100c5, 0);
		ck_assert_int_eq(perfctr_set_control(p, &control), -1);
		ck_assert_int_eq(errno, EINVAL);
		perfctr_control_error(EINVAL, &control, &info, text, sizeof(text));
		ck_assert_msg(strstr(text, "instructions:u, r00c4:u"), "%s", text);
	}
	perfctr_close(p);
}
END_TEST

TCase *event_tests(void)
{
	TCase *tests = tcase_create("event");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, hardware_is_a_capability_then);
	tcase_add_test(tests, another_event_is_refused_and_those_there_are_are_told);
	return tests;
}

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"

/* A CPU that was offline has no events of the service any more. */
START_TEST(counts_that_lack_something_are_not_given)
{
	struct perfctr_counts counts;
	struct perfctr *p;
	pid_t pid;

	write_file(CPU1_ONLINE, "0");
	write_file(CPU1_ONLINE, "1");
	pid = stopped_start(1, COMMAND("build/tests/guest/loop"));
	p = counted(pid, 2, 0);
	run_to_end(pid);
	ck_assert_int_eq(perfctr_read(p, &counts), -1);
	ck_assert_int_eq(errno, EBUSY);
	perfctr_close(p);
}
END_TEST

TCase *lost_event_tests(void)
{
	TCase *tests = tcase_create("lost event");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, counts_that_lack_something_are_not_given);
	return tests;
}
