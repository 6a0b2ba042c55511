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
	struct syscall_list earlier; /* calls before the run that matters */
};

static const char abi_names[PMU_SYSCALLS_NB_ABIS][8] = {
	[PMU_SYSCALLS_X86_64] = "x86_64",
	[PMU_SYSCALLS_X32] = "x32",
	[PMU_SYSCALLS_I386] = "i386",
};

/* A line of the table. */
struct syscall_line {
	char abi[8], name[48];
	unsigned int number;
};

static bool next_line(FILE *table, struct syscall_line *line)
{
	return fscanf(table, "%7s %u %47s", line->abi, &line->number, line->name) == 3;
}

/* Returns false if the table has no name for this number. */
static bool find_number(FILE *table, const char *abi, unsigned int number,
			struct syscall_line *line)
{
	rewind(table);
	while (next_line(table, line))
		if (line->number == number && strcmp(line->abi, abi) == 0)
			return true;
	return false;
}

static bool has_name(FILE *table, const char *abi, const char *name)
{
	struct syscall_line line;

	rewind(table);
	while (next_line(table, &line))
		if (strcmp(line.name, name) == 0 && strcmp(line.abi, abi) == 0)
			return true;
	return false;
}

/* A number is a name if it has no other one, and is written as perfex writes it. */
static bool is_unnamed(FILE *table, const char *abi, const char *text)
{
	unsigned int number = (unsigned int)strtoul(text, NULL, 10);
	struct syscall_line line;
	char written[16];

	snprintf(written, sizeof(written), "%u", number);
	return strcmp(text, written) == 0 && number < PMU_SYSCALLS_OTHER &&
	       !find_number(table, abi, number, &line);
}

bool syscalls_is_name(FILE *table, const char *name)
{
	const char *abi = abi_names[PMU_SYSCALLS_X86_64];

	for (unsigned int i = PMU_SYSCALLS_X86_64 + 1; i < PMU_SYSCALLS_NB_ABIS; i++) {
		size_t length = strlen(abi_names[i]);

		if (strncmp(name, abi_names[i], length) == 0 && name[length] == ':') {
			abi = abi_names[i];
			name += length + 1;
			break;
		}
	}
	return strcmp(name, OTHER) == 0 || is_unnamed(table, abi, name) ||
	       has_name(table, abi, name);
}

static bool read_register(int fd, off_t number, uint64_t *value)
{
	return pread(fd, value, sizeof(*value), number) == (ssize_t)sizeof(*value);
}

static bool read_list(int fd, struct syscall_list *list)
{
	uint64_t head = 0;
	bool good = read_register(fd, PMU_SYSCALLS_HEAD, &head);

	if (good && PMU_SYSCALLS_MAGIC_OF(head) != PMU_SYSCALLS_MAGIC) {
		complain("only the machine of perfex exact counts system calls");
		return false;
	}
	list->n = PMU_SYSCALLS_N_OF(head);
	for (size_t i = 0; good && i < list->n && i < PMU_SYSCALLS_MAX; i++)
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
		return read_list(reader->registers, &reader->earlier);
	complain("cannot read the names of system calls in " SYSCALL_NAMES ": %m");
	return false;
}

static void name_call(struct syscall_count *call, const char *abi, FILE *names)
{
	bool has_prefix = strcmp(abi, abi_names[PMU_SYSCALLS_X86_64]) != 0;
	struct syscall_line line;

	if (call->is_other)
		strcpy(line.name, OTHER);
	else if (!find_number(names, abi, call->number, &line))
		snprintf(line.name, sizeof(line.name), "%u", call->number);
	snprintf(call->event, sizeof(call->event), SYSCALLS ":%s%s%s", has_prefix ? abi : "",
		 has_prefix ? ":" : "", line.name);
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
	struct syscall_list *list = allocate(1, sizeof(*list));
	bool good = read_list(syscalls->reader->registers, list);

	for (size_t i = 0; good && i < list->n; i++) {
		uint64_t entry = list->entry[i],
			 count = PMU_SYSCALLS_COUNT(entry) -
				 count_in(&syscalls->reader->earlier, entry);

		if (count)
			add_call(syscalls, entry, count);
	}
	free(list);
	return good;
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
