// SPDX-License-Identifier: GPL-2.0-or-later
/* Users that want all of what there is for everybody: slots, and the kernel's memory of tasks. */
#include "bpf.h"
#include "attacker.h"
#include "raw.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int take_all(const struct raw *raw, struct raw_slot *slot)
{
	int n = 0;

	while (n < SLOTS && raw_take(raw, PERFCTR_BPF_MARKED, &slot[n]) >= 0)
		n++;
	return n;
}

/* Two threads, each on a CPU, do the same at the same time, again and again. */
struct race {
	struct raw raw;
	struct raw_slot slot;
	bool (*act)(struct race *race);
	_Atomic int round, done;
	bool result;
};

static void *act_too(void *argument)
{
	struct race *race = argument;

	stay_on(1);
	for (int seen = 0;;) {
		while (race->round == seen)
			;
		seen = race->round;
		if (seen < 0)
			return NULL;
		race->result = race->act(race);
		race->done = seen;
	}
}

static int begin_race(struct race *race, pthread_t *other)
{
	EXPECT(raw_open(&race->raw) >= 0);
	stay_on(0);
	EXPECT(pthread_create(other, NULL, act_too, race) == 0);
	return 0;
}

/* Returns how many of the two succeeded. */
static int run_race(struct race *race, int round)
{
	int n;

	race->round = round;
	n = race->act(race);
	while (race->done != round)
		;
	return n + race->result;
}

static void end_race(struct race *race, pthread_t other)
{
	race->round = -1;
	pthread_join(other, NULL);
}

#define RACES 20000

static bool release_it(struct race *race)
{
	return raw_release(&race->raw, race->slot) == 0;
}

static int release_twice_at_once(void *argument)
{
	struct race race = { .act = release_it };
	struct raw_slot slot[SLOTS];
	pthread_t other;
	int both = 0;

	(void)argument;
	EXPECT(begin_race(&race, &other) == 0);
	for (int i = 1; i <= RACES; i++) {
		EXPECT(raw_take(&race.raw, PERFCTR_BPF_MARKED, &race.slot) >= 0);
		both += run_race(&race, i);
	}
	end_race(&race, other);
	EXPECT(both == RACES);
	EXPECT(take_all(&race.raw, slot) == USER_SLOTS);
	return 0;
}

START_TEST(one_of_two_releases_does_it)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		attack(release_twice_at_once, NULL);
}
END_TEST

static bool take_one(struct race *race)
{
	return RAW_CALL(&race->raw, PERFCTR_BPF_TAKE, 0, 0, PERFCTR_BPF_MARKED) >= 0;
}

/* Releases the slots taken since. All of them are the caller's. */
static void release_new(const struct raw *raw, const uint64_t *before)
{
	for (uint32_t i = 0; i < raw->slots; i++) {
		uint64_t generation = raw_slot_at(raw, i)->generation;

		if (generation != before[i])
			raw_release(raw, (struct raw_slot){ i, generation });
	}
}

static int take_twice_at_once(void *argument)
{
	struct race race = { .act = take_one };
	uint64_t generation[SLOTS];
	pthread_t other;

	(void)argument;
	EXPECT(begin_race(&race, &other) == 0);
	for (int n = 1; n < USER_SLOTS; n++)
		EXPECT(take_one(&race));
	for (uint32_t i = 0; i < SLOTS; i++)
		generation[i] = raw_slot_at(&race.raw, i)->generation;
	for (int i = 1; i <= RACES; i++) {
		EXPECT(run_race(&race, i) <= 1);
		release_new(&race.raw, generation);
	}
	end_race(&race, other);
	return 0;
}

START_TEST(the_last_slot_of_a_share_is_not_taken_twice)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		attack(take_twice_at_once, NULL);
}
END_TEST

static int take_and_wait(void *pipe)
{
	struct raw raw;
	struct raw_slot slot[SLOTS];
	char n;

	EXPECT(raw_open(&raw) >= 0);
	n = (char)take_all(&raw, slot);
	EXPECT(write(*(int *)pipe, &n, 1) == 1);
	pause();
	return 0;
}

/*
 * Returns the number of slots that processes of a user got. They hold the slots until they are
 * killed.
 */
static int begin_to_hold(uid_t uid, pid_t *pid)
{
	int pipes[2];
	char n = -1;

	ck_assert_int_eq(pipe(pipes), 0);
	*pid = begin_attack(uid, take_and_wait, &pipes[1]);
	ck_assert_int_eq(read(pipes[0], &n, 1), 1);
	close(pipes[0]);
	close(pipes[1]);
	return n;
}

