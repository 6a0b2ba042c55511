/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PERFCTR_BUFFER_H
#define _PERFCTR_BUFFER_H

#include <linux/types.h>

struct page;
struct vm_area_struct;

/* Memory that the kernel writes, and that user space maps read-only: buffer.c. */
struct perfctr_buffer {
	struct page **page;
	unsigned int n_pages;
	void *address;		/* where the kernel writes; NULL: not allocated */
};

/* Allocates zeroed memory that is accounted to the caller. Returns 0 or -ENOMEM. May sleep. */
int perfctr_buffer_alloc(struct perfctr_buffer *buffer, size_t bytes);
void perfctr_buffer_free(struct perfctr_buffer *buffer);	/* also one never allocated */
/*
 * Returns 0, -EINVAL unless vma has the size of the buffer, -EPERM if vma is writable, or an error
 * of vm_map_pages_zero(). The mapping keeps the pages after perfctr_buffer_free().
 */
int perfctr_buffer_mmap(struct perfctr_buffer *buffer, struct vm_area_struct *vma);

#endif
