// SPDX-License-Identifier: GPL-2.0-or-later
/* Messages about refusals: each names the event, the allowed values and a remedy. */
#define _GNU_SOURCE
#include "unit.h"

#include <errno.h>
#include <perfctr.h>
#include <perfctr_sessions.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct perfctr_pmu_info arch = {
	.family = "F",
	.n_general = 4,
	.n_fixed = 3,
	.evntsel_allowed = 0xffc7ffff,
	.evntsel_required = 0x400000,
	.fixed_allowed = 0x430000,
	.evntsel_user = 0x10000,
	.evntsel_kernel = 0x20000,
};

/* event[1] of two events is refused; event[0] counts on counter 0. */
static const struct {
	int error;
	uint32_t reason;
	struct perfctr_event_control event;
	const char *words;
} refusals[] = {
	{ EINVAL,
	  PERFCTR_BAD_COUNTER,
	  { .counter = 7, .evntsel = 0x4100c0 },
	  "event 0x004100c0@7: there is no such counter; this machine has 0..3 and "
	  "0x40000000..0x40000002" },
	{ EINVAL,
	  PERFCTR_BAD_DUPLICATE,
	  { .counter = 0, .evntsel = 0x4100c4 },
	  "event 0x004100c4@0: its counter is taken by 0x004200c0@0; choose another of 0..3 and "
	  "0x40000000..0x40000002" },
	{ EINVAL,
	  PERFCTR_BAD_EVNTSEL,
	  { .counter = 1, .evntsel = 0x7900c0 },
	  "event 0x007900c0@1: evntsel bits 0x380000 cannot be set for this "
	  "counter; write 0x004100c0@1, or other bits of 0xffc7ffff" },
	{ EINVAL,
	  PERFCTR_BAD_EVNTSEL,
	  { .counter = PERFCTR_FIXED, .evntsel = 0x4100c0 },
	  "event 0x004100c0@0x40000000: evntsel bits 0xc0 cannot be set for this counter; write "
	  "0x00410000@0x40000000, or other bits of 0x430000" },
	{ EINVAL,
	  PERFCTR_BAD_EVNTSEL2,
	  { .counter = 1, .evntsel = 0x4100c0, .evntsel2 = 0x10 },
	  "event 0x004100c0/0x00000010@1: this machine has no second event select word; leave out "
	  "/0x10" },
	{ EINVAL,
	  PERFCTR_BAD_ENABLE,
	  { .counter = 1, .evntsel = 0x100c0 },
	  "event 0x000100c0@1: evntsel bits 0x400000 (enable) must be set; write 0x004100c0@1" },
	{ EINVAL,
	  PERFCTR_BAD_MODE,
	  { .counter = 1, .evntsel = 0x4000c0 },
	  "event 0x004000c0@1: it would never count: it selects neither user nor kernel mode; write "
	  "0x004100c0@1 for user mode" },
	{ EINVAL,
	  PERFCTR_BAD_MODE,
	  { .counter = 1, .evntsel = 0x8100c0 },
	  "event 0x008100c0@1: it would count in user and kernel mode; write 0x008300c0@1 to ask "
	  "for both" },
	{ EACCES,
	  PERFCTR_BAD_PRIVILEGE,
	  { .counter = 1, .evntsel = 0x4200c0 },
	  "event 0x004200c0@1: counting in kernel mode needs CAP_PERFMON or sysctl "
	  "kernel.perf_event_paranoid=1; without them write 0x004100c0@1 for user mode" },
	{ EINVAL,
	  PERFCTR_BAD_ROUTE,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: this counter cannot count it; see 'perfctr_events_parse()' for "
	  "those that can" },
	{ EINVAL,
	  PERFCTR_BAD_ERRATUM,
	  { .counter = 3, .evntsel = 0x4100c0 },
	  "event 0x004100c0@3: an erratum of this processor spoils what this counter counts, or what "
	  "others count; choose another, or see perfctr(4)" },
	{ EINVAL,
	  PERFCTR_BAD_REGISTER,
	  { .counter = 1, .evntsel = 0x4101b7 },
	  "event 0x004101b7@1: what it counts is told by a further register, which perfctr does not "
	  "set; choose another event" },
	{ EINVAL,
	  PERFCTR_BAD_CONFLICT,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: it needs a register that an earlier event sets otherwise; count them "
	  "in two runs" },
	{ EBUSY,
	  PERFCTR_BAD_TAKEN,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: its counter is taken by a session, or a session wants it while others "
	  "use it; choose another, or end that one" },
	{ EACCES,
	  PERFCTR_BAD_POLICY,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: without CAP_PERFMON a session counts marked threads in user mode and "
	  "nothing else; get CAP_PERFMON, or leave it out" },
	{ EMFILE,
	  PERFCTR_BAD_POLICY,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "without CAP_PERFMON the sessions of a user have no more than 0 counters together; end others "
	  "of yours, get CAP_PERFMON, or more by: echo N "
	  ">/sys/module/perfctr/parameters/user_session_counters" },
	{ EMFILE,
	  0,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "without CAP_PERFMON a user has at most 4 sessions that are started, and memory as "
	  "/sys/module/perfctr/parameters/user_kb allows; end others of yours, or get CAP_PERFMON" },
	{ EINVAL,
	  PERFCTR_BAD_PEBS,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "p4_pebs_enable 0x0, p4_pebs_matrix_vert 0x0: only bits 0x0 and 0x0 may be set here" },
	{ EINVAL,
	  PERFCTR_BAD_FIELD,
	  { .counter = 1, .evntsel = 0x4100c0, .flags = 1 },
	  "event 0x004100c0@1: flags must be 0, or PERFCTR_EVENT_STOP, or in a session a policy" },
	{ EINVAL,
	  PERFCTR_BAD_SIGNAL,
	  { .counter = 1, .evntsel = 0x4100c0, .signal = 10 },
	  "event 0x004100c0@1: a signal, of 1 to 64, and PERFCTR_EVENT_STOP are for events of threads "
	  "that have a period" },
	{ EACCES,
	  PERFCTR_BAD_SIGNAL,
	  { .counter = 1, .evntsel = 0x4100c0, .period = 1000, .signal = 10 },
	  "event 0x004100c0@1: signals to a thread of another process need CAP_PERFMON and CAP_KILL, or "
	  "the right to ptrace it; leave the signal out" },
	{ EINVAL,
	  PERFCTR_BAD_PERIOD,
	  { .counter = 1, .evntsel = 0x4100c0, .period = 1000 },
	  "event 0x004100c0@1: no counter interrupts here; leave the period and the signal out" },
	{ EINVAL,
	  PERFCTR_BAD_EVENT,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: the kernel's perf_events does not count it on this machine; see "
	  "'perfctr_events_list()' for those that it knows" },
	{ EINVAL,
	  PERFCTR_BAD_UNLOADED,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: perfctr-bpfd was started with other events alone; count these, or as "
	  "root: perfctr-bpfd stop, then start it with --event for each" },
	{ EACCES,
	  PERFCTR_BAD_PRIVILEGE,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_MIGRATIONS },
	  "event cpu-migrations: what the kernel does needs CAP_PERFMON or sysctl "
	  "kernel.perf_event_paranoid=1; without them page-faults:u and task-clock can be counted" },
	{ EINVAL,
	  PERFCTR_BAD_EVNTSEL,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS, .evntsel = PERFCTR_SOFTWARE_USER },
	  "event page-faults: this backend counts it in user and kernel mode together; leave out "
	  "':u'" },
	{ ENOTSUP,
	  PERFCTR_BAD_MEMBER,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS },
	  "event page-faults: this backend counts it of all members together, not of single "
	  "processes or threads; leave it out, or count their sum" },
	{ ENOTSUP,
	  PERFCTR_BAD_SOFTWARE,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS },
	  "event page-faults: this backend does not count what the operating system does; leave it "
	  "out, or use another of 'perfctr_backends()'" },
	{ ENOTSUP,
	  PERFCTR_BAD_INHERIT,
	  { .counter = 1 },
	  "this backend counts single threads, not what they create; leave out "
	  "PERFCTR_CONTROL_INHERIT, or use another of 'perfctr_backends()'" },
	{ ENOTSUP,
	  PERFCTR_BAD_TOTALS,
	  { .counter = 1 },
	  "this backend does not count a tree as one; leave out PERFCTR_CONTROL_TOTALS, or use another "
	  "of 'perfctr_backends()'" },
	{ ENOTSUP,
	  PERFCTR_BAD_WHOLE,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_MIGRATIONS },
	  "event cpu-migrations: a tree that is counted as one does not have it; leave it out, or "
	  "PERFCTR_CONTROL_TOTALS" },
	{ ENOTSUP,
	  PERFCTR_BAD_FORBIDDEN,
	  { .counter = PERFCTR_SOFTWARE + PERFCTR_PAGE_FAULTS },
	  "event page-faults: perf_events counts it, and the seccomp filter of a container forbids "
	  "perf_event_open(2); leave it out, or allow the call there" },
	{ EINVAL,
	  99,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "event 0x004100c0@1: refused for reason 99, which this program does not know" },
	{ ENOSPC,
	  0,
	  { .counter = PERFCTR_ANY, .evntsel = 0x4100c0 },
	  "event 0x004100c0: no counter is left for it; this machine has 4 general counters" },
	{ ENOSPC,
	  0,
	  { .counter = 1, .evntsel = 0x4100c0 },
	  "no place is left for the session: 16 are started at most, without CAP_PERFMON 8 that have "
	  "half of the counters together; end others" },
	{ EINVAL, 0, { .counter = 1 }, "the control was refused: Invalid argument" },
	{ ENODEV,
	  0,
	  { .counter = 1 },
	  "this machine's event counters cannot be used: F; only the time stamp can be counted" },
	{ ENXIO,
	  0,
	  { .counter = 1 },
	  "a CPU of the session counts no events: its counters are unknown, or a sibling's; the kernel's "
	  "log says which, name others" },
	{ ESRCH,
	  0,
	  { .counter = 1 },
	  "the thread has exited, or executed a program that changes its ids or that it may not "
	  "read" },
	{ EPERM, 0, { .counter = 1 }, "only the handle that made the context may control it" },
	{ 9999, 0, { .counter = 1 }, "the control was refused: unknown error" },
};

