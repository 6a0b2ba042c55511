// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists and clears marks by a walk through /proc, because there is no list of marks. */
#include "mark.h"
#include "session.h"

#include <perfctr_sessions.h>

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Calls visit for each numbered entry of a directory of /proc. */
static void walk_processes(const char *path, void (*visit)(pid_t number, void *argument),
			   void *argument)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(atoi(entry->d_name), argument);
	closedir(directory);
}

static void read_name(pid_t pid, char *name, size_t size)
{
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	file = fopen(path, "re");
	name[0] = '\0';
	if (!file)
		return;
	if (!fgets(name, (int)size, file))
		name[0] = '\0';
	fclose(file);
	name[strcspn(name, "\n")] = '\0';
	make_printable(name);
}

/* The threads of a process that bear the same mark. */
struct row {
	const char *backend; /* that has the marks */
	uint64_t mark;
	pid_t pid;
	unsigned int threads;
};

static void print_row(const struct row *row)
{
	char name[32];

	if (!row->threads)
		return;
	read_name(row->pid, name, sizeof(name));
	printf("%8llu %8d %8u  %s\n", (unsigned long long)row->mark, row->pid, row->threads, name);
}

/*
 * Counts a thread that bears a mark in the row.  If the row has another mark, prints it first and
 * begins a new row.  Ignores threads that have exited, or that perfex may not look at.
 */
static void list_thread(pid_t tid, void *argument)
{
	struct row *row = argument;
	uint64_t mark;

	if (perfctr_mark_get_with(row->backend, tid, &mark) < 0 || !mark)
		return;
	if (mark != row->mark) {
		print_row(row);
		row->mark = mark;
		row->threads = 0;
	}
	row->threads++;
}

static void list_process(pid_t pid, void *argument)
{
	const char *const *backend = argument;
	struct row row = { .backend = *backend, .pid = pid };
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	walk_processes(path, list_thread, &row);
	print_row(&row);
}

static bool has_marks(const char *backend)
{
	uint64_t mark;

	if (perfctr_mark_get_with(backend, 0, &mark) == 0)
		return true;
	complain_of_lack(backend, errno,
			 "does not know who bears a mark; the kernel driver and bpf do");
	return false;
}

int mark_list(const struct mark_options *options)
{
	const char *backend = options->run.backend;

	if (!has_marks(backend))
		return EXIT_PERFEX;
	printf("%8s %8s %8s  %s\n", "mark", "pid", "threads", "name");
	walk_processes("/proc", list_process, &backend);
	return 0;
}

struct clearing {
	const char *backend;
	unsigned int scope;
	unsigned int cleared; /* threads */
};

/*
 * Clears the marks of a process.  Ignores errors, because perfex may not change processes of other
 * users.
 */
static void clear_process(pid_t pid, void *argument)
{
	struct clearing *clearing = argument;
	int n = perfctr_mark_clear_with(clearing->backend, pid, clearing->scope);

	clearing->cleared += n < 0 ? 0 : (unsigned int)n;
}

int mark_clear(const struct mark_options *options)
{
	struct clearing clearing = { .backend = options->run.backend, .scope = options->scope };
	int status = 0;

	if (!has_marks(clearing.backend))
		return EXIT_PERFEX;
	for (size_t i = 0; i < options->n_processes; i++) {
		int n = perfctr_mark_clear_with(clearing.backend, options->process[i],
						options->scope);

		if (n < 0) {
			complain_of_mark(errno, options->process[i]);
			status = EXIT_PERFEX;
		} else {
			clearing.cleared += (unsigned int)n;
		}
	}
	if (!options->n_processes)
		walk_processes("/proc", clear_process, &clearing);
	printf("%u threads have lost their mark\n", clearing.cleared);
	return status;
}
