// SPDX-License-Identifier: GPL-2.0-or-later
/* Work that tests count, and the kernel's own sums of it. */
#include "work.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void control_all(struct perfctr_control *c, uint32_t flags)
{
	perfctr_control_init(c);
	c->flags = flags;
	for (uint32_t i = 0; i < PERFCTR_N_SOFTWARE; i++)
		ck_assert_int_eq(perfctr_control_add(c, PERFCTR_SOFTWARE + i, 0, 0), i);
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	ck_assert_ptr_nonnull(file);
	return file;
}

enum stat_field { MINOR = 10, MAJOR = 12 };

/* The numbers are those of proc(5). Field 2 is the name in parentheses. */
static uint64_t field_of_stat(pid_t pid, enum stat_field n)
{
	char line[1024], *field;
	FILE *file = open_proc(pid, "stat");

	ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
	fclose(file);
	field = strrchr(line, ')');
	for (unsigned int i = 2; i < n; i++)
		field = strchr(field, ' ') + 1;
	return strtoull(field, NULL, 10);
}

static uint64_t switches_of(pid_t pid)
{
	FILE *file = open_proc(pid, "status");
	unsigned long long value;
	uint64_t switches = 0;
	char line[1024];

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &value) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &value) == 1)
			switches += value;
	fclose(file);
	return switches;
}

struct usage usage_of(pid_t pid)
{
	struct usage usage = {
		.minor = field_of_stat(pid, MINOR),
		.major = field_of_stat(pid, MAJOR),
		.switches = switches_of(pid),
	};
	FILE *file = open_proc(pid, "schedstat");
	unsigned long long ns;

	ck_assert_int_eq(fscanf(file, "%llu", &ns), 1);
	fclose(file);
	usage.ns = ns;
	return usage;
}

static uint64_t ns_of(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_usec * 1000;
}

struct usage usage_waited(const struct rusage *rusage)
{
	return (struct usage){
		.ns = ns_of(&rusage->ru_utime) + ns_of(&rusage->ru_stime),
		.switches = (uint64_t)rusage->ru_nvcsw + (uint64_t)rusage->ru_nivcsw,
		.minor = (uint64_t)rusage->ru_minflt,
		.major = (uint64_t)rusage->ru_majflt,
	};
}

struct usage usage_of_counts(const struct perfctr_counts *counts)
{
	ck_assert_uint_eq(counts->n_counters, PERFCTR_N_SOFTWARE);
	ck_assert_uint_eq(counts->counter[PERFCTR_PAGE_FAULTS],
			  counts->counter[PERFCTR_MINOR_FAULTS] +
				  counts->counter[PERFCTR_MAJOR_FAULTS]);
	return (struct usage){
		.ns = counts->counter[PERFCTR_TASK_CLOCK],
		.switches = counts->counter[PERFCTR_CONTEXT_SWITCHES],
		.minor = counts->counter[PERFCTR_MINOR_FAULTS],
		.major = counts->counter[PERFCTR_MAJOR_FAULTS],
	};
}

uint64_t thread_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

void burn(uint64_t ns)
{
	uint64_t end = thread_ns() + ns;

	while (thread_ns() < end)
		;
}

void touch(unsigned int pages)
{
	size_t size = (size_t)pages * 4096;
	volatile char *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne((void *)memory, MAP_FAILED);
	madvise((void *)memory, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		memory[i] = 1;
	munmap((void *)memory, size);
}

void nap(unsigned int times)
{
	struct timespec pause = { .tv_nsec = 100000 };

	while (times--)
		nanosleep(&pause, NULL);
}

/*
 * Children, and the kernel's file of each. It must be opened before they are zombies, which belong
 * to root.
 */
#define MAX_CHILDREN 512
static struct {
	pid_t pid;
	int syscall; /* /proc/PID/syscall */
} children[MAX_CHILDREN];
static unsigned int n_children;

static void watch(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_lt(n_children, MAX_CHILDREN);
	children[n_children].pid = pid;
	children[n_children++].syscall = fd;
}

/*
 * proc(5): the file says "running" while the process is about to be switched away for good,
 * preempted or not.
 */
static void wait_for_last_switch(pid_t pid)
{
	unsigned int i = 0;
	char first;

	while (i < n_children && children[i].pid != pid)
		i++;
	ck_assert_uint_lt(i, n_children);
	for (;;) {
		ck_assert_int_eq(pread(children[i].syscall, &first, 1, 0), 1);
		if (first != 'r')
			break;
		nap(1);
	}
	close(children[i].syscall);
	children[i] = children[--n_children];
}

pid_t fork_child(void)
{
	int pipes[2];
	char byte;
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid)
		watch(pid);
	else
		n_children = 0;
	close(pipes[1]);
	if (pid == 0 && read(pipes[0], &byte, 1) != 0)
		_exit(1);
	close(pipes[0]);
	return pid;
}

void reap(void)
{
	siginfo_t info;

	while (waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0) {
		wait_for_last_switch(info.si_pid);
		waitpid(info.si_pid, NULL, 0);
	}
}

/* Linux calls the process sleeping before it has left its CPU. */
void wait_until_asleep(pid_t pid)
{
	uint64_t switches = 0;

	for (int looks = 0; looks < 3;) {
		FILE *file = open_proc(pid, "stat");
		uint64_t now = switches_of(pid);
		char state;

		ck_assert_int_eq(fscanf(file, "%*d (%*[^)]) %c", &state), 1);
		fclose(file);
		looks = state == 'S' && now == switches ? looks + 1 : 0;
		switches = now;
		nap(1);
	}
}

struct child make_child(void (*run)(void))
{
	struct child child;
	int pipes[2];
	char byte;

	ck_assert_int_eq(pipe(pipes), 0);
	child.pid = fork();
	ck_assert_int_ge(child.pid, 0);
	if (child.pid == 0) {
		n_children = 0;
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) != 1)
			_exit(1);
		run();
		_exit(0);
	}
	watch(child.pid);
	close(pipes[0]);
	child.go = pipes[1];
	wait_until_asleep(child.pid);
	return child;
}

void release_child(struct child *child)
{
	ck_assert_int_eq(write(child->go, "", 1), 1);
	close(child->go);
}

struct rusage end_child(struct child *child)
{
	struct rusage rusage;
	siginfo_t info;
	int status;

	ck_assert_int_eq(waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT), 0);
	wait_for_last_switch(child->pid);
	ck_assert_int_eq(wait4(child->pid, &status, 0, &rusage), child->pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	return rusage;
}
