// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Others write to the registers by which a thread is counted. The driver restores the registers at
 * the next tick, and reports that. The registers are those of the manuals, by family.
 */
#include "families.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define TRIES 20

/* A write that stops a counter, or changes its event. */
struct write {
	const char *family; /* the kernel's name for it, or its beginning */
	uint32_t msr;
	uint64_t value;
};

static const struct write writes[] = {
	/* IA32_PERFEVTSEL0, _1, IA32_PERF_GLOBAL_CTRL, IA32_FIXED_CTR_CTRL (SDM volume 4) */
	{ "Intel architectural PerfMon v", 0x186, 0x004100c4 },
	{ "Intel architectural PerfMon v", 0x187, 0 },
	{ "Intel architectural PerfMon v2", 0x38f, 0 },
	{ "Intel architectural PerfMon v2", 0x38d, 0 },
	{ "Intel architectural PerfMon v3", 0x38f, 0 },
	{ "Intel architectural PerfMon v3", 0x38d, 0 },
	{ "Intel architectural PerfMon v4", 0x38f, 0 },
	{ "Intel architectural PerfMon v4", 0x38d, 0 },
	{ "Intel architectural PerfMon v5", 0x38f, 0 },
	{ "Intel architectural PerfMon v5", 0x38d, 0 },
	{ "Intel architectural PerfMon v6", 0x38f, 0 },
	{ "Intel architectural PerfMon v6", 0x1901, 0x004100c4 },
	/* PerfEvtSel0, the enable bit of both, and _1 (SDM volume 4, P6 family) */
	{ "Intel P6", 0x186, 0 },
	{ "Intel P6", 0x187, 0x000100c4 },
	/* PerfEvtSel0 to 3 (AMD's BIOS and kernel developer's guides) */
	{ "AMD K7", 0xc0010000, 0 },
	{ "AMD K7", 0xc0010003, 0x004100c2 },
	{ "AMD K8", 0xc0010000, 0 },
	{ "AMD K8", 0xc0010003, 0x004100c2 },
	{ "AMD family 10h", 0xc0010000, 0 },
	{ "AMD family 10h", 0xc0010003, 0x004100c2 },
	/*
	 * PERF_CTL0 and 5 (the legacy registers are other names); PerfCntrGlobalCtl (AMD's manual,
	 * volume 2)
	 */
	{ "AMD family 15h, core counters", 0xc0010200, 0 },
	{ "AMD family 15h, core counters", 0xc001020a, 0x004100c2 },
	{ "AMD family 17h", 0xc0010000, 0 },
	{ "AMD family 17h, core counters", 0xc001020a, 0x004100c2 },
	{ "AMD family 17h, PerfMonV2", 0xc001020a, 0x004100c2 },
	{ "AMD family 17h, PerfMonV2", 0xc0000301, 0 },
	/* CCCR of counter 12, MSR_IQ_CCCR0, and MSR_CRU_ESCR0, which it looks at (SDM volume 3, table 20-41) */
	{ "Intel NetBurst", 0x36c, 0 },
	{ "Intel NetBurst", 0x3b8, 0 },
	/* CESR (SDM volume 4, Pentium), counter 0 off; the Cyrix has the same */
	{ "Intel Pentium", 0x11, 0 },
	{ "Cyrix MII", 0x11, 0 },
	/* EVNTSEL1 (VIA's data sheet): cycles */
	{ "VIA C3", 0x187, 0x79 },
};

/*
 * MSR numbers may exceed a signed offset of 32 bits, and pread() of a 32-bit program takes no more.
 */
static bool read_msr(int msrs, uint32_t msr, uint64_t *value)
{
	return EXPECT(pread64(msrs, value, sizeof(*value), msr) == sizeof(*value));
}

/* Runs through many ticks, in user mode and on this CPU. */
void run_for_a_while(void)
{
	const clock_t end = clock() + CLOCKS_PER_SEC / 10;

	while (clock() < end)
		for (volatile unsigned int i = 0; i < 100000; i++)
			;
}

/*
 * A switch before the tick restores the register before the driver has noticed. So this tries again
 * until the driver has noticed.
 */
static bool disturb(int msrs, const struct write *w)
{
	const uint64_t before = machine_info().disturbances;

	for (int i = 0; i < TRIES && machine_info().disturbances == before; i++) {
		REQUIRE(pwrite64(msrs, &w->value, sizeof(w->value), w->msr) == sizeof(w->value));
		run_for_a_while();
	}
	return EXPECT(machine_info().disturbances > before);
}

static bool is_put_right(int fd, int msrs, const struct write *w)
{
	struct perfctr_counts first, second;
	uint64_t right, now;

	REQUIRE(read_msr(msrs, w->msr, &right));
	REQUIRE(EXPECT(right != w->value));
	REQUIRE(!(counts_of(fd, PERFCTR_SCOPE_SELF).flags & PERFCTR_COUNTS_DISTURBED));
	REQUIRE(disturb(msrs, w));
	REQUIRE(read_msr(msrs, w->msr, &now));
	REQUIRE(EXPECT_EQUAL(now, right));
	first = counts_of(fd, PERFCTR_SCOPE_SELF);
	REQUIRE(EXPECT(first.flags & PERFCTR_COUNTS_DISTURBED));
	run_for_a_while();
	second = counts_of(fd, PERFCTR_SCOPE_SELF);
	for (uint32_t i = 0; i < first.n_counters; i++)
		REQUIRE(EXPECT(second.counter[i] > first.counter[i]));
	return true;
}

static bool is_of_this_machine(const struct write *w)
{
	return !strncmp(profile.family, w->family, strlen(w->family));
}

/* The thread counts itself: between its write and the tick there need not be a switch. */
bool registers_that_somebody_writes_are_put_right_and_it_is_told(void)
{
	const enum mode mode = profile_has_modes() ? USER : BOTH;
	struct perfctr_control control = control_empty(0);
	int msrs = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC), fd = context_open(0);
	unsigned int n = 0;

	REQUIRE(msrs >= 0 && fd >= 0 && pin(0, 0));
	for (size_t i = 0; i < profile.instructions.n; i++)
		control_add(&control, &profile.instructions.of[i], mode);
	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		if (!is_of_this_machine(&writes[i]))
			continue;
		printf("write   %s: MSR %#x = %#llx\n", profile.name, writes[i].msr,
		       (unsigned long long)writes[i].value);
		REQUIRE(context_control(fd, &control));
		REQUIRE(is_put_right(fd, msrs, &writes[i]));
		n++;
	}
	close(fd);
	close(msrs);
	return EXPECT(n > 0);
}
