// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Proofs by which users have threads of others marked: /proc/PID/mem, which the kernel opens for
 * callers that may trace the thread.
 */
#include "bpf.h"
#include "attacker.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

struct proof {
	pid_t pid;
	int fd; /* of its /proc/PID/mem, opened by root */
};

static int show_all_proofs(void *argument)
{
	const struct proof *proof = argument;
	struct perfctr_bpf_reply reply;
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	struct raw raw;
	struct raw_slot slot;
	int own = open("/proc/self/mem", O_RDONLY), other = open("/proc/self/status", O_RDONLY);

	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	EXPECT(ptrace(PTRACE_SEIZE, proof->pid, NULL, NULL) < 0 && errno == EPERM);
	EXPECT(perfctr_mark_set(mark, proof->pid, THREAD) < 0 && errno == EACCES);
	for (int i = -1; i < 64; i++) {
		int result = raw_mark(&raw, slot, proof->pid, i, &reply);

		EXPECT(result <= 0 && reply.changed == 0);
	}
	EXPECT(raw_mark(&raw, slot, proof->pid, own, &reply) <= 0 && reply.changed == 0);
	EXPECT(raw_mark(&raw, slot, proof->pid, other, &reply) <= 0 && reply.changed == 0);
	EXPECT(raw_mark(&raw, slot, proof->pid, proof->fd, &reply) <= 0 && reply.changed == 0);
	EXPECT(raw_mark(&raw, slot, proof->pid, INT32_MAX, &reply) <= 0 && reply.changed == 0);
	EXPECT(raw_mark(&raw, slot, proof->pid, INT32_MIN, &reply) <= 0 && reply.changed == 0);
	EXPECT(raw_slot_at(&raw, slot.index)->created == 0);
	return 0;
}

static void show_proofs_of(pid_t pid)
{
	struct proof proof = { .pid = pid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/mem", proof.pid);
	proof.fd = open(path, O_RDONLY);
	ck_assert_int_ge(proof.fd, 0);
	attack(show_all_proofs, &proof);
	close(proof.fd);
	end_victim(proof.pid);
}

/* Both processes have the user's own ids. */
START_TEST(who_may_trace_is_for_the_kernel_to_say)
{
	show_proofs_of(capable_victim());
	show_proofs_of(confined_victim());
}
END_TEST

/* name: including the end of the line. */
static bool executes(pid_t pid, const char *name)
{
	char path[32], comm[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	if (!file || !fgets(comm, sizeof(comm), file))
		comm[0] = '\0';
	if (file)
		fclose(file);
	return strcmp(comm, name) == 0;
}

/* The process may not be traced any more: it has executed another program since. */
static int show_an_old_proof(void *argument)
{
	const char *program = getenv("SET_ID_PROGRAM");
	struct perfctr_bpf_reply reply;
	struct raw raw;
	struct raw_slot slot;
	char path[64], go = 'x';
	int pipes[2], fd;
	pid_t pid;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	EXPECT(pipe(pipes) == 0);
	pid = fork();
	if (pid == 0) {
		if (read(pipes[0], &go, 1) == 1)
			execl(program, program, "60", NULL);
		_exit(1);
	}
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	EXPECT(fd >= 0);
	EXPECT(write(pipes[1], &go, 1) == 1);
	while (!executes(pid, "sleep\n"))
		nap(10);
	nap(1000);
	EXPECT(raw_mark(&raw, slot, pid, fd, &reply) <= 0 && reply.changed == 0);
	return 0;
}

START_TEST(a_proof_ends_with_the_program_it_is_for)
{
	attack(show_an_old_proof, NULL);
}
END_TEST

/* A process of the same user that is not a child, although Yama asks for one. */
static int mark_a_stranger(void *argument)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	pid_t pid = *(pid_t *)argument;

	EXPECT(mark);
	EXPECT(ptrace(PTRACE_SEIZE, pid, NULL, NULL) < 0 && errno == EPERM);
	EXPECT(perfctr_mark_set(mark, pid, THREAD) < 0 && errno == EACCES);
	return 0;
}

static int pause_forever(void *argument)
{
	(void)argument;
	pause();
	return 1;
}

/* The proofs may have been replaced by anything at the same addresses by then. */
static int mark_by_what_is_closed(void *unused)
{
	struct perfctr_bpf_proofs proofs;
	struct perfctr_bpf_reply reply;
	pid_t pid = victim();
	int walk = open(PIN("walk"), O_RDONLY);
	struct raw raw;
	struct raw_slot slot;
	char path[64];

	(void)unused;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memset(&proofs, -1, sizeof(proofs));
	proofs.fd[1] = open(path, O_RDONLY);
	EXPECT(proofs.fd[1] >= 0 && raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, pid, THREAD, &proofs) == 0);
	close(proofs.fd[1]);
	EXPECT(raw_walk(walk, &reply) == 0 && reply.changed == 0 && reply.unproven == 1);
	EXPECT(raw_mark(&raw, slot, pid, open(path, O_RDONLY), &reply) == 0 && reply.changed == 1);
	end_victim(pid);
	return 0;
}

START_TEST(a_proof_ends_with_the_file_that_shows_it)
{
	attack(mark_by_what_is_closed, NULL);
}
END_TEST

START_TEST(yama_is_asked)
{
	pid_t pid = begin_attack(NOBODY, pause_forever, NULL);

	nap(500);
	attack(mark_a_stranger, &pid);
	end_victim(pid);
}
END_TEST

TCase *proof_tests(void)
{
	TCase *tests = tcase_create("proof");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, who_may_trace_is_for_the_kernel_to_say);
	tcase_add_test(tests, a_proof_ends_with_the_program_it_is_for);
	tcase_add_test(tests, a_proof_ends_with_the_file_that_shows_it);
	return tests;
}

TCase *yama_tests(void)
{
	TCase *tests = tcase_create("yama");

	tcase_add_test(tests, yama_is_asked);
	return tests;
}
