// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the system calls that the emulator has counted. */
#include "syscalls.h"
#include "../../emulator/pmu/pmu-syscalls.h"
#include "../perfex.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* All CPUs show the same. */
#define REGISTERS "/dev/cpu/0/msr"

#define OTHER "other"

/* The emulator's list. */
struct syscall_list {
	uint64_t entry[PMU_SYSCALLS_MAX];
	size_t n;
};

struct syscall_reader {
	int registers; /* descriptor */
	FILE *names;
	struct syscall_list before, after; /* the run that matters */
};

static const char abi_names[PMU_SYSCALLS_NB_ABIS][8] = {
	[PMU_SYSCALLS_X86_64] = "x86_64",
	[PMU_SYSCALLS_X32] = "x32",
	[PMU_SYSCALLS_I386] = "i386",
};

/* A line of the table. */
struct syscall_line {
	char abi[8], number[12], name[48];
};

/* Finds the line of a number, or of a name if the number is NULL.  Returns false without one. */
static bool find_line(FILE *table, const char *abi, const char *number, const char *name,
		      struct syscall_line *line)
{
	rewind(table);
	while (fscanf(table, "%7s %11s %47s", line->abi, line->number, line->name) == 3)
		if (strcmp(line->abi, abi) == 0 &&
		    strcmp(number ? line->number : line->name, number ? number : name) == 0)
			return true;
	return false;
}

/* Does perfex write a number this way? */
static bool is_number(const char *text)
{
	unsigned int number = (unsigned int)strtoul(text, NULL, 10);
	char written[16];

	snprintf(written, sizeof(written), "%u", number);
	return strcmp(text, written) == 0 && number < PMU_SYSCALLS_OTHER;
}

bool syscalls_is_name(FILE *table, const char *name)
{
	const char *abi = abi_names[PMU_SYSCALLS_X86_64];
	struct syscall_line line;

	for (unsigned int i = PMU_SYSCALLS_X86_64 + 1; i < PMU_SYSCALLS_NB_ABIS; i++) {
		size_t length = strlen(abi_names[i]);

		if (strncmp(name, abi_names[i], length) == 0 && name[length] == ':') {
			abi = abi_names[i];
			name += length + 1;
			break;
		}
	}
	/* A call with a name is not shown by its number. */
	if (is_number(name))
		return !find_line(table, abi, name, NULL, &line);
	return strcmp(name, OTHER) == 0 || find_line(table, abi, NULL, name, &line);
}

static bool read_register(int fd, off_t number, uint64_t *value)
{
	return pread(fd, value, sizeof(*value), number) == (ssize_t)sizeof(*value);
}

static bool read_list(int fd, struct syscall_list *list)
{
	uint64_t head = 0;
	bool good = read_register(fd, PMU_SYSCALLS_HEAD, &head);

	list->n = PMU_SYSCALLS_N_OF(head);
	if (good && (PMU_SYSCALLS_MAGIC_OF(head) != PMU_SYSCALLS_MAGIC ||
		     list->n > PMU_SYSCALLS_MAX)) {
		complain("only the machine of perfex exact counts system calls");
		return false;
	}
	for (size_t i = 0; good && i < list->n; i++)
		good = read_register(fd, PMU_SYSCALLS_LIST + (off_t)i, &list->entry[i]);
	if (!good)
		complain("cannot read the system calls, which the machine of perfex exact counts: "
			 REGISTERS ": %m");
	return good;
}

/* Returns the count in the list of the same call. */
static uint64_t count_in(const struct syscall_list *list, uint64_t entry)
{
	const uint64_t call = entry - PMU_SYSCALLS_COUNT(entry);

	for (size_t i = 0; i < list->n; i++)
		if (list->entry[i] - PMU_SYSCALLS_COUNT(list->entry[i]) == call)
			return PMU_SYSCALLS_COUNT(list->entry[i]);
	return 0;
}

bool syscalls_begin(struct syscalls *syscalls)
{
	struct syscall_reader *reader = allocate(1, sizeof(*reader));

	syscalls->reader = reader;
	reader->registers = open(REGISTERS, O_RDONLY | O_CLOEXEC);
	reader->names = fopen(SYSCALL_NAMES, "re");
	if (reader->names)
		return read_list(reader->registers, &reader->before);
	complain("cannot read the names of system calls in " SYSCALL_NAMES ": %m");
	return false;
}

static void name_call(struct syscall_count *call, const char *abi, FILE *names)
{
	bool has_prefix = strcmp(abi, abi_names[PMU_SYSCALLS_X86_64]) != 0;
	const char *name = OTHER;
	struct syscall_line line;
	char number[16];

	snprintf(number, sizeof(number), "%u", call->number);
	if (!call->is_other)
		name = find_line(names, abi, number, NULL, &line) ? line.name : number;
	snprintf(call->event, sizeof(call->event), SYSCALLS ":%s%s%s", has_prefix ? abi : "",
		 has_prefix ? ":" : "", name);
}

static void add_call(struct syscalls *syscalls, uint64_t entry, uint64_t count)
{
	struct syscall_count call = {
		.number = PMU_SYSCALLS_NUMBER(entry),
		.is_other = PMU_SYSCALLS_NUMBER(entry) == PMU_SYSCALLS_OTHER,
		.count = count,
	};

	name_call(&call, abi_names[PMU_SYSCALLS_ABI(entry)], syscalls->reader->names);
	syscalls->call = grow(syscalls->call, syscalls->n, sizeof(*syscalls->call));
	syscalls->call[syscalls->n++] = call;
	syscalls->total += count;
}

bool syscalls_end(struct syscalls *syscalls)
{
	return read_list(syscalls->reader->registers, &syscalls->reader->after);
}

void syscalls_name(struct syscalls *syscalls)
{
	const struct syscall_list *after = &syscalls->reader->after;

	for (size_t i = 0; i < after->n; i++) {
		uint64_t entry = after->entry[i],
			 count = PMU_SYSCALLS_COUNT(entry) -
				 count_in(&syscalls->reader->before, entry);

		if (count)
			add_call(syscalls, entry, count);
	}
}

void syscalls_free(struct syscalls *syscalls)
{
	if (syscalls->reader->registers >= 0)
		close(syscalls->reader->registers);
	if (syscalls->reader->names)
		fclose(syscalls->reader->names);
	free(syscalls->reader);
	free(syscalls->call);
}
