// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Functions for all backends: the owner of a context, calls that a backend lacks, texts for errors.
 */
#define _GNU_SOURCE
#include "backend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The calling thread's number, which no other thread gets later.  pthread_self() will not do: a new
 * thread can get the same value while the kernel still counts the exit of the old one.  The TLS
 * model makes the number readable in a signal handler.
 */
static __thread unsigned long thread_number __attribute__((tls_model("initial-exec")));

static unsigned long own_number(void)
{
	static unsigned long last;

	if (!thread_number)
		thread_number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
	return thread_number;
}

bool perfctr_own(struct perfctr *p)
{
	p->owner = perfctr_map_wiped(sizeof(*p->owner));
	if (p->owner)
		*p->owner = own_number();
	return p->owner;
}

void perfctr_own_page(struct perfctr *p, void *page)
{
	if (perfctr_own(p))
		p->page = page;
	else
		munmap(page, PERFCTR_PAGE_SIZE);
}

void perfctr_disown(struct perfctr *p)
{
	/* A forked child does not have its parent's page: something else may be mapped there. */
	if (p->page && *p->owner)
		munmap((void *)p->page, PERFCTR_PAGE_SIZE);
	munmap(p->owner, sizeof(*p->owner));
	p->owner = NULL;
}

bool perfctr_is_owner(const struct perfctr *p)
{
	return p->owner && *p->owner && *p->owner == thread_number;
}

int perfctr_unable(void)
{
	errno = ENOTSUP;
	return -1;
}

void perfctr_close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

/* strerror() is not thread-safe, and its text depends on the locale. */
void perfctr_describe_errno(int error, const char *what, char *text, size_t size)
{
	const char *description = strerrordesc_np(error);

	snprintf(text, size, "%s: %s", what, description ? description : "unknown error");
}

void perfctr_describe_open(int error, char *text, size_t size)
{
	switch (error) {
	case EEXIST:
		snprintf(text, size,
			 "the thread is being counted already; close its context first, or if "
			 "another program counts it, let one of both count alone: "
			 "perfctr_region_begin() counts regions there");
		break;
	case ENOENT:
		snprintf(text, size, "the thread has no context; open it with PERFCTR_OPEN_CREATE");
		break;
	case ENOTSUP:
		snprintf(text, size,
			 "this backend cannot do that; perfctr_backends() says what each one can");
		break;
	case ESRCH:
		snprintf(text, size, "there is no such thread");
		break;
	default:
		perfctr_describe_errno(error, "cannot open performance counters", text, size);
	}
}

/*
 * -2, if the level is unknown: less than all levels that exist, so that no refusal is blamed on it.
 */
int perfctr_paranoia(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -2;

	if (!file)
		return level;
	if (fscanf(file, "%d", &level) != 1)
		level = -2;
	fclose(file);
	return level;
}
