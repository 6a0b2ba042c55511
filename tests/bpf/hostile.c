// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two hostile users make random calls with all that they can get hold of. Meanwhile root and
 * another user count processes with known page faults.
 */
#include "bpf.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OTHER_USER 65532
#define ATTACKERS 3 /* processes of each hostile user */
#define CALLS 2000  /* of a process, before another one replaces it */
#define PAGES 200
#define MEMORY_KB 65536 /* of the whole machine, that may be lost in the end */

static unsigned int seconds(void)
{
	const char *text = getenv("HOSTILE_SECONDS");

	return text ? (unsigned int)atoi(text) : 10;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec;
}

/* A present or former slot of the caller or of somebody else. */
static struct raw_slot any_slot(const struct raw *raw, const struct raw_slot *own)
{
	struct raw_slot slot = own[rand() % 4];

	if (rand() % 3)
		return slot;
	slot.index = (uint32_t)rand() % (raw->slots + 1);
	slot.generation = raw_slot_at(raw, slot.index % raw->slots)->generation;
	return slot;
}

static pid_t any_thread(void)
{
	return rand() % 2 ? getpid() : rand() % 2 ? getppid() : rand() % 400;
}

static void request_anything(const struct raw *raw, struct raw_slot slot)
{
	struct perfctr_bpf_proofs proofs;
	struct perfctr_bpf_reply reply;
	int walk = open(PIN("walk"), O_RDONLY);
	char path[32];
	pid_t tid = any_thread();

	snprintf(path, sizeof(path), "/proc/%d/mem", tid);
	for (int i = 0; i < PERFCTR_BPF_PROOFS; i++)
		proofs.fd[i] = rand() % 8;
	proofs.fd[0] = open(path, O_RDONLY);
	raw_request(raw, slot, (uint32_t)rand() % 8, tid, (uint32_t)rand() % 4,
		    rand() % 4 ? &proofs : NULL);
	if (rand() % 4 == 0)
		raw_release(raw, slot);
	raw_walk(walk, &reply);
	close(walk);
	close(proofs.fd[0]);
}

static void call_anything(const struct raw *raw, struct raw_slot slot)
{
	uint64_t value[PERFCTR_BPF_ARGUMENTS] = {
		(uint64_t)(rand() % 12) | (rand() % 4 ? 0 : PERFCTR_BPF_DEFER),
		slot.index,
		slot.generation,
	};
	struct perfctr_bpf_reply reply;
	int self;

	for (int i = 3; i < PERFCTR_BPF_ARGUMENTS; i++)
		value[i] = rand() % 2 ? (uint64_t)rand() % 4 : (uint64_t)rand() << rand() % 40;
	raw_run(raw->call, value, rand() % 16 ? 0 : BPF_F_TEST_RUN_ON_CPU, (uint32_t)rand() % 2);
	if (rand() % 4)
		return;
	self = open(PIN("self"), O_RDONLY);
	raw_walk(self, &reply);
	close(self);
}

static void do_anything(const struct raw *raw, struct raw_slot *own)
{
	switch (rand() % 8) {
	case 0:
	case 1:
		raw_take(raw, (uint32_t)rand() % 4, &own[rand() % 4]);
		break;
	case 2:
		raw_release(raw, any_slot(raw, own));
		break;
	case 3:
		raw_attach(raw->call, "sched_switch");
		break;
	case 4:
		request_anything(raw, any_slot(raw, own));
		break;
	default:
		call_anything(raw, any_slot(raw, own));
	}
}

/* Ends in one of the ways in which a process can end. */
static void attack(unsigned int seed)
{
	const char *program = getenv("SET_ID_READER");
	struct raw raw;
	struct raw_slot own[4] = { 0 };

	srand(seed);
	if (raw_open(&raw) < 0)
		_exit(1);
	for (int i = 0; i < CALLS; i++) {
		do_anything(&raw, own);
		if (rand() % 500 == 0 && fork() == 0)
			_exit(0);
	}
	if (rand() % 2)
		_exit(0);
	raw_request(&raw, own[0], PERFCTR_BPF_WALK_MARK, 1, PERFCTR_MARK_TREE, NULL);
	dup2(open(PIN("walk"), O_RDONLY), 0);
	dup2(open("/dev/null", O_WRONLY), 1);
	execl(program, program, NULL);
	_exit(1);
}

