// SPDX-License-Identifier: GPL-2.0-or-later
/* The cost of creating a process or a thread and waiting for its end. */
#include "bench.h"

#include <err.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 51

static void fork_and_exit(void *unused)
{
	pid_t pid = fork();

	(void)unused;
	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
}

static void fork_exec_and_exit(void *command)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0) {
		execl(command, command, NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

static void *return_at_once(void *unused)
{
	return unused;
}

static void create_and_join(void *unused)
{
	pthread_t thread;

	(void)unused;
	if (pthread_create(&thread, NULL, return_at_once, NULL) != 0)
		errx(1, "pthread_create failed");
	pthread_join(thread, NULL);
}

static const struct {
	const char *work;
	void (*round)(void *argument);
} lives[] = {
	{ "fork, exit", fork_and_exit },
	{ "fork, exec, exit", fork_exec_and_exit },
	{ "pthread_create, join", create_and_join },
};

static void bench_life(const char *work, void (*round)(void *argument), const char *counted,
		       unsigned int events, enum by by, unsigned int flags)
{
	struct counting counting = counting_start(by, 0, events, PLAIN, flags);
	struct cost cost = measure(round, "/bin/true", ROUNDS);

	counting_stop(&counting);
	print_row("life", work, 1, counted, events, by, &cost);
}

void bench_lives(const struct options *options)
{
	(void)options;
	for (size_t i = 0; i < ARRAY_SIZE(lives); i++) {
		if (wanted(BY_NOTHING))
			bench_life(lives[i].work, lives[i].round, "none", 0, BY_NOTHING, 0);
		for (enum by by = BY_PERFCTR; by < N_BY; by++) {
			if (!wanted(by))
				continue;
			bench_life(lives[i].work, lives[i].round, "creator", 1, by, 0);
			bench_life(lives[i].work, lives[i].round, "all; inherited", 1, by,
				   COUNT_INHERIT);
			bench_life(lives[i].work, lives[i].round, "all; inherited", 4, by,
				   COUNT_INHERIT);
			if (by != BY_PERFCTR)
				continue;
			bench_life(lives[i].work, lives[i].round, "all; totals", 1, by,
				   COUNT_TOTALS);
			bench_life(lives[i].work, lives[i].round, "all; totals", 4, by,
				   COUNT_TOTALS);
		}
	}
}
