// SPDX-License-Identifier: GPL-2.0-or-later
/* Shows the events by which the threads of a process are counted.  Any user may count them. */
#include "pmu.h"
#include "../perfex.h"

#include <dirent.h>
#include <errno.h>
#include <perfctr_events.h>
#include <stdlib.h>
#include <string.h>

/* Words for the flags of a control. */
static const struct {
	uint32_t flag;
	const char *words;
} meanings[] = {
	{ PERFCTR_CONTROL_STOPPED, ", stopped" },
	{ PERFCTR_CONTROL_INHERIT, ", with what it creates" },
	{ PERFCTR_CONTROL_EXIT_RECORDS, ", each recorded" },
};

/* Prints "thread 12 (name)".  A thread chooses its name, which may have control characters. */
static void print_thread(pid_t tid)
{
	char path[32], name[32] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	file = fopen(path, "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\n")] = '\0';
	if (file)
		fclose(file);
	make_printable(name);
	printf("thread %d (%s)", tid, name);
}

static void print_event(struct perfctr_events *database, const struct perfctr_event_control *event)
{
	char value[PERFCTR_EVNTSEL_TEXT], name[PERFCTR_REQUEST_NAME];

	perfctr_evntsel_format(event, value, sizeof(value));
	if (perfctr_events_name(database, event, name, sizeof(name)) < 0)
		name[0] = '\0';
	printf("  %-24s %s\n", value, name);
}

static void print_control(struct perfctr_events *database, const struct perfctr_control *control)
{
	printf(": counted");
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (control->flags & meanings[i].flag)
			printf("%s", meanings[i].words);
	putchar('\n');
	if (!control->n_events)
		printf("  the virtual time stamp alone\n");
	for (uint32_t i = 0; i < control->n_events; i++)
		print_event(database, &control->event[i]);
}

/*
 * Prints how one thread is counted.  Prints nothing if the thread has exited.  Returns false, after
 * an error message, if the thread cannot be asked; then others cannot be asked either.
 */
static bool print_counted(const char *backend, struct perfctr_events *database, pid_t tid)
{
	struct perfctr *context = perfctr_open_with(backend, tid, 0);
	struct perfctr_control control;
	char why[256];
	int error = 0;

	if (!context || perfctr_get_control(context, &control) < 0)
		error = errno;
	perfctr_close(context);
	switch (error) {
	case 0:
		print_thread(tid);
		print_control(database, &control);
		return true;
	case ENOENT:
		print_thread(tid);
		printf(": not counted\n");
		return true;
	case ESRCH:
		return true;
	case ENOTSUP:
		complain("only the kernel driver knows what a thread is counted by, and it is not in "
			 "use here; docs/install.md says how to get it");
		return false;
	default:
		perfctr_open_error_with(backend, error, why, sizeof(why));
		complain("thread %d: %s", tid, why);
		return false;
	}
}

int print_process(const char *backend, pid_t pid, const struct perfctr_pmu_info *info)
{
	struct perfctr_events *database;
	struct dirent *entry;
	char path[32];
	bool good = true;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks && errno == ENOENT)
		fail("there is no process %d", pid);
	database = tasks ? perfctr_events_open(info) : NULL;
	if (!database)
		fail("cannot look at process %d: %m", pid);
	while (good && (entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			good = print_counted(backend, database, atoi(entry->d_name));
	perfctr_events_close(database);
	closedir(tasks);
	return good ? 0 : EXIT_PERFEX;
}
