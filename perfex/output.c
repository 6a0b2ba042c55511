// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVNTSEL_USR	(1u << 16)
#define EVNTSEL_OS	(1u << 17)

static int open_for_writing(struct output *output)
{
	int fd = open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	output->created = true;
	return open(output->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_CREAT, 0666);
}

/* Nothing in an old file is touched yet: the command may still turn out not to exist. */
bool output_open(struct output *output, const char *path)
{
	int fd;

	*output = (struct output){ .path = path, .file = stderr };
	if (!path)
		return true;
	fd = open_for_writing(output);
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!output->file)
		complain("cannot write '%s': %m", path);
	return output->file;
}

/* The command is about to run: an old file's contents go. */
void output_begin(struct output *output)
{
	struct stat status;

	if (output->path && fstat(fileno(output->file), &status) == 0 && S_ISREG(status.st_mode) &&
	    ftruncate(fileno(output->file), 0) < 0)
		complain("cannot empty '%s': %m", output->path);
}

void output_discard(struct output *output)
{
	if (output->created)
		unlink(output->path);
}

static const char *ring_name(uint64_t evntsel)
{
	switch (evntsel & (EVNTSEL_USR | EVNTSEL_OS)) {
	case EVNTSEL_USR:
		return "user";
	case EVNTSEL_OS:
		return "kernel";
	case EVNTSEL_USR | EVNTSEL_OS:
		return "user+kernel";
	}
	return "none";
}

static void print_number(FILE *file, const char *what, unsigned long long number, const char *note)
{
	fprintf(file, "%-24s %20llu%s%s\n", what, number, *note ? "  " : "", note);
}

static void print_counts(FILE *file, const struct perfctr_control *control,
			 const struct perfctr_counts *counts)
{
	char name[PERFCTR_EVENT_TEXT];

	print_number(file, "tsc", counts->tsc, "");
	for (uint32_t i = 0; i < control->n_events; i++) {
		perfctr_event_format(&control->event[i], name, sizeof(name));
		print_number(file, name, counts->counter[i], ring_name(control->event[i].evntsel));
	}
}

/* A name is the program's own choice: one line it shall stay. */
static void print_member(FILE *file, const struct perfctr_record *record, bool thread)
{
	char name[sizeof(record->comm)];

	memcpy(name, record->comm, sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (char *c = name; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = '?';
	if (thread)
		print_number(file, "tid", (unsigned int)record->tid, name);
	print_number(file, "pid", (unsigned int)record->tgid, thread ? "" : name);
}

void output_counts(struct output *output, const struct perfctr_control *control,
		   const struct members *members, const struct perfctr_counts *total)
{
	bool threads = members->view == PER_THREAD;
	FILE *file = output->file;

	for (const struct member *member = members->first; member; member = member->next) {
		print_member(file, &member->record, threads);
		print_counts(file, control, &member->record.counts);
	}
	if (members_wanted(members))
		print_number(file, "total", members->n, threads ? "threads" : "processes");
	print_counts(file, control, total);
	if (total->members)
		print_number(file, "members", total->members, "");
	if (members->lost)
		print_number(file, "lost", members->lost, "");
	if (fflush(file) || ferror(file) || (output->path && fclose(file)))
		fail("cannot write '%s': %m", output->path ? output->path : "standard error");
}
