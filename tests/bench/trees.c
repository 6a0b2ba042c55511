// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A tree of many processes: the cost of each process that is created, waits for one byte and exits;
 * the cost for each of reading the sum of the tree while all of them live; and the memory of a
 * context.
 */
#include "bench.h"

#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <perfctr.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 1000
#define CROWD 10000 /* threads, which have less memory than processes */

struct tree {
	unsigned int n;
	int gate[2]; /* a process that reads from it ends when it is closed */
	enum by by;
	struct counting counting;
	pid_t pid[MAX_PROCESSES];
};

static void tree_grow(struct tree *tree)
{
	if (pipe2(tree->gate, O_CLOEXEC) < 0)
		err(1, "pipe");
	for (unsigned int i = 0; i < tree->n; i++) {
		pid_t pid = fork();
		char byte;

		if (pid < 0)
			err(1, "fork of process %u", i + 1);
		if (pid == 0) {
			close(tree->gate[1]);
			_exit(read(tree->gate[0], &byte, 1) != 0);
		}
		tree->pid[i] = pid;
	}
}

static void tree_fell(struct tree *tree)
{
	int status;

	close(tree->gate[1]);
	for (unsigned int i = 0; i < tree->n; i++)
		if (wait(&status) < 0 || status != 0)
			errx(1, "process %u of the tree failed", i + 1);
	close(tree->gate[0]);
}

static void grow_and_fell(void *argument)
{
	tree_grow(argument);
	tree_fell(argument);
}

static void read_tree(void *argument)
{
	const struct tree *tree = argument;
	struct perfctr_counts counts = {
		.size = sizeof(counts),
		.scope = PERFCTR_SCOPE_TREE,
	};
	uint64_t count;

	if (tree->by == BY_PERFCTR && ioctl(tree->counting.fd[0], PERFCTR_IOC_READ, &counts) < 0)
		err(1, "read of a tree");
	if (tree->by == BY_PERF_EVENTS &&
	    read(tree->counting.fd[0], &count, sizeof(count)) != sizeof(count))
		err(1, "read of inherited events");
}

static void write_number(const char *path, unsigned int number)
{
	FILE *file = fopen(path, "we");

	if (!file || fprintf(file, "%u", number) < 0 || fclose(file) == EOF)
		err(1, "%s", path);
}

static pthread_t crowd[CROWD];

static void *wait_for_end(void *argument)
{
	const struct tree *tree = argument;
	char byte;

	if (read(tree->gate[0], &byte, 1) != 0)
		err(1, "a thread of the tree");
	return NULL;
}

static void crowd_grow(struct tree *tree)
{
	pthread_attr_t attributes;

	if (pipe2(tree->gate, O_CLOEXEC) < 0)
		err(1, "pipe");
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_attr_setguardsize(&attributes, 0);
	for (unsigned int i = 0; i < tree->n; i++)
		if (pthread_create(&crowd[i], &attributes, wait_for_end, tree) != 0)
			errx(1, "thread %u of the tree was not created", i + 1);
	pthread_attr_destroy(&attributes);
	settle();
}

static void crowd_fell(struct tree *tree)
{
	close(tree->gate[1]);
	for (unsigned int i = 0; i < tree->n; i++)
		pthread_join(crowd[i], NULL);
	close(tree->gate[0]);
}

/* The sum of the numbers in a file's lines of this format. */
static double sum_lines(const char *path, const char *format)
{
	unsigned long long value;
	double sum = 0;
	char line[128];
	FILE *file = fopen(path, "re");

	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, format, &value) == 1)
			sum += value;
	fclose(file);
	return sum;
}

/* CPUs keep some free pages in lists of their own, and changes in sums of their own. */
static double free_pages(void)
{
	FILE *file = fopen("/proc/sys/vm/stat_refresh", "we");

	if (!file || fputc('1', file) == EOF || fclose(file) == EOF)
		err(1, "/proc/sys/vm/stat_refresh");
	return sum_lines("/proc/vmstat", "nr_free_pages %llu") +
	       sum_lines("/proc/zoneinfo", " count: %llu");
}

