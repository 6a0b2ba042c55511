// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events that a counter cannot count according to the processor's manual, and others beside them.
 */
#include "families.h"

#include <sys/ioctl.h>
#include <unistd.h>

/* An event for user mode on one counter, and the reason for its refusal. 0: it is accepted. */
static const struct {
	const char *processor;
	uint32_t counter;
	uint32_t reason;
	uint64_t evntsel;
} cases[] = {
	/* AnyThread also counts what the other logical processor of the core does */
	{ "arch-v3", 0, PERFCTR_BAD_EVNTSEL, 0x0006100c0 },
	{ "arch-v3", PERFCTR_FIXED, PERFCTR_BAD_EVNTSEL, 0x000610000 },
	/* SDM volume 3, tables of events: L1D_CACHE_LD on two counters, INST_RETIRED on all */
	{ "arch", 1, 0, 0x000410140 },
	{ "arch", 2, PERFCTR_BAD_ROUTE, 0x000410140 },
	{ "arch", 2, PERFCTR_BAD_ROUTE, 0x000410f51 },
	{ "arch", 3, 0, 0x0004100c0 },
	/*
	 * OFFCORE_RESPONSE, MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD: another MSR has their meaning
	 */
	{ "arch", 0, PERFCTR_BAD_REGISTER, 0x0004101b7 },
	{ "arch", 0, PERFCTR_BAD_REGISTER, 0x00041100b },
	{ "arch", 0, 0, 0x00041010b },
	/* FP_COMP_OPS_EXE, MUL, MEM_LOAD_RETIRED; B7H means nothing there */
	{ "core2", 0, 0, 0x000410010 },
	{ "core2", 1, PERFCTR_BAD_ROUTE, 0x000410010 },
	{ "core2", 0, PERFCTR_BAD_ROUTE, 0x000410012 },
	{ "core2", 1, 0, 0x000410012 },
	{ "core2", 1, PERFCTR_BAD_ROUTE, 0x0004101cb },
	{ "core2", 0, 0, 0x0004101b7 },
	/* L1D_PEND_MISS, INST_RETIRED.PREC_DIST, CYCLE_ACTIVITY; memory events: one thread on each core */
	{ "haswell", 2, 0, 0x000410148 },
	{ "haswell", 3, PERFCTR_BAD_ROUTE, 0x000410148 },
	{ "haswell", 1, 0, 0x0004101c0 },
	{ "haswell", 0, PERFCTR_BAD_ROUTE, 0x0004101c0 },
	{ "haswell", 2, 0, 0x000410ca3 },
	{ "haswell", 0, PERFCTR_BAD_ROUTE, 0x000410ca3 },
	{ "haswell", 0, 0, 0x0004181d0 },
	{ "haswell", 3, 0, 0x0004101d3 },
	{ "haswell", 0, PERFCTR_BAD_REGISTER, 0x0004101bb },
	{ "haswell", 3, PERFCTR_BAD_REGISTER, 0x0004101cd },
	{ "haswell", 0, 0, 0x0004101c6 },
	/* Erratum BJ122: memory events spoil what the other logical processor counts. */
	{ "snb-smt", 0, PERFCTR_BAD_ERRATUM, 0x0004181d0 },
	{ "snb-smt", 1, PERFCTR_BAD_ERRATUM, 0x0004101d1 },
	{ "snb-smt", 2, PERFCTR_BAD_ERRATUM, 0x0004101d2 },
	{ "snb-smt", 3, PERFCTR_BAD_ERRATUM, 0x0004101d3 },
	{ "snb-smt", 3, 0, 0x0004102d4 },
	{ "snb-smt", 0, PERFCTR_BAD_ROUTE, 0x0004106a3 },
	{ "snb-smt", 0, 0, 0x000410ca3 },
	/* Intel 604224: with TSX_FORCE_ABORT microcode may use counter 3. */
	{ "arch-tfa", 2, 0, 0x0004100c0 },
	{ "arch-tfa", 3, PERFCTR_BAD_ERRATUM, 0x0004100c0 },
	{ "arch-tfa", 4, 0, 0x0004100c0 },
	{ "arch-tfa", PERFCTR_FIXED + 1, 0, 0x000410000 },
	/* FRONTEND_RETIRED from version 4 on, OCR from version 5 on */
	{ "arch-v4", 0, PERFCTR_BAD_REGISTER, 0x0004101c6 },
	{ "arch-v4", 0, 0, 0x00041012a },
	{ "arch-v5", 0, PERFCTR_BAD_REGISTER, 0x00041012a },
	{ "arch-v5", 0, PERFCTR_BAD_REGISTER, 0x0004101c6 },
	/* SDM volume 3, 20.6.8: only the register of counter 0 has EN. */
	{ "p6", 0, PERFCTR_BAD_ENABLE, 0x0000100c0 },
	{ "p6", 1, PERFCTR_BAD_EVNTSEL, 0x0004100c0 },
	{ "p6", 1, 0, 0x0000100c0 },
	{ "p6", 0, PERFCTR_BAD_EVNTSEL, 0x0006100c0 },
	{ "k7", 3, 0, 0x0004100e0 },
	{ "k7", 3, PERFCTR_BAD_EVNTSEL, 0x1004100c0 },
	{ "k7", 4, PERFCTR_BAD_COUNTER, 0x0004100c0 },
	/* Events of the northbridge, which cores share */
	{ "k8", 0, PERFCTR_BAD_ROUTE, 0x0004100e0 },
	{ "k8", 3, PERFCTR_BAD_ROUTE, 0x0004101ff },
	{ "k8", 3, 0, 0x0004100df },
	{ "fam10", 0, PERFCTR_BAD_ROUTE, 0x1004100e9 },
	{ "fam10", 0, 0, 0x1004100c9 },
	/* AMD 42301, 3.24: which counters of family 15h can count an event */
	{ "fam15", 0, PERFCTR_BAD_ROUTE, 0x000410003 },
	{ "fam15", 3, 0, 0x000410003 },
	{ "fam15", 4, PERFCTR_BAD_ROUTE, 0x000410003 },
	{ "fam15", 5, 0, 0x000410100 },
	{ "fam15", 5, PERFCTR_BAD_ROUTE, 0x000411100 },
	{ "fam15", 3, 0, 0x000411100 },
	{ "fam15", 2, 0, 0x000410023 },
	{ "fam15", 3, PERFCTR_BAD_ROUTE, 0x000410023 },
	{ "fam15", 2, 0, 0x000410131 },
	{ "fam15", 2, PERFCTR_BAD_ROUTE, 0x000410331 },
	{ "fam15", 0, 0, 0x100410087 },
	{ "fam15", 1, PERFCTR_BAD_ROUTE, 0x100410087 },
	{ "fam15", 0, PERFCTR_BAD_ROUTE, 0x0004100e0 },
	/* The event that makes two counters one; the bits of hosts and guests */
	{ "zen", 1, PERFCTR_BAD_ROUTE, 0xf004100ff },
	{ "zen", 1, 0, 0xe004100ff },
	{ "zen", 1, 0, 0x0004100e0 },
	{ "zen", 5, PERFCTR_BAD_EVNTSEL, 0x100004100c0 },
	{ "zen", 5, PERFCTR_BAD_EVNTSEL, 0x200004100c0 },
	{ "zen-v2", 6, PERFCTR_BAD_COUNTER, 0x0004100c0 },
};

