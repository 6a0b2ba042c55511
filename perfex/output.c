// SPDX-License-Identifier: GPL-2.0-or-later
#include "perfex.h"

#include <errno.h>
#include <fcntl.h>
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
int output_open(struct output *output, const char *path)
{
	int fd;

	*output = (struct output){ .path = path, .file = stderr };
	if (!path)
		return 0;
	fd = open_for_writing(output);
	if (fd < 0)
		return -1;
	output->file = fdopen(fd, "w");
	return output->file ? 0 : -1;
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

int output_counts(struct output *output, const struct perfctr_control *control,
		  const struct perfctr_counts *counts)
{
	char name[PERFCTR_EVENT_TEXT];

	fprintf(output->file, "%-24s %20llu\n", "tsc", (unsigned long long)counts->tsc);
	for (uint32_t i = 0; i < control->n_events; i++) {
		perfctr_event_format(&control->event[i], name, sizeof(name));
		fprintf(output->file, "%-24s %20llu  %s\n", name,
			(unsigned long long)counts->counter[i],
			ring_name(control->event[i].evntsel));
	}
	if (fflush(output->file) || ferror(output->file))
		return -1;
	return output->path ? fclose(output->file) : 0;
}
