/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls of a command by their numbers.  perfex exact counts them in a machine of their own,
 * and lets perfex run, which counts events in another one, show both.
 */
#ifndef PERFEX_RUN_SYSCALLS_H
#define PERFEX_RUN_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of all system calls together; that of one is "syscalls:NAME". */
#define SYSCALLS "syscalls"

struct syscall_count {
	unsigned int number;
	char name[48]; /* such as "read"; the number if it has none */
	uint64_t count;
};

struct syscalls {
	struct syscall_count *call; /* in the order of the numbers */
	size_t n;		    /* 0: they were not counted */
	uint64_t total;
};

/*
 * Reads a file with a line "NUMBER NAME COUNT" for each system call, and empty lines.  Returns false
 * after an error message.
 */
bool syscalls_read(struct syscalls *syscalls, const char *path);

#endif
