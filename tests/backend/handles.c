// SPDX-License-Identifier: GPL-2.0-or-later
/* Handles of the library, shared by its tests. */
#include "handles.h"

#include <check.h>
#include <errno.h>
#include <string.h>

#include "../bpf/work.h"
#include "../guest/guest.h"

struct perfctr *open_context(pid_t tid)
{
	struct perfctr *p = perfctr_open_tid(tid, PERFCTR_OPEN_CREATE);

	ck_assert_msg(p, "perfctr_open_tid: %s", strerror(errno));
	return p;
}

static void expect_control(int result, const char *call, const struct perfctr_control *control)
{
	ck_assert_msg(result == 0, "%s: %s, reason %u", call, strerror(errno), control->bad_reason);
}

void set_control(struct perfctr *p, struct perfctr_control *control)
{
	expect_control(perfctr_set_control(p, control), "perfctr_set_control", control);
}

struct perfctr_control user_control(unsigned int n, uint32_t flags)
{
	static const uint64_t events[] = { USER(INSTRUCTIONS), USER(BRANCHES) };
	struct perfctr_control control;

	perfctr_control_init(&control);
	control.flags = flags;
	for (unsigned int i = 0; i < n; i++)
		perfctr_control_add(&control, PERFCTR_ANY, events[i], 0);
	return control;
}

struct perfctr *counted(pid_t tid, unsigned int n, uint32_t flags)
{
	struct perfctr_control control = user_control(n, flags);
	struct perfctr *p = open_context(tid);

	set_control(p, &control);
	return p;
}

struct perfctr *counted_software(pid_t tid, uint32_t flags)
{
	struct perfctr *p = open_context(tid);
	struct perfctr_control control;

	control_all(&control, flags);
	set_control(p, &control);
	return p;
}

struct perfctr_counts counts_of(const struct perfctr *p, unsigned int scope)
{
	struct perfctr_counts counts;

	ck_assert_msg(perfctr_read_scope(p, scope, &counts) == 0, "perfctr_read_scope: %s",
		      strerror(errno));
	return counts;
}

struct perfctr_counts own_counts(const struct perfctr *p)
{
	return counts_of(p, PERFCTR_SCOPE_SELF);
}

struct perfctr_mark *make_mark(void)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);

	ck_assert_msg(mark, "perfctr_mark_open: %s", strerror(errno));
	return mark;
}

struct perfctr_session *open_session(struct perfctr_mark *mark)
{
	const struct perfctr_session_options options = {
		.size = sizeof(struct perfctr_session_options),
		.mark = mark,
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};
	struct perfctr_session *session = perfctr_session_open(&options);

	ck_assert_msg(session, "perfctr_session_open: %s", strerror(errno));
	return session;
}

void control_session(struct perfctr_session *session, struct perfctr_control *control)
{
	expect_control(perfctr_session_control(session, control), "perfctr_session_control",
		       control);
}

struct perfctr_session *counted_mark_software(struct perfctr_mark *mark)
{
	struct perfctr_session *session = open_session(mark);
	struct perfctr_control control;

	control_all(&control, 0);
	control_session(session, &control);
	return session;
}

struct perfctr_counts session_counts(const struct perfctr_session *session)
{
	struct perfctr_counts counts;

	ck_assert_msg(perfctr_session_read(session, &counts) == 0, "perfctr_session_read: %s",
		      strerror(errno));
	return counts;
}

double ns_of_ticks(uint64_t ticks)
{
	struct perfctr_pmu_info info;

	ck_assert_int_eq(perfctr_get_pmu_info(&info), 0);
	ck_assert_uint_gt(info.tsc_khz, 0);
	return (double)ticks * 1e6 / info.tsc_khz;
}

void run_to_end(pid_t pid)
{
	int status;

	stopped_go(pid);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "wait status %#x", (unsigned int)status);
}