START_TEST(refused_controls_are_worded)
{
	struct perfctr_control control = {
		.n_events = 2,
		.bad_event = 1,
		.bad_reason = refusals[_i].reason,
		.event = { { .counter = 0, .evntsel = 0x4200c0 }, refusals[_i].event },
	};
	char words[256];

	perfctr_control_error(refusals[_i].error, &control, &arch, words, sizeof(words));
	ck_assert_str_eq(words, refusals[_i].words);
}
END_TEST

/* The driver gives no reason for this refusal. */
START_TEST(tags_without_an_event_are_worded)
{
	const struct perfctr_control control = { .p4_pebs_enable = 1 };
	char words[256];

	perfctr_control_error(EINVAL, &control, &arch, words, sizeof(words));
	ck_assert_str_eq(words, "p4_pebs_enable and p4_pebs_matrix_vert tag what an event counts; "
				"give an event, such as replay_event, too");
}
END_TEST

/* On the P6 only the register of counter 0 has the enable bit. */
START_TEST(the_one_enable_bit_of_p6_is_worded)
{
	const struct perfctr_pmu_info p6 = { .pmu = PERFCTR_PMU_P6,
					     .n_general = 2,
					     .evntsel_allowed = 0xffc7ffff };
	struct perfctr_control control = {
		.n_events = 2,
		.event = { { .counter = 0, .evntsel = 0x100c0 },
			   { .counter = 1, .evntsel = 0x4100c0 } },
	};
	char words[256];

	control.bad_reason = PERFCTR_BAD_ENABLE;
	perfctr_control_error(EINVAL, &control, &p6, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x000100c0@0: evntsel bits 0x400000 (enable) must be set; "
				"write 0x004100c0@0");
	control.bad_event = 1;
	control.bad_reason = PERFCTR_BAD_EVNTSEL;
	perfctr_control_error(EINVAL, &control, &p6, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x004100c0@1: evntsel bit 0x400000 (enable) is counter 0's "
				"alone, and enables all; write 0x000100c0@1");
}
END_TEST

