/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a command and the processes that it starts, by ptrace(2). */
#ifndef PERFEX_EXACT_TRACER_H
#define PERFEX_EXACT_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A system call that a thread is about to make.  The thread is stopped. */
struct traced_call {
	pid_t thread;
	uint64_t number;
	const uint64_t *arguments; /* six */
};

struct traced {
	const char *program; /* path */
	char *const *command;
	char *const *environment;
	int input; /* descriptor, or -1 for none; what the command writes is lost */
	/*
	 * Called for each system call of x86-64, in the order in which they begin, in a process
	 * that the caller must not expect to share its memory.
	 */
	void (*call)(void *context, const struct traced_call *call);
	void *context;
};

/*
 * Runs the command in a session of its own to its end, and then kills all processes that it has
 * left.  A signal that ends perfex goes to the command; if that does not end, it is killed at the
 * second signal or five seconds later.  *ended_by is that signal, or 0.  Returns the status of
 * wait(2), or -1 with errno set if the command cannot be followed.  Needs Linux 5.3.
 */
int trace_command(const struct traced *traced, int *ended_by);

/*
 * Copies the string at the address of the thread, as far as the buffer reaches.  Returns false if
 * it cannot be read, or is longer.
 */
bool traced_string(pid_t thread, uint64_t address, char *buffer, size_t size);

#endif