START_TEST(each_user_has_a_share_and_root_the_last_quarter)
{
	struct raw raw;
	struct raw_slot slot[SLOTS];
	pid_t pid[4];

	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_eq(begin_to_hold(NOBODY, &pid[0]), USER_SLOTS);
	ck_assert_int_eq(begin_to_hold(NOBODY, &pid[1]), 0);
	ck_assert_int_eq(begin_to_hold(SOMEBODY, &pid[2]), SLOTS * 3 / 4 - USER_SLOTS);
	ck_assert_int_eq(begin_to_hold(SOMEBODY, &pid[3]), 0);
	ck_assert_int_eq(take_all(&raw, slot), SLOTS / 4);
	for (int i = 0; i < SLOTS / 4; i++)
		raw_release(&raw, slot[i]);
	for (int i = 0; i < 4; i++)
		end_victim(pid[i]);
	ck_assert_int_eq(take_all(&raw, slot), SLOTS);
	for (int i = 0; i < SLOTS; i++)
		raw_release(&raw, slot[i]);
	raw_close(&raw);
}
END_TEST

#define IDS 4
#define SUBORDINATE "0 65534 1\n1 100000 1000\n"

/* Takes slots as each of the first ids of its namespace. */
static int take_as_ids(void *pipe)
{
	for (uid_t id = 0; id < IDS; id++)
		if (fork() == 0) {
			if (setresuid(id, id, id) < 0)
				_exit(1);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(take_and_wait(pipe));
		}
	pause();
	return 0;
}

/* For a user in a container of root with the ids of outside. */
static int take_in_container(void *pipe)
{
	EXPECT(begin_attack_in_namespace(NOBODY, SUBORDINATE, take_as_ids, pipe) >= 0);
	pause();
	return 0;
}

/* Returns the slots that the ids get together. *left: the slots left for another user. */
static int count_slots_of_ids(uid_t uid, const char *map, int (*take)(void *), int *left)
{
	pid_t pid, other;
	int pipes[2], slots = 0;
	char n;

	/* When the test ends, all of them have ended. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ck_assert_int_eq(pipe(pipes), 0);
	pid = begin_attack_in_namespace(uid, map, take, &pipes[1]);
	ck_assert_int_ge(pid, 0);
	close(pipes[1]);
	for (int i = 0; i < IDS; i++, slots += n)
		ck_assert_int_eq(read(pipes[0], &n, 1), 1);
	*left = begin_to_hold(SOMEBODY, &other);
	kill(other, SIGKILL);
	kill(pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(pipes[0]);
	return slots;
}

START_TEST(a_user_s_subordinate_ids_share_the_user_s_slots)
{
	int left;

	ck_assert_int_eq(count_slots_of_ids(NOBODY, SUBORDINATE, take_as_ids, &left), USER_SLOTS);
	ck_assert_int_eq(left, SLOTS * 3 / 4 - USER_SLOTS);
	ck_assert_int_eq(count_slots_of_ids(0, "0 0 4294967295\n", take_in_container, &left),
			 USER_SLOTS);
	ck_assert_int_eq(left, SLOTS * 3 / 4 - USER_SLOTS);
}
END_TEST

/* Namespaces of root are containers. Their users have nothing to do with each other. */
START_TEST(each_id_of_a_namespace_of_root_s_has_a_share)
{
	int left;

	ck_assert_int_eq(count_slots_of_ids(0, "0 100000 1000\n", take_as_ids, &left),
			 SLOTS * 3 / 4);
	ck_assert_int_eq(left, 0);
}
END_TEST

static int try_on(void *argument)
{
	struct raw raw;
	struct raw_slot slot;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	while (raw_take(&raw, PERFCTR_BPF_MARKED, &slot) < 0)
		;
	return 1;
}

#define TAKES 20000
#define TRYING 8

/* A slot is there for the caller whenever it wants one. */
static int take_again_and_again(void *argument)
{
	struct raw raw;
	struct raw_slot slot;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	for (int i = 0; i < TAKES; i++) {
		EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
		EXPECT(raw_release(&raw, slot) == 0);
	}
	raw_close(&raw);
	return 0;
}

/* One slot is left to them, while a user that has its share wants more. */
START_TEST(who_is_refused_takes_no_slot_from_others_meanwhile)
{
	pid_t holder[2], trying[TRYING];
	struct raw raw;
	struct raw_slot slot;

	ck_assert_int_eq(begin_to_hold(NOBODY, &holder[0]), USER_SLOTS);
	for (int i = 0; i < TRYING; i++)
		trying[i] = begin_attack(NOBODY, try_on, NULL);
	end_attack(begin_attack(SOMEBODY, take_again_and_again, NULL));
	ck_assert_int_eq(begin_to_hold(SOMEBODY, &holder[1]), 1);
	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_ge(raw_take(&raw, PERFCTR_BPF_MARKED, &slot), 0);
	ck_assert_int_eq(take_again_and_again(NULL), 0);
	ck_assert_int_eq(raw_release(&raw, slot), 0);
	raw_close(&raw);
	for (int i = 0; i < TRYING; i++) {
		ck_assert_int_eq(waitpid(trying[i], NULL, WNOHANG), 0);
		end_victim(trying[i]);
	}
	for (int i = 0; i < 2; i++)
		end_victim(holder[i]);
}
END_TEST

#define STALLED 60 /* threads of an attack */

static int take_and_release(void)
{
	struct raw raw;
	struct raw_slot slot;

	EXPECT(raw_open(&raw) >= 0);
	for (;;)
		if (raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0)
			raw_release(&raw, slot);
}

/*
 * The threads run on a CPU that others of the same user have: each is preempted anywhere, and for
 * long. They have left one slot of their share.
 */
static int stall(void *argument)
{
	const struct sched_param none = { 0 };
	struct raw raw;
	struct raw_slot slot;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	for (int i = 0; i < USER_SLOTS - 1; i++)
		EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	stay_on(1);
	for (int i = 0; i < STALLED; i++)
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			sched_setscheduler(0, SCHED_IDLE, &none);
			_exit(take_and_release());
		}
	for (;;)
		;
}