START_TEST(a_detector_that_is_taken_is_named)
{
	const struct perfctr_pmu_info p4 = { .pmu = PERFCTR_PMU_P4, .n_general = 18 };
	const struct perfctr_control control = {
		.n_events = 1,
		.bad_reason = PERFCTR_BAD_TAKEN,
		.event = { { .counter = 14, .evntsel = 0x39000, .evntsel2 = 0x04000204 } },
	};
	char words[256];

	perfctr_control_error(EBUSY, &control, &p4, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x00039000/0x04000204@0xe: its counter or its CRU_ESCR1 is taken "
				"by a session, or a session wants it while others use it; choose "
				"another, or end that one");
}
END_TEST

START_TEST(a_second_event_select_word_that_exists_has_allowed_bits)
{
	struct perfctr_pmu_info info = { .n_general = 4, .evntsel2_allowed = 0x30f };
	struct perfctr_control control = {
		.n_events = 1,
		.bad_reason = PERFCTR_BAD_EVNTSEL2,
		.event = { { .evntsel = 0x4100c0, .evntsel2 = 0x501 } },
	};
	char words[256];

	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x004100c0/0x00000501@0: evntsel2 bits 0x400 are reserved; "
				"only 0x30f may be set");
	/* NetBurst: bits 0 to 3 are T1_USR, T1_OS, T0_USR and T0_OS in the SDM. */
	info.pmu = PERFCTR_PMU_P4;
	info.evntsel2_allowed = 0x7ffffffc;
	control.event[0].evntsel2 = 0x0c000805;
	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x004100c0/0x0c000805@0: evntsel2 bits 0x1 (T1_USR) are of a "
				"second logical processor, which is not counted; write "
				"0x004100c0/0x0c000804@0");
	control.event[0].evntsel2 = 0x0200020a;
	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x004100c0/0x0200020a@0: evntsel2 bits 0x2 (T1_OS) are of a "
				"second logical processor, which is not counted; write "
				"0x004100c0/0x02000208@0");
	/* Bits 2 and 3 are clear: the event would not count without the modes. */
	control.event[0].evntsel2 = 0x02000202;
	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_ptr_nonnull(strstr(words, "; write 0x004100c0/0x02000208@0"));
	control.event[0].evntsel2 = 0x02000203;
	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_ptr_nonnull(strstr(words, "bits 0x3 (T1_USR, T1_OS) are of"));
	ck_assert_ptr_nonnull(strstr(words, "; write 0x004100c0/0x0200020c@0"));
	control.event[0].evntsel2 = 0x8c000805;
	perfctr_control_error(EINVAL, &control, &info, words, sizeof(words));
	ck_assert_str_eq(words, "event 0x004100c0/0x8c000805@0: evntsel2 bits 0x80000001 are "
				"reserved; only 0x7ffffffc may be set");
}
END_TEST

