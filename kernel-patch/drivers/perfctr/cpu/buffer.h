/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _PERFCTR_BUFFER_H
#define _PERFCTR_BUFFER_H

#include <linux/types.h>

struct page;
struct vm_area_struct;

struct perfctr_buffer {
	struct page **page;
	unsigned int n_pages;
	void *address;
};

int perfctr_buffer_alloc(struct perfctr_buffer *buffer, size_t bytes);
void perfctr_buffer_free(struct perfctr_buffer *buffer);	/* also one never allocated */
int perfctr_buffer_mmap(struct perfctr_buffer *buffer, struct vm_area_struct *vma);

#endif
