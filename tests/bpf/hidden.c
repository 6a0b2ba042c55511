// SPDX-License-Identifier: GPL-2.0-or-later
/* /proc is mounted with hidepid=invisible: the service shows a user nothing that /proc hides. */
#include "bpf.h"
#include "attacker.h"
#include "raw.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_visible(pid_t tid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", tid);
	return access(path, F_OK) == 0;
}

/* The attacker sees neither numbers nor how many there are. */
static int look_for(pid_t hidden)
{
	struct raw raw;
	struct raw_slot slot;
	struct raw_answer answer;

	EXPECT(!is_visible(hidden));
	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	for (uint32_t action = PERFCTR_BPF_WALK_MARK; action <= PERFCTR_BPF_WALK_FIND; action++)
		for (uint32_t scope = PERFCTR_MARK_THREAD; scope <= PERFCTR_MARK_TREE; scope++) {
			raw_ask(&raw, slot, action, hidden, scope, &answer);
			EXPECT(answer.error == 0 && answer.n == 0);
			EXPECT(answer.reply.found == 0 && answer.reply.changed == 0);
			EXPECT(answer.reply.unproven == 0 && answer.reply.id == 0);
		}
	EXPECT(raw_release(&raw, slot) == 0);
	raw_close(&raw);
	return 0;
}

static int look_with_the_library(pid_t hidden)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	uint64_t id;

	EXPECT(mark);
	EXPECT(!perfctr_open_tid(hidden, PERFCTR_OPEN_CREATE));
	EXPECT(!perfctr_open_tid(hidden, 0));
	EXPECT(perfctr_mark_get(hidden, &id) < 0);
	for (unsigned int scope = PERFCTR_MARK_THREAD; scope <= PERFCTR_MARK_TREE; scope++) {
		EXPECT(perfctr_mark_set(mark, hidden, scope) < 0);
		EXPECT(perfctr_mark_clear(NULL, hidden, scope) < 0);
	}
	EXPECT(perfctr_members(mark, NULL, 0) == 0);
	perfctr_mark_close(mark);
	return 0;
}

static int look_for_hidden(void *pid)
{
	int result = look_for(*(pid_t *)pid);

	return result ? result : look_with_the_library(*(pid_t *)pid);
}

/* Root counts the hidden process. */
START_TEST(who_is_hidden_is_not_seen_or_counted)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	pid_t pid = victim();

	ck_assert_int_eq(perfctr_mark_set(mark, pid, PERFCTR_MARK_THREAD), 1);
	attack(look_for_hidden, &pid);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
	end_victim(pid);
	perfctr_mark_close(mark);
}
END_TEST

/* The process belongs to the attacker's user, but has more rights. */
START_TEST(who_may_more_is_hidden_from_its_own_user)
{
	pid_t pid = capable_victim();

	attack(look_for_hidden, &pid);
	end_victim(pid);
}
END_TEST

/* The attacker looks at all processes of the machine. */
static int look_at_all(void *argument)
{
	struct raw raw;
	struct raw_slot slot;
	struct raw_answer answer;
	bool seen = false;
	pid_t child = victim();

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	raw_ask(&raw, slot, PERFCTR_BPF_WALK_MARK, 1, PERFCTR_MARK_TREE, &answer);
	EXPECT(answer.error == 0 && answer.reply.changed == 1);
	for (uint32_t i = 0; i < answer.n; i++) {
		EXPECT(is_visible(answer.number[i]));
		seen = seen || answer.number[i] == child;
	}
	EXPECT(seen);
	/* All of these, and the caller itself. */
	EXPECT(answer.reply.unproven == answer.n && answer.reply.found == answer.n + 1);
	end_victim(child);
	return 0;
}

START_TEST(numbers_that_are_told_are_those_of_proc)
{
	attack(look_at_all, NULL);
}
END_TEST

static int count_own_children(void *argument)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	pid_t child = victim();
	struct perfctr *context = perfctr_open_tid(child, PERFCTR_OPEN_CREATE);

	(void)argument;
	EXPECT(context);
	EXPECT(perfctr_mark_set(mark, child, PERFCTR_MARK_TREE) == 1);
	EXPECT(perfctr_members(mark, NULL, 0) == 1);
	end_victim(child);
	return 0;
}

START_TEST(own_processes_are_counted_all_the_same)
{
	attack(count_own_children, NULL);
}
END_TEST

TCase *hidden_tests(void)
{
	TCase *tests = tcase_create("hidden");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, who_is_hidden_is_not_seen_or_counted);
	tcase_add_test(tests, who_may_more_is_hidden_from_its_own_user);
	tcase_add_test(tests, numbers_that_are_told_are_those_of_proc);
	tcase_add_test(tests, own_processes_are_counted_all_the_same);
	return tests;
}
