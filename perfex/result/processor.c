// SPDX-License-Identifier: GPL-2.0-or-later
/* Family and model are computed as the Intel SDM describes under CPUID leaf 1. */
#include "processor.h"

#include <cpuid.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HYPERVISOR = 1u << 31, HYPERVISOR_LEAF = 0x40000000 };

bool processor_is_emulated(void)
{
	unsigned int a, b, c = 0, d, name[3];

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HYPERVISOR))
		return false;
	__cpuid(HYPERVISOR_LEAF, a, name[0], name[1], name[2]);
	return memcmp(name, "TCGTCGTCGTCG", sizeof(name)) == 0;
}

void processor_file_name(char *name, size_t size)
{
	unsigned int a = 0, b, c, d, vendor[4] = { 0 };
	unsigned int family, model;

	__cpuid(0, a, vendor[0], vendor[2], vendor[1]);
	__cpuid(1, a, b, c, d);
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 6 || family == 15)
		model += (a >> 16 & 0xf) << 4;
	if (family == 15)
		family += a >> 20 & 0xff;
	snprintf(name, size, "validation-%s%s-%u-%u-%u.json",
		 processor_is_emulated() ? "emulated-" : "", (const char *)vendor, family, model,
		 a & 0xf);
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && !strchr("-.", *name))
			*name = '_';
}
