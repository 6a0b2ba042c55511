// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

void members_begin(struct members *members, enum view view)
{
	*members = (struct members){ .wanted = true, .view = view, .last = &members->first };
}

static void keep_node(void *node)
{
	(void)node;
}

static void free_list(struct member *member)
{
	for (struct member *next; member; member = next) {
		next = member->next;
		free(member);
	}
}

/* Forgets the process IDs of the last run, since the next run may use them again. */
void members_next_run(struct members *members, unsigned int run, unsigned int pass)
{
	tdestroy(members->by_process, keep_node);
	members->by_process = NULL;
	members->run = run;
	members->pass = pass;
	members->n_before = members->n;
	members->before = members->last;
}

void members_forget_run(struct members *members)
{
	free_list(*members->before);
	*members->before = NULL;
	members->last = members->before;
	members->n = members->n_before;
	members_next_run(members, members->run, members->pass);
}

void members_forget_from(struct members *members, unsigned int run)
{
	struct member **first = &members->first;

	members->n = 0;
	for (; *first && (*first)->run < run; first = &(*first)->next)
		members->n++;
	free_list(*first);
	*first = NULL;
	members->last = first;
}

void members_free(struct members *members)
{
	members_next_run(members, 0, 0);
	free_list(members->first);
	members_begin(members, members->view);
}

static struct member *append_member(struct members *members,
				    const struct perfctr_exit_record *record)
{
	struct member *member = malloc(sizeof(*member));

	if (!member)
		fail("out of memory");
	*member = (struct member){
		.record = *record,
		.run = members->run,
		.pass = members->pass,
	};
	*members->last = member;
	members->last = &member->next;
	members->n++;
	return member;
}

/*
 * A process ID may be used again, so processes also differ by their start time.  A process that has
 * not ended yet has no known start time (0), but its ID cannot have been used again.
 */
static int compare_processes(const void *a, const void *b)
{
	const struct perfctr_exit_record *first = &((const struct member *)a)->record;
	const struct perfctr_exit_record *second = &((const struct member *)b)->record;

	if (first->tgid != second->tgid)
		return first->tgid < second->tgid ? -1 : 1;
	if (first->start == second->start || !first->start || !second->start)
		return 0;
	return first->start < second->start ? -1 : 1;
}

/* Adds a thread to its process, which has the name of its first thread. */
static void merge_thread(struct perfctr_exit_record *process,
			 const struct perfctr_exit_record *thread)
{
	add_counts(&process->counts, &thread->counts);
	if (thread->tid == thread->tgid)
		memcpy(process->comm, thread->comm, sizeof(process->comm));
}

static void add_record(struct members *members, const struct perfctr_exit_record *record)
{
	const struct member key = { .record = { .tgid = record->tgid, .start = record->start } };
	struct member **process;

	members->lost += record->lost;
	if (!record->tid)
		return;
	if (members->view == PER_THREAD) {
		append_member(members, record);
		return;
	}
	process = tfind(&key, &members->by_process, compare_processes);
	if (process)
		merge_thread(&(*process)->record, record);
	else if (!tsearch(append_member(members, record), &members->by_process, compare_processes))
		fail("out of memory");
}

/* Takes the records of the members of one context that have exited since the last call. */
void members_take(struct members *members, const struct perfctr *context)
{
	struct perfctr_exit_record record;

	while (perfctr_next_exit_record(context, &record) == 0)
		add_record(members, &record);
	if (errno != EAGAIN)
		fail("cannot read the counts of a process that has exited: %m");
}

static void read_name(char *name, size_t size, pid_t pid, pid_t tid)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(name, (int)size, file))
		name[strcspn(name, "\n")] = '\0';
	fclose(file);
}

/*
 * Called at the end of a run.  Takes the last records, and adds the threads of process pid that go
 * on, as if they exited now.
 */
void members_add_running(struct members *members, const struct threads *threads, pid_t pid)
{
	for (size_t i = 0; i < threads->n; i++) {
		const struct thread *thread = &threads->thread[i];
		struct perfctr_exit_record running = { .tid = thread->tid, .tgid = pid };

		members_take(members, thread->context);
		if (perfctr_read(thread->context, &running.counts) < 0)
			fail("cannot read the counters: %m");
		if (running.counts.flags & PERFCTR_COUNTS_EXITED) {
			/* Its record was there before perfctr_read() could report the exit. */
			members_take(members, thread->context);
			continue;
		}
		read_name(running.comm, sizeof(running.comm), pid, thread->tid);
		add_record(members, &running);
	}
}

/* A program chooses its name freely: replaces control characters, so that it stays on one line. */
void member_name(const struct member *member, char *name, size_t size)
{
	snprintf(name, size, "%.*s", (int)sizeof(member->record.comm), member->record.comm);
	make_printable(name);
}
