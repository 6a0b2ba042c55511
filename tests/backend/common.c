// SPDX-License-Identifier: GPL-2.0-or-later
/* What the sentences of the contract share. */
#include "backend.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

struct perfctr *open_context(pid_t tid)
{
	struct perfctr *p = perfctr_open_tid(tid, PERFCTR_OPEN_CREATE);

	ck_assert_msg(p, "perfctr_open_tid: %s", strerror(errno));
	return p;
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

	ck_assert_msg(perfctr_set_control(p, &control) == 0, "perfctr_set_control: %s, reason %u",
		      strerror(errno), control.bad_reason);
	return p;
}

struct perfctr_counts counts_of(const struct perfctr *p, unsigned int scope)
{
	struct perfctr_counts counts;

	ck_assert_msg(perfctr_read_scope(p, scope, &counts) == 0, "perfctr_read_scope: %s",
		      strerror(errno));
	return counts;
}

uint64_t instructions_of(const struct perfctr *p)
{
	return counts_of(p, PERFCTR_SCOPE_SELF).counter[0];
}

struct perfctr_group *make_group(void)
{
	struct perfctr_group *group = perfctr_group_open(NULL);

	ck_assert_msg(group, "perfctr_group_open: %s", strerror(errno));
	return group;
}

struct perfctr_session *session_of(struct perfctr_group *group, uint32_t flags)
{
	const struct perfctr_session_options options = {
		.size = sizeof(struct perfctr_session_options),
		.group = group,
		.policy = group ? PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED : 0,
	};
	struct perfctr_session *session = perfctr_session_open(&options);
	struct perfctr_control control = user_control(1, flags);

	ck_assert_msg(session, "perfctr_session_open: %s", strerror(errno));
	ck_assert_msg(perfctr_session_control(session, &control) == 0,
		      "perfctr_session_control: %s, reason %u", strerror(errno),
		      control.bad_reason);
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

void kill_and_wait(pid_t pid)
{
	kill(pid, SIGKILL);
	wait_for(pid, NULL);
}