static bool control_ends_with(int fd, uint32_t counter, uint64_t evntsel, uint32_t reason)
{
	struct perfctr_control control = control_empty(0);
	int status;

	control.n_events = 1;
	control.event[0].counter = counter;
	control.event[0].evntsel = evntsel;
	status = ioctl(fd, PERFCTR_IOC_CONTROL, &control);
	if (!status && !reason)
		return true;
	if (status && reason && errno == EINVAL && control.bad_reason == reason)
		return true;
	printf("0x%llx@%u: reason %u instead of %u\n", (unsigned long long)evntsel, counter,
	       control.bad_reason, reason);
	return false;
}

#define CODES 64 /* of a Pentium's CESR */

/*
 * Marks the codes that a table of lib/event/tables has for each counter: NAME CODE COUNTERS KIND
 * DESCRIPTION
 */
static bool read_table(const char *path, bool has[2][CODES])
{
	char line[512], counters[8];
	FILE *file = fopen(path, "re");
	unsigned int code;
	bool found = false;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*[A-Z0-9_] %x %7s", &code, counters) != 2 || code >= CODES)
			continue;
		found = true;
		has[0][code] |= counters[0] == '0';
		has[1][code] |= counters[0] == '1' || !strcmp(counters, "0-1");
	}
	if (file)
		fclose(file);
	return found;
}

bool is_pentium(void)
{
	return profile_is_of("p5") || profile_is_of("p5mmx");
}

/* The library's tables were transcribed from the manual separately. */
bool pentium_takes_the_codes_of_its_events_and_no_others(void)
{
	bool mmx = profile_is_of("p5mmx");
	bool has[2][CODES] = { 0 }, good = true;
	int fd;

	REQUIRE(read_table("lib/event/tables/p5.tbl", has));
	REQUIRE(!mmx || read_table("lib/event/tables/p5_mmx.tbl", has));
	fd = context_open(0);
	REQUIRE(fd >= 0);
	for (uint32_t counter = 0; counter < 2; counter++)
		for (uint64_t code = 0; code < CODES; code++)
			good &= control_ends_with(fd, counter, code | 0x80,
						  has[counter][code] ? 0 : PERFCTR_BAD_ROUTE);
	close(fd);
	return good;
}

bool counters_that_cannot_count_an_event_are_refused(void)
{
	int fd = context_open(0);
	bool good = EXPECT(fd >= 0);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (profile_is_of(cases[i].processor))
			good &= control_ends_with(fd, cases[i].counter, cases[i].evntsel,
						  cases[i].reason);
	close(fd);
	return good;
}

bool refusals_are_known(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (profile_is_of(cases[i].processor))
			return true;
	return false;
}
