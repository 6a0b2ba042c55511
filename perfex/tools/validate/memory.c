// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes memory that benchmarks walk through, in an order that no prefetcher knows. */
#define _GNU_SOURCE
#include "validate.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	/*
	 * Sizes for processors that do not state theirs.  They are large, so that they exceed the
	 * real caches.
	 */
	ASSUMED_LINE = 64,
	ASSUMED_L1 = 64 << 10,
	ASSUMED_L2 = 2 << 20,
	ASSUMED_TLB = 3072,
	BUFFER = 1 << 20, /* at least 10^6 bytes */
	FLUSHED_LINES = 16384,
	FLUSHED_STEP = 4, /* lines, because some processors fetch neighbours too */
	NEW_PAGES = 10000,
};

uint64_t random_next(uint64_t *state)
{
	/* Knuth's MMIX generator: the upper half of its bits is good. */
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

void make_cycle(unsigned int *next, unsigned int n)
{
	unsigned int *order = allocate(n, sizeof(*order));
	uint64_t state = 1;

	for (unsigned int i = 0; i < n; i++)
		order[i] = i;
	for (unsigned int i = n - 1; i > 0; i--) {
		unsigned int other = (unsigned int)(random_next(&state) % i), kept = order[i];

		order[i] = order[other];
		order[other] = kept;
	}
	/* The permutation has one cycle: next[i] comes after i. */
	memcpy(next, order, n * sizeof(*next));
	free(order);
}

static bool map_memory(struct workplace *workplace, size_t length, int protection)
{
	void *memory = mmap(NULL, length, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return false;
	workplace->memory = memory;
	workplace->length = length;
	return true;
}

bool make_buffer(struct workplace *workplace)
{
	if (!map_memory(workplace, BUFFER, PROT_READ | PROT_WRITE))
		return false;
	memset(workplace->memory, 0, BUFFER);
	return true;
}

/*
 * Makes a cycle of n places for kernel_chase(), which begins with place 0.  Place i is i * step
 * bytes and i % shifts lines behind the start.
 */
static bool make_chase(struct workplace *workplace, unsigned int n, size_t step,
		       unsigned int shifts, int advice)
{
	size_t line = workplace->geometry->line ? workplace->geometry->line : ASSUMED_LINE;
	unsigned int *next;
	char *memory;

	if (!map_memory(workplace, n * step, PROT_READ | PROT_WRITE))
		return false;
	madvise(workplace->memory, workplace->length, advice);
	memory = workplace->memory;
	next = allocate(n, sizeof(*next));
	make_cycle(next, n);
	for (unsigned int i = 0; i < n; i++)
		*(void **)(memory + i * step + i % shifts * line) =
			memory + next[i] * step + next[i] % shifts * line;
	free(next);
	*(void **)(memory + sizeof(void *)) = memory;
	/*
	 * Writing left the end of the memory in the caches.  After a walk through all places, they
	 * have what each later walk leaves in them, and even the first runs count alike.
	 */
	kernel_chase(n, memory);
	return true;
}

static bool make_cache_chase(struct workplace *workplace, size_t bytes)
{
	size_t line = workplace->geometry->line ? workplace->geometry->line : ASSUMED_LINE;

	return make_chase(workplace, (unsigned int)(bytes / line), line, 1, MADV_HUGEPAGE);
}

/* Eight times the cache: if lines are replaced at random, an eighth of them is still there. */
bool make_l1_chase(struct workplace *workplace)
{
	size_t size = workplace->geometry->l1d ? workplace->geometry->l1d : ASSUMED_L1;

	return make_cache_chase(workplace, 8 * size);
}

bool make_l2_chase(struct workplace *workplace)
{
	size_t size = workplace->geometry->l2 ? workplace->geometry->l2 : ASSUMED_L2;

	return make_cache_chase(workplace, 8 * size);
}

bool make_lines(struct workplace *workplace)
{
	size_t line = workplace->geometry->line ? workplace->geometry->line : ASSUMED_LINE;

	if (!make_chase(workplace, FLUSHED_LINES, FLUSHED_STEP * line, 1, MADV_HUGEPAGE))
		return false;
	/* Flushes each line once, so that none is in a cache. */
	kernel_flush(FLUSHED_LINES, workplace->memory);
	return true;
}

/*
 * Page i has its place in line i % 64, so that the places do not all compete for one set of the
 * cache.
 */
bool make_page_chase(struct workplace *workplace)
{
	unsigned int entries = workplace->geometry->dtlb ? workplace->geometry->dtlb : ASSUMED_TLB;

	return make_chase(workplace, 4 * entries, workplace->geometry->page, 64, MADV_NOHUGEPAGE);
}

/* Writes "dec %rdi; jz END; jmp NEXT", which fits into a line. */
static void write_link(unsigned char *at, const unsigned char *next, const unsigned char *end)
{
	static const unsigned char code[] = { 0x48, 0xff, 0xcf, 0x0f, 0x84, 0, 0, 0, 0, 0xe9 };
	int to_end = (int)(end - (at + 9)), to_next = (int)(next - (at + 14));

	memcpy(at, code, sizeof(code));
	memcpy(at + 5, &to_end, sizeof(to_end));
	memcpy(at + 10, &to_next, sizeof(to_next));
}

static bool make_jumps(struct workplace *workplace, unsigned int n, size_t step,
		       unsigned int shifts)
{
	size_t line = workplace->geometry->line ? workplace->geometry->line : ASSUMED_LINE;
	unsigned char *memory, *end;
	unsigned int *next;

	if (!map_memory(workplace, (n + 1) * step, PROT_READ | PROT_WRITE))
		return false;
	madvise(workplace->memory, workplace->length, MADV_NOHUGEPAGE);
	memory = workplace->memory;
	end = memory + n * step;
	*end = 0xc3; /* ret */
	next = allocate(n, sizeof(*next));
	make_cycle(next, n);
	for (unsigned int i = 0; i < n; i++)
		write_link(memory + i * step + i % shifts * line,
			   memory + next[i] * step + next[i] % shifts * line, end);
	free(next);
	return mprotect(memory, workplace->length, PROT_READ | PROT_EXEC) == 0;
}

bool make_line_jumps(struct workplace *workplace)
{
	size_t line = workplace->geometry->line ? workplace->geometry->line : ASSUMED_LINE;
	size_t size = workplace->geometry->l1i ? workplace->geometry->l1i : ASSUMED_L1;

	return make_jumps(workplace, (unsigned int)(8 * size / line), line, 1);
}

bool make_page_jumps(struct workplace *workplace)
{
	unsigned int entries = workplace->geometry->itlb ? workplace->geometry->itlb : ASSUMED_TLB;

	return make_jumps(workplace, 4 * entries, workplace->geometry->page, 64);
}

bool make_new_pages(struct workplace *workplace)
{
	if (!map_memory(workplace, (size_t)NEW_PAGES * workplace->geometry->page,
			PROT_READ | PROT_WRITE))
		return false;
	madvise(workplace->memory, workplace->length, MADV_NOHUGEPAGE);
	return true;
}

void forget_pages(struct workplace *workplace)
{
	madvise(workplace->memory, workplace->length, MADV_DONTNEED);
}

void workplace_release(struct workplace *workplace)
{
	if (workplace->partner) {
		kill(workplace->partner, SIGKILL);
		waitpid(workplace->partner, NULL, 0);
		workplace->partner = 0;
	}
	if (workplace->to >= 0)
		close(workplace->to);
	if (workplace->from >= 0)
		close(workplace->from);
	workplace->to = workplace->from = -1;
	if (workplace->memory)
		munmap(workplace->memory, workplace->length);
	workplace->memory = NULL;
}