START_TEST(who_is_kept_from_running_keeps_no_slot_from_others)
{
	pid_t pid;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return;
	/* They also take their time to end. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	pid = begin_attack(NOBODY, stall, NULL);
	stay_on(0);
	nap(2000);
	for (int i = 0; i < 5; i++)
		end_attack(begin_attack(SOMEBODY, take_again_and_again, NULL));
	ck_assert_int_eq(take_again_and_again(NULL), 0);
	end_victim(pid);
	while (waitpid(-1, NULL, 0) > 0)
		;
}
END_TEST

static int take_one_and_stay(void *argument)
{
	struct raw raw;
	struct raw_slot slot;

	bool good = raw_open(&raw) >= 0 && raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0 &&
		    raw_release(&raw, slot) == 0;

	EXPECT(write(*(int *)argument, good ? "x" : "-", 1) == 1);
	pause();
	return 0;
}

/* A living process that has had a slot takes no room. */
START_TEST(processes_that_had_slots_are_not_remembered)
{
	pid_t pid[100];
	int pipes[2];
	char x;
	struct raw raw;
	struct raw_slot slot;

	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_eq(pipe(pipes), 0);
	for (int i = 0; i < 100; i++) {
		pid[i] = begin_attack(NOBODY, take_one_and_stay, &pipes[1]);
		ck_assert_int_eq(read(pipes[0], &x, 1), 1);
		ck_assert_int_eq(x, 'x');
	}
	ck_assert_int_ge(raw_take(&raw, PERFCTR_BPF_MARKED, &slot), 0);
	raw_release(&raw, slot);
	for (int i = 0; i < 100; i++)
		end_victim(pid[i]);
	raw_close(&raw);
}
END_TEST

static void *ask_once(void *raw)
{
	raw_request(raw, (struct raw_slot){ 0 }, PERFCTR_BPF_WALK_FOLD, 0, 0, NULL);
	return NULL;
}

/* The service has not met any of these threads. */
static int ask_by_many_threads(void *argument)
{
	struct raw raw;
	pthread_t thread;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	while (pthread_create(&thread, NULL, ask_once, &raw) == 0)
		pthread_join(thread, NULL);
	return 1;
}

static const volatile struct perfctr_bpf_slot *only_context(const struct raw *raw)
{
	uint32_t i = 0;

	while (i < raw->slots && raw_slot_at(raw, i)->kind != PERFCTR_BPF_CONTEXT)
		i++;
	ck_assert_uint_lt(i, raw->slots);
	return raw_slot_at(raw, i);
}

#define BIRTHS 500
#define ASKING 4

/* Others count each birth, and get answers, while threads of a user ask for the first time. */
START_TEST(who_asks_for_the_first_time_holds_nobody_up)
{
	struct perfctr *self;
	struct perfctr_control control;
	pid_t asking[ASKING];
	struct raw raw;
	int status;

	for (int i = 0; i < ASKING; i++)
		asking[i] = begin_attack(NOBODY, ask_by_many_threads, NULL);
	self = perfctr_open();
	ck_assert_ptr_nonnull(self);
	control_all(&control, PERFCTR_CONTROL_INHERIT);
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	ck_assert_int_ge(raw_open(&raw), 0);
	for (int i = 0; i < BIRTHS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(-raw_request(&raw, (struct raw_slot){ 0 }, PERFCTR_BPF_WALK_GET, 0,
					   0, NULL));
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "birth %d: status 0x%x", i, (unsigned int)status);
		nap(1);
	}
	ck_assert_uint_eq(only_context(&raw)->created, BIRTHS);
	ck_assert_uint_eq(only_context(&raw)->lost, 0);
	for (int i = 0; i < ASKING; i++)
		end_victim(asking[i]);
	raw_close(&raw);
	perfctr_close(self);
}
END_TEST

