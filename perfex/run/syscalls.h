/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of a command by their numbers.  The emulator of perfex exact counts them, as long as
 * the command's events are counted: see emulator/pmu/pmu-syscalls.h.
 */
#ifndef PERFEX_RUN_SYSCALLS_H
#define PERFEX_RUN_SYSCALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The name of all system calls together; that of one is "syscalls:NAME". */
#define SYSCALLS "syscalls"

/*
 * The machine's table of names, with lines "ABI NUMBER NAME", such as "i386 3 read".  In results,
 * the ABI precedes the name, as in "i386:read", unless it is x86_64.
 */
#define SYSCALL_NAMES "/machine/syscalls"

struct syscall_count {
	/* Such as "syscalls:read", "syscalls:i386:read", or with the number of a call without name. */
	char event[64];
	unsigned int number;
	bool is_other; /* all numbers that are too large for a system call */
	uint64_t count;
};

/* The name that the JSON has, such as "read". */
static inline const char *syscall_name(const struct syscall_count *call)
{
	return call->event + sizeof(SYSCALLS ":") - 1;
}

struct syscall_reader;

struct syscalls {
	struct syscall_count *call; /* those with a count, by ABI and number */
	size_t n;		    /* 0 until syscalls_name() */
	uint64_t total;
	struct syscall_reader *reader;
};

/*
 * These read the calls before and after the run that matters.  They return false after an error
 * message.  syscalls_begin() opens all that is needed later: the command may remove files.
 */
bool syscalls_begin(struct syscalls *syscalls);
bool syscalls_end(struct syscalls *syscalls);
/* Makes the counts of the calls between the two. */
void syscalls_name(struct syscalls *syscalls);
/* After syscalls_begin(). */
void syscalls_free(struct syscalls *syscalls);

/* Can a count have this name, with the names of this table? */
bool syscalls_is_name(FILE *table, const char *name);

#endif
