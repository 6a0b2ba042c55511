// SPDX-License-Identifier: GPL-2.0-or-later
/* Shared by all processes of the run: numbers of calls, findings. */
#include "fuzz.h"

#include <err.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_PRINTED 20 /* findings; the others are counted */

struct shared *shared;

static const char *const check_names[N_CHECKS] = {
	[CHECK_ERRNO] = "refusals give a documented error, the right one where it is known",
	[CHECK_BOUNDS] = "nothing is written outside of the caller's struct",
	[CHECK_REFUSED] = "refused calls change nothing",
	[CHECK_PRIVILEGE] = "the unprivileged get no more than they may",
	[CHECK_MEMORY] = "mapped memory is consistent and cannot be written",
	[CHECK_CANARY] = "counts that are known by hand come out",
	[CHECK_CLOSED] = "nothing is left when everything is closed",
	[CHECK_PROGRESS] = "no worker crashes or hangs",
	[CHECK_REACH] = "every call was accepted",
};

void shared_init(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		err(2, "no memory");
}

unsigned long all_findings(void)
{
	unsigned long n = 0;

	for (size_t i = 0; i < N_CHECKS; i++)
		n += atomic_load(&shared->findings[i]);
	return n;
}

/*
 * f: the thread that found it, or NULL: the supervisor or the canary. With one write(), so that
 * lines do not mix.
 */
void finding(const struct fuzzer *f, enum check check, const char *format, ...)
{
	char text[600], who[96] = "-", line[800];
	va_list arguments;
	int length;

	atomic_fetch_add(&shared->findings[check], 1);
	if (all_findings() > MAX_PRINTED)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (f)
		snprintf(who, sizeof(who), "%s.%llu %s", f->path, (unsigned long long)f->operation,
			 f->doing);
	length = snprintf(line, sizeof(line), "finding: seed %llu, %u:%s: %s\n",
			  (unsigned long long)shared->seed, shared->round, who, text);
	if (write(STDERR_FILENO, line, length) < 0)
		return;
}

static void print_call(const char *name, struct call_count *count)
{
	printf("  %-16s %10lu accepted %10lu refused\n", name, atomic_load(&count->accepted),
	       atomic_load(&count->refused));
}

void print_calls(void)
{
	for (unsigned int i = 0; i < n_commands; i++)
		print_call(command_name(i), &shared->call[i]);
	print_call("mmap", &shared->map);
}

void print_checks(void)
{
	for (size_t i = 0; i < N_CHECKS; i++)
		printf("%-6s  %s\n", atomic_load(&shared->findings[i]) ? "FAILED" : "ok",
		       check_names[i]);
}