static unsigned int rounds_of(unsigned int n)
{
	return n < 100 ? 31 : n < 1000 ? 11 : 3;
}

static void bench_tree(unsigned int n, enum by by, const char *counted, unsigned int flags)
{
	struct tree tree = { .n = n, .by = by };
	struct cost cost;

	tree.counting = counting_start(by, 0, 1, PLAIN, flags);
	cost = measure(grow_and_fell, &tree, rounds_of(n));
	cost = divide(&cost, n);
	print_row("tree", "create, exit", n, counted, !!by, by, &cost);
	if (by != BY_NOTHING) {
		tree_grow(&tree);
		cost = measure(read_tree, &tree, rounds_of(n));
		tree_fell(&tree);
		cost = divide(&cost, n);
		print_row("tree", "read the sum", n, counted, !!by, by, &cost);
	}
	counting_stop(&tree.counting);
}

static void bench_crowd(const char *counted, unsigned int flags)
{
	struct tree tree = { .n = CROWD, .by = BY_PERFCTR };
	struct cost cost;

	/* By default the kernel allows as many threads as suit its memory. */
	write_number("/proc/sys/kernel/threads-max", 2 * CROWD);
	tree.counting = counting_start(BY_PERFCTR, 0, 1, PLAIN, flags);
	crowd_grow(&tree);
	cost = measure(read_tree, &tree, rounds_of(CROWD));
	crowd_fell(&tree);
	cost = divide(&cost, CROWD);
	print_row("tree", "read the sum, threads", CROWD, counted, 1, BY_PERFCTR, &cost);
	counting_stop(&tree.counting);
}

/* The memory of a context and its descriptor. */
static void bench_contexts(enum by by)
{
	static struct counting counting[MAX_PROCESSES];
	struct tree tree = { .n = MAX_PROCESSES };
	struct cost cost = { 0 };
	double before;

	tree_grow(&tree);
	settle();
	before = free_pages();
	for (unsigned int i = 0; i < tree.n; i++)
		counting[i] = counting_start(by, tree.pid[i], 1, PLAIN, 0);
	settle();
	cost.quantity[MEMORY] = (before - free_pages()) * sysconf(_SC_PAGESIZE) / tree.n;
	for (unsigned int i = 0; i < tree.n; i++)
		counting_stop(&counting[i]);
	tree_fell(&tree);
	print_row("memory", "context and descriptor", tree.n, "each", 1, by, &cost);
}

/* A descriptor for each process of the largest tree, and some more. */
static void allow_descriptors(void)
{
	const struct rlimit limit = { MAX_PROCESSES + 100, MAX_PROCESSES + 100 };

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "descriptors");
}

void bench_trees(const struct options *options)
{
	static const unsigned int processes[] = { 1, 10, 100, MAX_PROCESSES };

	allow_descriptors();
	for (size_t i = 0; i < ARRAY_SIZE(processes); i++) {
		if (processes[i] > options->max_processes)
			continue;
		for (enum by by = BY_NOTHING; by < N_BY; by++)
			if (wanted(by))
				bench_tree(processes[i], by,
					   by == BY_NOTHING ? "none" : "all; inherited",
					   COUNT_INHERIT);
		if (wanted(BY_PERFCTR))
			bench_tree(processes[i], BY_PERFCTR, "all; totals", COUNT_TOTALS);
	}
	if (CROWD > options->max_processes || !wanted(BY_PERFCTR))
		return;
	bench_crowd("all; inherited", COUNT_INHERIT);
	bench_crowd("all; totals", COUNT_TOTALS);
}

void bench_memory(const struct options *options)
{
	(void)options;
	allow_descriptors();
	for (enum by by = BY_PERFCTR; by < N_BY; by++)
		if (wanted(by))
			bench_contexts(by);
}