START_TEST(a_machine_without_modes_offers_no_user_mode)
{
	struct perfctr_pmu_info info = { .n_general = 2, .evntsel_allowed = 0x1ff };
	struct perfctr_control control = {
		.n_events = 1,
		.bad_reason = PERFCTR_BAD_PRIVILEGE,
		.event = { { .counter = 1, .evntsel = 0xc0 } },
	};
	char words[256];

	perfctr_control_error(EACCES, &control, &info, words, sizeof(words));
	ck_assert_str_eq(words,
			 "event 0x000000c0@1: this machine counts user and kernel mode alike, "
			 "which needs CAP_PERFMON or sysctl kernel.perf_event_paranoid=1");
}
END_TEST

START_TEST(a_busy_machine_names_the_holder)
{
	struct perfctr_control control = { .n_events = 1 };
	FILE *file = fopen("/proc/sys/kernel/nmi_watchdog", "r");
	int watchdog = 0;
	char words[256];

	if (file) {
		ck_assert_int_eq(fscanf(file, "%d", &watchdog), 1);
		fclose(file);
	}
	perfctr_control_error(EBUSY, &control, &arch, words, sizeof(words));
	if (watchdog)
		ck_assert_str_eq(words,
				 "the counters are busy: the NMI watchdog holds them; switch "
				 "it off with: sysctl kernel.nmi_watchdog=0");
	else
		ck_assert_str_eq(words, "the counters are busy: perf_events holds them, or Processor Trace or "
					"KVM uses them; end the running perf session, or see perfctr(4)");
}
END_TEST

static const struct {
	int error;
	const char *words;
} open_errors[] = {
	{ ENODEV, "there is no /dev/perfctr: load the module as root by: modprobe perfctr, or build "
		  "it first by: make module (docs/install.md)" },
	{ EPROTO, "the kernel's perfctr has another ABI version than this program's 3; use the "
		  "programs built with the kernel" },
	{ EEXIST, "the thread is being counted already; close its context first, or if another program counts it, let "
	  "one of both count alone: perfctr_region_begin() counts regions there" },
	{ ENOENT, "the thread has no context; open it with PERFCTR_OPEN_CREATE" },
	{ ENOTSUP, "this backend cannot do that; perfctr_backends() says what each one can" },
	{ ESRCH, "there is no such thread" },
};

/* The same, with the name of root between the words. */
static const struct {
	int error;
	const char *before, *behind;
} root_errors[] = {
	{ ENXIO, "the perfctr module cannot trace the kernel; ask ",
	  " for: sysctl kernel.ftrace_enabled=1; the kernel's log says more" },
	{ EMFILE,
	  "too many open files (see 'ulimit -n'), or you have as many counters as a user may have; ",
	  " can raise /sys/module/perfctr/parameters/user_kb" },
};

START_TEST(refused_opens_are_worded)
{
	char words[256];

	perfctr_open_error_with("patch", open_errors[_i].error, words, sizeof(words));
	ck_assert_str_eq(words, open_errors[_i].words);
}
END_TEST

