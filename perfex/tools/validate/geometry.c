// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sizes of caches and TLBs, after Intel SDM, CPUID leaves 04H, 07H, 18H; AMD APM volume 3,
 * Fn8000_0005, 6, 1D.
 */
#include "validate.h"

#include <cpuid.h>
#include <unistd.h>

struct registers {
	unsigned int a, b, c, d;
};

/* Returns zeros if there is no such leaf. */
static struct registers ask_cpuid(unsigned int leaf, unsigned int subleaf)
{
	struct registers r = { 0 };

	if (__get_cpuid_max(leaf & 0x80000000, NULL) >= leaf)
		__cpuid_count(leaf, subleaf, r.a, r.b, r.c, r.d);
	return r;
}

/* Leaves 4 and 8000001DH have the same format: one cache for each subleaf. */
static void read_caches(struct geometry *geometry, unsigned int leaf)
{
	enum { DATA = 1, CODE = 2, BOTH = 3, LEVELS = 16 };

	for (unsigned int i = 0; i < LEVELS; i++) {
		struct registers r = ask_cpuid(leaf, i);
		unsigned int type = r.a & 0x1f, level = r.a >> 5 & 7;
		size_t ways = (r.b >> 22) + 1, partitions = (r.b >> 12 & 0x3ff) + 1;
		unsigned int line = (r.b & 0xfff) + 1;
		size_t size = ways * partitions * line * ((size_t)r.c + 1);

		if (!type)
			return;
		geometry->line = line;
		if (level == 1 && type != CODE)
			geometry->l1d = size;
		if (level == 1 && type != DATA)
			geometry->l1i = size;
		if (level == 2 && type != CODE)
			geometry->l2 = size;
		if (level >= 2 && type == BOTH)
			geometry->llc = size;
	}
}

static void read_amd_caches(struct geometry *geometry)
{
	struct registers l1 = ask_cpuid(0x80000005, 0), l2 = ask_cpuid(0x80000006, 0);

	if (!l1.c)
		return;
	geometry->line = l1.c & 0xff;
	geometry->l1d = (size_t)(l1.c >> 24) << 10;
	geometry->l1i = (size_t)(l1.d >> 24) << 10;
	geometry->l2 = (size_t)(l2.c >> 16) << 10;
	geometry->llc = l2.d >> 18 ? (size_t)(l2.d >> 18) << 19 : geometry->l2;
}

/* Reads the last level of the TLBs, for pages of 4 KiB. */
static void read_amd_tlbs(struct geometry *geometry)
{
	struct registers l1 = ask_cpuid(0x80000005, 0), l2 = ask_cpuid(0x80000006, 0);

	geometry->dtlb = l2.b >> 16 & 0xfff ? l2.b >> 16 & 0xfff : l1.b >> 16 & 0xff;
	geometry->itlb = l2.b & 0xfff ? l2.b & 0xfff : l1.b & 0xff;
}

static void read_tlbs(struct geometry *geometry)
{
	enum { DATA = 1, CODE = 2, BOTH = 3, SMALL_PAGES = 1 };
	unsigned int last = ask_cpuid(0x18, 0).a;

	for (unsigned int i = 0; i <= last && i < 64; i++) {
		struct registers r = ask_cpuid(0x18, i);
		unsigned int type = r.d & 0x1f, entries = (r.b >> 16) * r.c;

		if (!(r.b & SMALL_PAGES))
			continue;
		if ((type == DATA || type == BOTH) && entries > geometry->dtlb)
			geometry->dtlb = entries;
		if ((type == CODE || type == BOTH) && entries > geometry->itlb)
			geometry->itlb = entries;
	}
}

/* Finds the vector extensions that the processor has and the kernel saves. */
static void read_vectors(struct geometry *geometry)
{
	enum { FMA = 1 << 12, OSXSAVE = 1 << 27, AVX = 1 << 28, YMM_STATE = 6 };
	struct registers r = ask_cpuid(1, 0);
	unsigned int low = 0, high;

	if (r.c & OSXSAVE)
		__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	geometry->has_avx = r.c & AVX && (low & YMM_STATE) == YMM_STATE;
	geometry->has_fma = geometry->has_avx && r.c & FMA;
}

void geometry_find(struct geometry *geometry)
{
	*geometry = (struct geometry){ .page = (unsigned int)sysconf(_SC_PAGESIZE) };
	read_caches(geometry, 4);
	read_tlbs(geometry);
	if (!geometry->l1d)
		read_caches(geometry, 0x8000001d);
	if (!geometry->l1d)
		read_amd_caches(geometry);
	if (!geometry->dtlb)
		read_amd_tlbs(geometry);
	read_vectors(geometry);
}