/* A thread that takes its CPU from others about every millisecond. */
static int interrupt_often(void *argument)
{
	const struct sched_param first = { .sched_priority = 1 };
	unsigned int seed = 1;

	(void)argument;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	EXPECT(sched_setscheduler(0, SCHED_FIFO, &first) == 0);
	for (;;)
		usleep(500 + (unsigned int)rand_r(&seed) % 500);
}

#define OPENINGS 6000

/* Each switch forgets what is gone, also in the middle of a look at it. */
START_TEST(what_is_closed_is_gone_whenever_its_thread_is_preempted)
{
	struct perfctr *self;
	pid_t pid;

	stay_on(0);
	pid = begin_attack(0, interrupt_often, NULL);
	for (int i = 0; i < OPENINGS; i++) {
		self = perfctr_open();
		ck_assert_msg(self != NULL, "opening %d: errno %d", i, errno);
		perfctr_close(self);
		errno = 0;
		self = perfctr_open_tid(0, 0);
		ck_assert_msg(self == NULL, "what opening %d had is there after it is closed", i);
		ck_assert_int_eq(errno, ENOENT);
	}
	end_victim(pid);
}
END_TEST

static _Atomic unsigned int closed_in_vain;

/*
 * Replaces the C library's function. A descriptor that is closed twice may belong to another thread
 * by then.
 */
int close(int fd)
{
	int result = (int)syscall(SYS_close, fd);

	if (result < 0)
		closed_in_vain++;
	return result;
}

static int be_refused(void *argument)
{
	struct raw raw;
	struct raw_slot slot[SLOTS];

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	EXPECT(take_all(&raw, slot) == USER_SLOTS);
	closed_in_vain = 0;
	EXPECT(perfctr_open() == NULL && errno == EDQUOT);
	EXPECT(perfctr_mark_open(NULL) == NULL && errno == EDQUOT);
	EXPECT(perfctr_open_tid(0, 0) == NULL && errno == ENOENT);
	EXPECT(closed_in_vain == 0);
	return 0;
}

START_TEST(who_is_refused_closes_each_file_once)
{
	attack(be_refused, NULL);
}
END_TEST

TCase *slot_tests(void)
{
	TCase *tests = tcase_create("slots");

	tcase_set_timeout(tests, 240);
	tcase_add_test(tests, one_of_two_releases_does_it);
	tcase_add_test(tests, the_last_slot_of_a_share_is_not_taken_twice);
	tcase_add_test(tests, each_user_has_a_share_and_root_the_last_quarter);
	tcase_add_test(tests, a_user_s_subordinate_ids_share_the_user_s_slots);
	tcase_add_test(tests, each_id_of_a_namespace_of_root_s_has_a_share);
	tcase_add_test(tests, who_is_refused_takes_no_slot_from_others_meanwhile);
	tcase_add_test(tests, who_is_kept_from_running_keeps_no_slot_from_others);
	tcase_add_test(tests, processes_that_had_slots_are_not_remembered);
	tcase_add_test(tests, who_is_refused_closes_each_file_once);
	tcase_add_test(tests, what_is_closed_is_gone_whenever_its_thread_is_preempted);
	tcase_add_test(tests, who_asks_for_the_first_time_holds_nobody_up);
	return tests;
}
