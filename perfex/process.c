// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory, signals, time and output of perfex, and its end. */
#define _GNU_SOURCE
#include "perfex.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = reallocarray(array, n ? 2 * n : 1, size);
	if (!array)
		fail("out of memory");
	memset((char *)array + n * size, 0, (n ? n : 1) * size);
	return array;
}

FILE *text_open(struct text *text)
{
	text->file = open_memstream(&text->text, &text->size);
	if (!text->file)
		fail("out of memory");
	return text->file;
}

char *text_close(struct text *text)
{
	if (fclose(text->file))
		fail("out of memory");
	return text->text;
}

bool signal_is_ignored(int signo)
{
	struct sigaction action;

	return sigaction(signo, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

sigset_t ending_signals(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (!signal_is_ignored(ending[i]))
			sigaddset(&set, ending[i]);
	return set;
}

uint64_t timespec_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return timespec_ns(now);
}

bool write_all(int fd, const char *text, size_t size)
{
	while (size) {
		ssize_t n = write(fd, text, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			text += n;
			size -= (size_t)n;
		}
	}
	return true;
}

void flush_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	complain("cannot write to standard output: %m");
	_exit(EXIT_PERFEX);
}

/* The signal leaves no core of perfex itself. */
int exit_as(int wait_status)
{
	struct rlimit no_core = { 0, 0 };
	int signo;
	sigset_t set;

	if (!WIFSIGNALED(wait_status))
		return WEXITSTATUS(wait_status);
	signo = WTERMSIG(wait_status);
	setrlimit(RLIMIT_CORE, &no_core);
	prctl(PR_SET_DUMPABLE, 0);
	sigemptyset(&set);
	sigaddset(&set, signo);
	signal(signo, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signo);
	return 128 + signo;
}
