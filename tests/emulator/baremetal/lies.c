/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-lie=NAME, on a processor with the same NAME in its brand string. */
#include "code.h"

void second_test(void)
{
}

static const struct lie {
	char name[16];
	int registers, rdpmc;	/* how an access ends */
	bool keeps;		/* a general counter keeps a value written to it */
	bool reads;		/* RDPMC returns the value of the counter */
	bool counts;
	bool fixed_keeps;
} lies[] = {
	{ "none", NO_FAULT, NO_FAULT, true, true, true, true },
	{ "no-registers", GP, GP, false, false, false, false },
	{ "zero-registers", NO_FAULT, NO_FAULT, false, false, false, false },
	{ "rdpmc-faults", NO_FAULT, GP, true, false, true, true },
	{ "rdpmc-zero", NO_FAULT, NO_FAULT, true, false, true, true },
	{ "no-counts", NO_FAULT, NO_FAULT, true, true, false, true },
	{ "no-fixed", NO_FAULT, NO_FAULT, true, true, true, false },
	{ "no-leaf", NO_FAULT, NO_FAULT, true, true, true, true },
	{ "leaf-lost", NO_FAULT, NO_FAULT, true, true, true, true },
	{ "nehalem", NO_FAULT, NO_FAULT, true, true, false, true },
};

static const struct lie *find_lie(void)
{
	union {
		uint32_t reg[4];
		char text[16];
	} brand;
	uint32_t eax = 0x80000002, ecx = 0;

	asm volatile("cpuid" : "+a"(eax), "=b"(brand.reg[1]), "+c"(ecx), "=d"(brand.reg[3]));
	brand.reg[0] = eax;
	brand.reg[2] = ecx;
	for (unsigned i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		unsigned n = 0;

		while (n < 16 && brand.text[n] == lies[i].name[n] && brand.text[n])
			n++;
		if (n == 16 || brand.text[n] == lies[i].name[n])
			return &lies[i];
	}
	return NULL;
}

static uint32_t version(void)
{
	uint32_t eax = 0xa, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return eax & 0xff;
}

static uint64_t instructions(void)
{
	uint64_t before = rdmsr(IA32_PMC0);

	wrmsr(IA32_PERFEVTSEL0, INSN | OS | EN);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1);
	for (volatile int i = 0; i < 100; i++)
		;
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, 0);
	return rdmsr(IA32_PMC0) - before;
}

/* AAK100: the three events are selected and enabled before any other. */
static void cleanse(void)
{
	static const uint32_t events[] = { 0x4300b5, 0x4300d2, 0x4300b1, 0x4300b1 };

	for (int i = 0; i < 4; i++)
		wrmsr(IA32_PERFEVTSEL0 + i, events[i]);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0xf);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	for (int i = 0; i < 4; i++)
		wrmsr(IA32_PERFEVTSEL0 + i, 0);
}

void test(void)
{
	const struct lie *lie = find_lie();
	uint64_t value = 1;

	check("known", 1, lie != NULL);
	if (!lie)
		return;
	check("leaf", lie->name[3] != 'l', version() != 0);
	check("evntsel", lie->registers, wrmsr_safe(IA32_PERFEVTSEL0, 0));
	check("counter", lie->registers, wrmsr_safe(IA32_PMC0, 1234));
	check("capabilities", NO_FAULT, rdmsr_safe(IA32_PERF_CAPABILITIES, &value));
	check("rdpmc", lie->rdpmc, rdpmc_safe(0, &value));
	if (lie->rdpmc == NO_FAULT)
		check("rdpmc.value", lie->reads ? 1234 : 0, value);
	if (lie->registers == GP)
		return;
	check("counter.value", lie->keeps ? 1234 : 0, rdmsr(IA32_PMC0));
	wrmsr(IA32_FIXED_CTR0, 77);
	check("fixed.value", lie->fixed_keeps ? 77 : 0, rdmsr(IA32_FIXED_CTR0));
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	check("counts", lie->counts, instructions() > 300);
	if (lie == &lies[sizeof(lies) / sizeof(lies[0]) - 1]) {
		cleanse();
		check("counts.cleansed", 1, instructions() > 300);
		check("counts.again", 0, instructions());
	}
}