static void expect_root(int i, const char *root)
{
	char words[256], expected[256];

	snprintf(expected, sizeof(expected), "%s%s%s", root_errors[i].before, root, root_errors[i].behind);
	perfctr_open_error_with("patch", root_errors[i].error, words, sizeof(words));
	ck_assert_str_eq(words, expected);
}

/* Containers run these tests, too, perhaps as their root, which lacks CAP_SYS_ADMIN (bit 21). */
static bool is_contained(void)
{
	FILE *map = fopen("/proc/self/uid_map", "r"), *status = fopen("/proc/self/status", "r");
	unsigned long long capabilities = 0;
	unsigned int inside, outside, n;
	char line[256];

	ck_assert(map && status && fscanf(map, "%u %u %u", &inside, &outside, &n) == 3);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "CapEff: %llx", &capabilities);
	fclose(map);
	fclose(status);
	return n != UINT32_MAX || (geteuid() == 0 && !(capabilities >> 21 & 1));
}

START_TEST(root_of_a_container_is_sent_to_root_of_the_host)
{
	expect_root(_i, is_contained() ? "root of the host" : "root");
}
END_TEST

/* Not every host lets its users make a namespace.  The suite container of tests/guest has one. */
START_TEST(root_of_a_user_namespace_is_sent_to_root_of_the_host)
{
	if (unshare(CLONE_NEWUSER) == 0)
		expect_root(_i, "root of the host");
}
END_TEST

/* The only test here that depends on the machine.  It passes with and without the driver. */
START_TEST(a_kernel_without_perfctr_is_recognised)
{
	struct perfctr_pmu_info info;

	errno = 0;
	if (access("/dev/perfctr", F_OK) == 0) {
		ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
		ck_assert_uint_eq(info.abi_version, PERFCTR_ABI_VERSION);
		return;
	}
	ck_assert_int_eq(perfctr_get_pmu_info_with("patch", &info), -1);
	ck_assert_int_eq(errno, ENODEV);
	errno = 0;
	ck_assert_int_eq(perfctr_get_pmu_info_with("module", &info), -1);
	ck_assert_int_eq(errno, ENODEV);
	errno = 0;
	ck_assert_ptr_null(perfctr_open_with("patch", 0, PERFCTR_OPEN_CREATE));
	ck_assert_int_eq(errno, ENODEV);
	errno = EINTR;
	perfctr_close(NULL);
	ck_assert_int_eq(errno, EINTR);
}
END_TEST

/* There is no backend "none", but this is noticed only after the size has been accepted. */
START_TEST(session_options_of_other_versions_are_told_by_their_size)
{
	struct {
		struct perfctr_session_options options;
		char later[16];
	} newer = { .options = { .size = sizeof(newer), .backend = "none" } };

	errno = 0;
	ck_assert_ptr_null(perfctr_session_open(&newer.options));
	ck_assert_int_eq(errno, EINVAL);
	newer.later[15] = 1;
	ck_assert_ptr_null(perfctr_session_open(&newer.options));
	ck_assert_int_eq(errno, E2BIG);
	newer.options.size = sizeof(newer.options) - 1;
	newer.options.backend = NULL;
	ck_assert_ptr_null(perfctr_session_open(&newer.options));
	ck_assert_int_eq(errno, EINVAL);
}
END_TEST

TCase *error_tests(void)
{
	TCase *tests = tcase_create("error");

	tcase_add_loop_test(tests, refused_controls_are_worded, 0, ARRAY_SIZE(refusals));
	tcase_add_test(tests, tags_without_an_event_are_worded);
	tcase_add_test(tests, the_one_enable_bit_of_p6_is_worded);
	tcase_add_test(tests, a_detector_that_is_taken_is_named);
	tcase_add_test(tests, a_second_event_select_word_that_exists_has_allowed_bits);
	tcase_add_test(tests, a_machine_without_modes_offers_no_user_mode);
	tcase_add_test(tests, a_busy_machine_names_the_holder);
	tcase_add_loop_test(tests, refused_opens_are_worded, 0, ARRAY_SIZE(open_errors));
	tcase_add_loop_test(tests, root_of_a_container_is_sent_to_root_of_the_host, 0,
			    ARRAY_SIZE(root_errors));
	tcase_add_loop_test(tests, root_of_a_user_namespace_is_sent_to_root_of_the_host, 0,
			    ARRAY_SIZE(root_errors));
	tcase_add_test(tests, a_kernel_without_perfctr_is_recognised);
	tcase_add_test(tests, session_options_of_other_versions_are_told_by_their_size);
	return tests;
}
