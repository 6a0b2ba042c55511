// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts interrupts and page faults during a check, which may add to its counts. */
#define _GNU_SOURCE
#include "host.h"
#include "../../perfex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/*
 * Returns the column of a CPU in the first line, such as "   CPU0   CPU2".  Returns -1 if the line
 * does not name the CPU.
 */
static int find_column(const char *head, int cpu)
{
	int column = 0, number;

	for (; (head = strstr(head, "CPU")); column++) {
		head += strlen("CPU");
		number = atoi(head);
		if (number == cpu)
			return column;
	}
	return -1;
}

/* Adds up a row like "LOC:  12  34  Local timer interrupts": one column, or all if column is -1. */
static uint64_t add_row(const char *row, int column)
{
	const char *at = strchr(row, ':');
	uint64_t sum = 0;

	if (!at)
		return 0;
	at++;
	for (int i = 0;; i++) {
		char *end;
		uint64_t number;

		at += strspn(at, " ");
		if (!isdigit((unsigned char)*at))
			return sum;
		number = strtoull(at, &end, 10);
		if (*end && !isspace((unsigned char)*end))
			return sum;
		if (column < 0 || i == column)
			sum += number;
		at = end;
	}
}

uint64_t count_interrupts(FILE *file, int cpu)
{
	uint64_t sum = 0;
	char *line = NULL;
	size_t room = 0;
	int column = -1;

	if (getline(&line, &room, file) >= 0 && cpu >= 0)
		column = find_column(line, cpu);
	while (getline(&line, &room, file) >= 0)
		sum += add_row(line, column);
	free(line);
	return sum;
}

static uint64_t read_interrupts(int cpu)
{
	FILE *file = fopen("/proc/interrupts", "re");
	uint64_t sum;

	if (!file)
		return 0;
	sum = count_interrupts(file, cpu);
	fclose(file);
	return sum;
}

static uint64_t read_faults(int who)
{
	struct rusage usage = { 0 };

	getrusage(who, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

struct surroundings surroundings_begin(int cpu)
{
	return (struct surroundings){
		.interrupts = read_interrupts(cpu),
		.faults = read_faults(RUSAGE_SELF) + read_faults(RUSAGE_CHILDREN),
		.elapsed_ns = now_ns(),
	};
}

void surroundings_end(struct surroundings *surroundings, int cpu)
{
	struct surroundings end = surroundings_begin(cpu);

	surroundings->interrupts = end.interrupts - surroundings->interrupts;
	surroundings->faults = end.faults - surroundings->faults;
	surroundings->elapsed_ns = end.elapsed_ns - surroundings->elapsed_ns;
}
