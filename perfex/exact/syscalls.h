/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of a command by their numbers. */
#ifndef PERFEX_EXACT_SYSCALLS_H
#define PERFEX_EXACT_SYSCALLS_H

#include "exact.h"

/*
 * In the machine: runs the command, which PATH may find, and writes a line "NUMBER COUNT" to the file
 * for each system call of its processes, from execve() of the command on.  input: NULL for none.
 * Returns the exit status.
 */
int syscalls_count(char *const *command, const char *input, const char *file);

/* On the host: returns such lines as "NUMBER NAME COUNT", for free(). */
char *syscalls_name(const struct machine *machine, const struct machine_text *counts);

#endif
