/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The processes that hold counters of the driver. */
#ifndef PERFCTR_HOLDERS_H
#define PERFCTR_HOLDERS_H

#include <fcntl.h>
#include <linux/perfctr.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/*
 * Returns the present holders, for free(), and sets *n to their number.  *n is 0 if nobody holds
 * counters, if there is no driver, or if the driver or memory cannot provide the list.
 */
static inline struct perfctr_holder *perfctr_list_holders(uint32_t *n)
{
	struct perfctr_holders holders = { .size = sizeof(holders), .room = 64 };
	int device = open("/dev/perfctr", O_RDONLY | O_CLOEXEC);
	struct perfctr_holder *holder = NULL;

	*n = 0;
	if (device < 0)
		return NULL;
	for (;; holders.room = 2 * holders.n) {
		free(holder);
		holders.n = 0;
		holder = calloc(holders.room, sizeof(*holder));
		holders.holders = (uintptr_t)holder;
		if (!holder || ioctl(device, PERFCTR_IOC_HOLDERS, &holders) < 0)
			break;
		if (holders.n <= holders.room) {
			*n = holders.n;
			break;
		}
	}
	close(device);
	return holder;
}

#endif
