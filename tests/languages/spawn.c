// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfctr_spawn() in processes that fork, wait and end elsewhere meanwhile. Handlers of fork(2) do
 * here what other threads may do in the middle of it.
 */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <perfctr_count.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT "page-faults"
#define SPAWNS 50

static char *const good[] = { (char *)"true", NULL };
static char *const missing[] = { (char *)"/nonexistent", NULL };

static bool bystander_wanted, parent_ends, child_dies, over;
static pid_t bystander, caller;

/* A process that has all the descriptors that are open now. */
static void before_fork(void)
{
	if (!bystander_wanted)
		return;
	bystander = (pid_t)syscall(SYS_fork);
	if (bystander == 0)
		for (;;)
			pause();
}

static void in_parent(void)
{
	if (parent_ends)
		_exit(0);
}

/* The signal is blocked until the child is let go, and comes then. */
static void in_child(void)
{
	if (child_dies)
		raise(SIGCHLD);
}

static void die_in_child(int unused)
{
	(void)unused;
	if (getpid() != caller)
		raise(SIGKILL);
}

static void prepare_handlers(void)
{
	ck_assert_int_eq(pthread_atfork(before_fork, in_parent, in_child), 0);
}

static void end_bystander(void)
{
	ck_assert_int_gt(bystander, 0);
	ck_assert_int_eq(kill(bystander, SIGKILL), 0);
	ck_assert_int_eq(waitpid(bystander, NULL, 0), bystander);
}

static struct perfctr *spawn(char *const argv[], pid_t *pid)
{
	char why[PERFCTR_COUNT_ERROR] = "";
	struct perfctr *p = perfctr_spawn(EVENT, argv, pid, why, sizeof(why));

	ck_assert_msg(p, "%s", why);
	return p;
}

static int spawn_to_the_end(char *const argv[])
{
	struct perfctr_counts counts;
	struct perfctr *p;
	int status;
	pid_t pid;

	p = spawn(argv, &pid);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(perfctr_read_scope(p, PERFCTR_SCOPE_TREE, &counts), 0);
	ck_assert_uint_gt(counts.counter[0], 0);
	perfctr_close(p);
	return status;
}

static void refuse(char *const argv[], int error, const char *words)
{
	char why[PERFCTR_COUNT_ERROR] = "";
	pid_t pid;

	ck_assert_ptr_null(perfctr_spawn(EVENT, argv, &pid, why, sizeof(why)));
	ck_assert_msg(errno == error, "errno %d", errno);
	ck_assert_str_eq(why, words);
}

static void refuse_missing(void)
{
	refuse(missing, ENOENT, "cannot execute '/nonexistent': No such file or directory");
}

START_TEST(another_process_has_its_descriptors)
{
	prepare_handlers();
	bystander_wanted = true;
	ck_assert_int_eq(spawn_to_the_end(good), 0);
	end_bystander();
	refuse_missing();
	end_bystander();
	child_dies = true;
	caller = getpid();
	signal(SIGCHLD, die_in_child);
	refuse(good, ECHILD, "a signal ended the child before its program began");
	end_bystander();
}
END_TEST

static void *spawn_some(void *unused)
{
	(void)unused;
	for (int i = 0; i < SPAWNS; i++)
		ck_assert_int_eq(spawn_to_the_end(good), 0);
	return NULL;
}

START_TEST(threads_do_not_wait_for_each_other)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, spawn_some, NULL), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_join(thread[i], NULL), 0);
}
END_TEST

START_TEST(nothing_is_executed_when_the_caller_has_ended)
{
	char *const writer[] = { (char *)"echo", (char *)"executed", NULL };
	char byte, why[PERFCTR_COUNT_ERROR];
	int out[2];
	pid_t pid;

	ck_assert_int_eq(pipe(out), 0);
	pid = fork();
	if (pid == 0) {
		prepare_handlers();
		parent_ends = true;
		dup2(out[1], STDOUT_FILENO);
		perfctr_spawn(EVENT, writer, &pid, why, sizeof(why));
		_exit(1);
	}
	close(out[1]);
	ck_assert_int_eq(read(out[0], &byte, 1), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

static void reap_all(int unused)
{
	int error = errno;

	(void)unused;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = error;
}

static void *reap_until_over(void *unused)
{
	while (!__atomic_load_n(&over, __ATOMIC_ACQUIRE))
		if (waitpid(-1, NULL, 0) < 0)
			usleep(100);
	return unused;
}

static void spawn_and_forget(void)
{
	pid_t pid;

	for (int i = 0; i < SPAWNS; i++)
		perfctr_close(spawn(good, &pid));
	refuse_missing();
}

START_TEST(handler_reaps_all)
{
	signal(SIGCHLD, reap_all);
	spawn_and_forget();
}
END_TEST

START_TEST(thread_reaps_all)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, reap_until_over, NULL), 0);
	spawn_and_forget();
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(children_are_ignored)
{
	signal(SIGCHLD, SIG_IGN);
	spawn_and_forget();
}
END_TEST

START_TEST(blocked_signals_are_inherited)
{
	char *const none[] = { (char *)"grep", (char *)"-q", (char *)"^SigBlk:\t0*$",
			       (char *)"/proc/self/status", NULL };
	char *const usr1[] = { (char *)"grep", (char *)"-q", (char *)"^SigBlk:\t0*200$",
			       (char *)"/proc/self/status", NULL };
	sigset_t set;

	ck_assert_int_eq(spawn_to_the_end(none), 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	ck_assert_int_eq(spawn_to_the_end(usr1), 0);
	refuse_missing();
	sigprocmask(SIG_BLOCK, NULL, &set);
	ck_assert(sigismember(&set, SIGUSR1) && !sigismember(&set, SIGCHLD));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spawn");
	TCase *tests = tcase_create("spawn");
	SRunner *runner;
	int failures;

	tcase_set_timeout(tests, 30);
	tcase_add_test(tests, another_process_has_its_descriptors);
	tcase_add_test(tests, threads_do_not_wait_for_each_other);
	tcase_add_test(tests, nothing_is_executed_when_the_caller_has_ended);
	tcase_add_test(tests, handler_reaps_all);
	tcase_add_test(tests, thread_reaps_all);
	tcase_add_test(tests, children_are_ignored);
	tcase_add_test(tests, blocked_signals_are_inherited);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failures = srunner_ntests_failed(runner);
	srunner_free(runner);
	return !!failures;
}
