// SPDX-License-Identifier: GPL-2.0-or-later
/* Walks with longer answers than the kernel gives at a time. */
#include "bpf.h"
#include "attacker.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROWD 8300 /* threads: the kernel's buffer of 32 KB has room for 8191 numbers */
#define MAX_THREADS "/proc/sys/kernel/threads-max"

static int set_most_threads(int n)
{
	FILE *file = fopen(MAX_THREADS, "r+");
	int before = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%d", &before), 1);
	if (n > before || n < 0) {
		rewind(file);
		fprintf(file, "%d\n", abs(n));
	}
	ck_assert_int_eq(fclose(file), 0);
	return before;
}

static void *stay(void *nothing)
{
	pause();
	return nothing;
}

/* Makes the threads when told to. */
static void come_in_a_crowd(int go, int said)
{
	pthread_attr_t small;
	pthread_t thread;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
	if (read(go, &byte, 1) != 1)
		_exit(1);
	for (int i = 1; i < CROWD; i++)
		if (pthread_create(&thread, &small, stay, NULL))
			_exit(1);
	if (write(said, &byte, 1) != 1)
		_exit(1);
	stay(NULL);
}

/* Returns the number of threads that the walk gives. */
static uint32_t ask(const struct raw *raw, uint64_t id, uint32_t action, pid_t pid,
		    struct perfctr_bpf_reply *reply)
{
	static char data[1 << 16];
	const struct raw_slot slot = { id & ((1u << PERFCTR_BPF_SLOT_BITS) - 1),
				       id >> PERFCTR_BPF_SLOT_BITS };
	int walk = open(PERFCTR_BPF_DIRECTORY "/walk", O_RDONLY | O_CLOEXEC);
	size_t size = 0;
	ssize_t n;

	ck_assert_int_eq(raw_request(raw, slot, action, pid, PERFCTR_MARK_PROCESS, NULL), 0);
	while ((n = read(walk, data + size, sizeof(data) - size)) > 0)
		size += (size_t)n;
	close(walk);
	ck_assert_uint_ge(size, sizeof(*reply));
	memcpy(reply, data + size - sizeof(*reply), sizeof(*reply));
	return (uint32_t)((size - sizeof(*reply)) / sizeof(int32_t));
}

START_TEST(each_thread_is_counted_once_however_many_there_are)
{
	struct perfctr_bpf_reply reply;
	uint64_t id, other_id;
	struct perfctr_mark *mark = perfctr_mark_open(&id), *other = perfctr_mark_open(&other_id);
	int before = set_most_threads(3 * CROWD), go[2], said[2];
	struct raw raw;
	pid_t pid;
	char byte = 0;

	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_eq(pipe(go) | pipe(said), 0);
	pid = fork();
	if (pid == 0)
		come_in_a_crowd(go[0], said[1]);
	ck_assert_int_eq(perfctr_mark_set(mark, pid, PERFCTR_MARK_PROCESS), 1);
	ck_assert_int_eq(write(go[1], &byte, 1), 1);
	close(said[1]);
	ck_assert_int_eq(read(said[0], &byte, 1), 1);
	ck_assert_uint_eq(ask(&raw, id, PERFCTR_BPF_WALK_MEMBERS, 0, &reply), CROWD);
	ck_assert_uint_eq(reply.found, CROWD);
	ck_assert_uint_eq(ask(&raw, other_id, PERFCTR_BPF_WALK_MARK, pid, &reply), CROWD);
	ck_assert_uint_eq(reply.unproven, CROWD);
	ck_assert_uint_eq(reply.found, CROWD);
	end_victim(pid);
	perfctr_mark_close(mark);
	perfctr_mark_close(other);
	raw_close(&raw);
	set_most_threads(-before);
}
END_TEST

TCase *walk_tests(void)
{
	TCase *tests = tcase_create("walk");

	tcase_set_timeout(tests, 240);
	tcase_add_test(tests, each_thread_is_counted_once_however_many_there_are);
	return tests;
}
