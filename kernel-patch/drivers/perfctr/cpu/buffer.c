// SPDX-License-Identifier: GPL-2.0-only
/* Memory that the kernel writes, and that user space maps read-only. */
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "../kernel/compat.h"
#include "buffer.h"

void perfctr_buffer_free(struct perfctr_buffer *buffer)
{
	unsigned int i;

	vunmap(buffer->address);
	for (i = 0; i < buffer->n_pages; i++)
		__free_page(buffer->page[i]);
	kvfree(buffer->page);
	memset(buffer, 0, sizeof(*buffer));
}

int perfctr_buffer_alloc(struct perfctr_buffer *buffer, size_t bytes)
{
	unsigned int n = PAGE_ALIGN(bytes) >> PAGE_SHIFT;

	memset(buffer, 0, sizeof(*buffer));
	buffer->page = kvcalloc(n, sizeof(buffer->page[0]), GFP_KERNEL_ACCOUNT);
	if (!buffer->page)
		return -ENOMEM;
	for (; buffer->n_pages < n; buffer->n_pages++) {
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

		if (!page)
			break;
		buffer->page[buffer->n_pages] = page;
	}
	if (buffer->n_pages == n)
		buffer->address = vmap(buffer->page, n, VM_MAP, PAGE_KERNEL);
	if (!buffer->address) {
		perfctr_buffer_free(buffer);
		return -ENOMEM;
	}
	return 0;
}

int perfctr_buffer_mmap(struct perfctr_buffer *buffer, struct vm_area_struct *vma)
{
	if (vma_pages(vma) != buffer->n_pages)
		return -EINVAL;
	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	vm_flags_mod(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	return vm_map_pages_zero(vma, buffer->page, buffer->n_pages);
}
