/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef PERFCTR_INTERNAL_H
#define PERFCTR_INTERNAL_H

#include <pthread.h>
#include <perfctr.h>

#define PERFCTR_DEVICE "/dev/perfctr"

struct perfctr {
	int fd;
	struct perfctr_pmu_info info;		/* at open: its counters, not its holder, stay true */
	const struct perfctr_page *page;	/* NULL: not mapped */
	/*
	 * The thread that may read page by RDPMC.  It lies in a page of its own that the kernel
	 * wipes on fork, so that a child, whose pthread_self() is its parent's, does not match.
	 */
	pthread_t *owner;
};

#endif