static pid_t begin_attackers(uid_t uid, unsigned int seed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	become_user(uid);
	setpgid(0, 0);
	for (unsigned int n = 0;; n++) {
		if (fork() == 0)
			attack(seed + n);
		if (n >= ATTACKERS)
			wait(NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

static void touch_and_nap(void)
{
	touch(PAGES);
	nap(3);
}

static bool refused(const char *what)
{
	printf("uid %d is refused %s: %s\n", (int)getuid(), what, strerror(errno));
	return false;
}

/* A process that is marked. */
static bool counts_process(struct perfctr_mark *mark, struct perfctr_session *session)
{
	struct child child = make_child(touch_and_nap);
	struct usage before = usage_of(child.pid), after, counted;
	struct perfctr_counts counts;
	struct rusage rusage;

	if (perfctr_mark_set(mark, child.pid, PERFCTR_MARK_PROCESS) != 1)
		return refused("a mark");
	release_child(&child);
	rusage = end_child(&child);
	after = usage_waited(&rusage);
	if (perfctr_session_read(session, &counts) < 0)
		return refused("the counts");
	counted = usage_of_counts(&counts);
	if (counted.minor == after.minor - before.minor && !counts.members &&
	    counted.switches == after.switches - before.switches)
		return true;
	printf("uid %d: %lu faults instead of %lu, %lu switches instead of %lu, members %u\n",
	       (int)getuid(), counted.minor, after.minor - before.minor, counted.switches,
	       after.switches - before.switches, counts.members);
	return false;
}

/* The counts of a session must be the process's own page faults and switches. */
static bool counts_exactly(void)
{
	struct perfctr_mark *mark = perfctr_mark_open(NULL);
	struct perfctr_session_options options = {
		.size = sizeof(options),
		.mark = mark,
		.policy = PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED,
	};
	struct perfctr_session *session;
	struct perfctr_control control;
	bool exactly;

	if (!mark)
		return refused("a new mark");
	session = perfctr_session_open(&options);
	control_all(&control, 0);
	if (!session || perfctr_session_control(session, &control) < 0)
		return refused("a session");
	exactly = counts_process(mark, session);
	perfctr_session_close(session);
	perfctr_mark_close(mark);
	return exactly;
}

static unsigned int count_until(uint64_t end)
{
	unsigned int n = 0;

	while (now() < end) {
		if (!counts_exactly())
			return 0;
		n++;
	}
	return n;
}

static pid_t begin_to_count(uid_t uid, uint64_t end)
{
	pid_t pid = fork();
	unsigned int n;

	if (pid)
		return pid;
	become_user(uid);
	n = count_until(end);
	printf("user %d: %u runs, each exact\n", (int)uid, n);
	fflush(stdout);
	_exit(!n);
}

static long available_kb(void)
{
	FILE *file = fopen("/proc/meminfo", "re");
	char line[128];
	long kb = 0;

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %ld", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static void expect_all_slots_to_be_there(void)
{
	struct raw raw;
	struct raw_slot slot;
	uint32_t n = 0;

	ck_assert_int_ge(raw_open(&raw), 0);
	while (raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0)
		n++;
	ck_assert_uint_eq(n, raw.slots);
	for (uint32_t i = 0; i < raw.slots; i++) {
		ck_assert_uint_eq(raw_slot_at(&raw, i)->busy, 0);
		slot = (struct raw_slot){ i, raw_slot_at(&raw, i)->generation };
		ck_assert_int_eq(raw_release(&raw, slot), 0);
	}
	raw_close(&raw);
}

START_TEST(hostile_users_change_nothing_of_what_others_count)
{
	unsigned int seed = (unsigned int)now(), n;
	uint64_t end;
	long before = available_kb();
	pid_t attackers[2], other;
	int status;

	end = now() + seconds();
	printf("hostile users for %u s, seed %u\n", seconds(), seed);
	fflush(stdout);
	attackers[0] = begin_attackers(NOBODY, seed);
	attackers[1] = begin_attackers(SOMEBODY, seed * 31);
	other = begin_to_count(OTHER_USER, end);
	n = count_until(end);
	ck_assert_int_eq(waitpid(other, &status, 0), other);
	for (int i = 0; i < 2; i++) {
		kill(-attackers[i], SIGKILL);
		kill(attackers[i], SIGKILL);
		waitpid(attackers[i], NULL, 0);
	}
	nap(500);
	printf("root: %u runs, each exact; memory gone: %ld KB\n", n, before - available_kb());
	fflush(stdout);
	ck_assert_uint_gt(n, 0);
	ck_assert_int_eq(status, 0);
	expect_all_slots_to_be_there();
	ck_assert_int_eq(system("build/sbin/perfctr-bpfd status | grep -q '^service  process '"),
			 0);
	/* Only if nobody else uses the machine. */
	if (getenv("HOSTILE_MEMORY"))
		ck_assert_int_lt(before - available_kb(), MEMORY_KB);
}
END_TEST

TCase *hostile_tests(void)
{
	TCase *tests = tcase_create("hostile");

	tcase_set_timeout(tests, 120 + (int)seconds());
	tcase_add_test(tests, hostile_users_change_nothing_of_what_others_count);
	return tests;
}
