/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Misses of the modelled caches and TLBs, and mispredicted branches, in ring 3. All counts are
 * worked out by hand from the shape that the option pmu-caches, or CPUID, gives.
 */
#include "code.h"
#include "vendor.h"

#define LINE	64
#define PAGE	4096
#define BUFFER	0x2000000	/* many megabytes, one to one */
#define DEMAND	0xc00000

enum event { MISPREDICTED, L1D, L1I, L2_USES, L2, DTLB, ITLB, N_EVENTS };

static const uint32_t codes[][N_EVENTS] = {
	{ 0xc5, 0x0151, 0x0280, 0x4f2e, 0x412e, 0x0149, 0x0185 },	/* Nehalem */
	{ 0xc5, 0x0045, 0x0081, 0x0f2e, 0x012e, 0, 0x0085 },		/* P6: no event of the TLB for data */
	{ 0xc3, 0x0041, 0x0081, 0x077d, 0x077e, 0x0046, 0x0085 },	/* K7 to family 10H */
	{ 0xc3, 0x0041, 0x0081, 0xff60, 0x0964, 0xf045, 0xff85 },	/* Zen */
};
static const uint32_t *code_of;

/*
 * NetBurst: the ESCR with an event in user mode, and the counter and the CCCR select of its block.
 */
#define CCCR(n)			(0x360 + (n))
#define CCCR_COUNTER(n)		(0x300 + (n))
#define CCCR_RUN(select)	(0x31000 | (select) << 13)
#define ESCR_USER		0x4
#define PEBS_ENABLE		0x3f1
#define PEBS_VERT		0x3f2

static const struct {
	uint32_t escr, detects, select, counter;
} netburst[] = {
	[MISPREDICTED] = { 0x3b8, 0x06000200, 4, 12 },	/* CRU: mispred_branch_retired */
	[L1D] = { 0x3cc, 0x12000200, 5, 12 },		/* CRU: replay_event */
	[L1I] = { 0x3b2, 0x06000200, 0, 0 },		/* BPU_fetch_request: TCMISS */
	[L2_USES] = { 0x3a0, 0x18020e00, 7, 0 },	/* BSQ_cache_reference: RD_2ndL_*, */
	[L2] = { 0x3a0, 0x18020000, 7, 0 },		/* ... RD_2ndL_MISS */
	[DTLB] = { 0x3ac, 0x02000200, 4, 0 },		/* PMH, page_walk_type: DTMISS */
	[ITLB] = { 0x3b6, 0x30000400, 3, 0 },		/* ITLB_reference: MISS */
};
static bool is_netburst;
static uint32_t netburst_counter;

/*
 * The shape of the runner's option: l1d=4/2:l1i=8/4:l2=16/4. Without the option it is the shape in
 * the processor's CPUID.
 */
struct shape {
	uint32_t size, ways;
};
static struct shape l1d = { 4096, 2 }, l1i = { 8192, 4 }, l2 = { 16384, 4 };
static const uint32_t tlb_pages = 64, tlb_ways = 4;

/* EDX rounds of ECX accesses to (EAX), which are ESI bytes apart, from EBX on. */
#define WALK(access)            \
	"1:	mov %ebx, %eax\n"    \
	"	mov %ecx, %edi\n"      \
	"2:	" access "\n"          \
	"	add %esi, %eax\n"      \
	"	dec %edi\n"            \
	"	jnz 2b\n"              \
	"	dec %edx\n"            \
	"	jnz 1b\n"              \
	"	int $0x80\n"

/* Each routine fits into one line: its code is one miss of a cold L1I and one of L2. */
asm(".text\n"
    ".balign 64\n"
    "user_walk:\n"
    WALK("mov (%eax), %ebp\nuser_walked:")
    ".balign 64\n"
    "user_fill:\n"
    WALK("mov %ebp, (%eax)")
    ".balign 64\n"
    "user_flush:\n"		/* EDX loads of a line that is flushed after each */
    "1:	mov (%ebx), %eax\n"
    "	clflush (%ebx)\n"
    "	dec %edx\n"
    "	jnz 1b\n"
    "	int $0x80\n"
    ".balign 64\n"
    "user_string:\n"		/* ECX bytes from EBX on */
    "	mov %ebx, %esi\n"
    "	rep lodsb\n"
    "	int $0x80\n"
    ".balign 64\n"
    "user_locked:\n"		/* EDX pairs of locked additions to two lines of one set, ESI apart */
    "1:	lock incl (%ebx)\n"
    "	lock xadd %eax, (%ebx, %esi)\n"
    "	lock btsl $1, (%ebx, %esi, 2)\n"
    "	dec %edx\n"
    "	jnz 1b\n"
    "	int $0x80\n"
    ".balign 64\n"
    "user_alternating:\n"	/* EDX iterations of a jump that is taken every second time */
    "1:	test $1, %edx\n"
    "	jz 2f\n"
    "2:	dec %edx\n"
    "	jnz 1b\n"
    "	int $0x80\n"
    ".balign 64\n"
    "user_loops:\n"		/* EDX loops of ECX iterations */
    "1:	mov %ecx, %eax\n"
    "2:	dec %eax\n"
    "	jnz 2b\n"
    "	dec %edx\n"
    "	jnz 1b\n"
    "	int $0x80\n"
    ".balign 64\n"
    "user_random:\n"		/* EDX jumps by the sign of a linear congruential generator */
    "	mov $1, %eax\n"
    "1:	imul $1664525, %eax, %eax\n"
    "	add $1013904223, %eax\n"
    "	js 2f\n"
    "2:	dec %edx\n"
    "	jnz 1b\n"
    "	int $0x80\n");
void user_walk(void);
void user_fill(void);
void user_flush(void);
void user_string(void);
void user_locked(void);
void user_alternating(void);
void user_loops(void);
void user_random(void);
extern const char user_walked[];

void second_test(void)
{
}

/*
 * Loads and stores that are replayed after a miss of the first cache are tagged for replay_event.
 */
static void select_netburst(enum event event)
{
	wrmsr(CCCR(netburst_counter), 0);
	netburst_counter = netburst[event].counter;
	wrmsr(PEBS_ENABLE, 0x01000001);
	wrmsr(PEBS_VERT, 3);
	wrmsr(netburst[event].escr, netburst[event].detects | ESCR_USER);
	wrmsr(CCCR_COUNTER(netburst_counter), 0);
	wrmsr(CCCR(netburst_counter), CCCR_RUN(netburst[event].select));
}

static void select(enum event event, uint32_t more)
{
	if (is_netburst) {
		select_netburst(event);
		return;
	}
	wrmsr(evntsel(0), 0);
	wrmsr(counter(0), 0);
	wrmsr(evntsel(0), code_of[event] | USR | EN | more);
}

/* Empties caches and TLBs: only the way to ring 3 fills them. */
static void make_cold(void)
{
	asm volatile("wbinvd\n\t"
		     "mov %%cr3, %%eax\n\t"
		     "mov %%eax, %%cr3" : : : "eax", "memory");
}

/* run_user() and INT do not change the registers. */
static void run(void (*code)(void), uint32_t ebx, uint32_t ecx, uint32_t edx, uint32_t esi)
{
	asm volatile("push %0\n\t"
		     "call run_user\n\t"
		     "add $4, %%esp"
		     : : "a"(code), "b"(ebx), "c"(ecx), "d"(edx), "S"(esi) : "memory", "cc");
}

static uint64_t stop(void)
{
	if (is_netburst) {
		wrmsr(CCCR(netburst_counter), 0);
		return rdmsr(CCCR_COUNTER(netburst_counter));
	}
	wrmsr(evntsel(0), 0);
	return rdmsr(counter(0));
}

struct walk {
	const char *name;
	enum event event;
	uint32_t n, step, rounds, expected;
	void (*code)(void);
	uint32_t from;
};

static void count_walk(const struct walk *w)
{
	if (!code_of[w->event])
		return;
	select(w->event, 0);
	make_cold();
	run(w->code, w->from, w->n, w->rounds, w->step);
	check(w->name, w->expected, stop());
}

static void test_data(void)
{
	uint32_t n = l1d.size / LINE, n2 = l2.size / LINE, apart = l1d.size / l1d.ways;
	uint32_t w = l1d.ways, page_sets = tlb_pages / tlb_ways;
	const struct walk walks[] = {
		{ "l1d.fits", L1D, n, LINE, 3, n, user_walk, BUFFER },
		{ "l1d.fits.l2", L2, n, LINE, 3, n + 1, user_walk, BUFFER },
		{ "l1d.stores", L1D, n, LINE, 3, n, user_fill, BUFFER },
		{ "l1d.twice", L1D, 2 * n, LINE, 3, 6 * n, user_walk, BUFFER },
		{ "l1d.twice.l2_uses", L2_USES, 2 * n, LINE, 3, 6 * n + 1, user_walk, BUFFER },
		{ "l1d.twice.l2", L2, 2 * n, LINE, 3, 2 * n + 1, user_walk, BUFFER },
		{ "l2.twice", L2, 2 * n2, LINE, 2, 4 * n2 + 1, user_walk, BUFFER },
		{ "l1d.set", L1D, w, apart, 10, w, user_walk, BUFFER },
		{ "l1d.set_and_one", L1D, w + 1, apart, 10, 10 * (w + 1), user_walk, BUFFER },
		{ "l1d.set_and_one.stores", L1D, w + 1, apart, 10, 10 * (w + 1), user_fill, BUFFER },
		{ "l1d.same_line", L1D, 16, 4, 10, 1, user_walk, BUFFER },
		{ "l1d.two_lines", L1D, 10, 2 * LINE, 2, 20, user_walk, BUFFER + LINE - 2 },
		{ "l1d.string", L1D, l1d.size, 0, 0, n, user_string, BUFFER },
		{ "dtlb.fits", DTLB, tlb_pages, PAGE + LINE, 3, tlb_pages, user_walk, BUFFER },
		{ "dtlb.five_in_a_set", DTLB, 5 * page_sets, PAGE, 3, 15 * page_sets, user_walk, BUFFER },
		{ "dtlb.set", DTLB, tlb_ways, page_sets * PAGE, 10, tlb_ways, user_walk, BUFFER },
		{ "dtlb.set_and_one", DTLB, tlb_ways + 1, page_sets * PAGE, 10, 10 * (tlb_ways + 1),
		  user_walk, BUFFER },
		{ "dtlb.stores", DTLB, 10, PAGE, 3, 10, user_fill, BUFFER },
		{ "dtlb.two_pages", DTLB, 1, 0, 10, 2, user_walk, BUFFER + PAGE - 2 },
		{ NULL }
	};

	for (const struct walk *walk = walks; walk->name; walk++)
		count_walk(walk);
}

/* A load that faults and starts again misses once. */
static void test_faults(void)
{
	const struct walk walks[] = {
		{ "faults.l1d", L1D, 10, PAGE + LINE, 1, 10, user_walk, DEMAND },
		{ "faults.dtlb", DTLB, 10, PAGE + LINE, 1, 10, user_walk, DEMAND },
		{ NULL }
	};

	for (const struct walk *walk = walks; walk->name; walk++) {
		page_faults = 0;
		unmap_demand_pages();
		demand_paging = true;
		count_walk(walk);
		demand_paging = false;
		check("faults", code_of[walk->event] ? 10 : 0, page_faults);
	}
}

/* Three lines of one set of two ways, if that is the shape. Each one is used twice in a row. */
static void test_locked(void)
{
	uint32_t apart = l1d.size / l1d.ways;

	select(L1D, 0);
	make_cold();
	run(user_locked, BUFFER, 0, 10, apart);
	check("locked", l1d.ways < 3 ? 30 : 3, stop());
}

/* INVLPG makes one page miss, and no other page. */
static void test_invlpg(void)
{
	if (!code_of[DTLB])
		return;
	select(DTLB, 0);
	make_cold();
	run(user_walk, BUFFER, 8, 1, PAGE);
	asm volatile("invlpg (%0)" : : "r"(BUFFER + 3 * PAGE) : "memory");
	run(user_walk, BUFFER, 8, 1, PAGE);
	check("invlpg", 8 + 1, stop());
}

static void test_clflush(void)
{
	uint32_t eax = 1, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	if (!(edx & 1 << 19))
		return;
	select(L1D, 0);
	make_cold();
	run(user_flush, BUFFER, 0, 10, 0);
	check("clflush.l1d", 10, stop());
	select(L2, 0);
	make_cold();
	run(user_flush, BUFFER, 0, 10, 0);
	check("clflush.l2", 10 + 1, stop());
}

static uint8_t *put_jump(uint8_t *at, uint8_t opcode, const uint8_t *to)
{
	*at = opcode;
	*(int32_t *)(at + 1) = to - (at + 5);
	return at + 5;
}

/* Writes n places of code, step bytes apart. Each place jumps to the next one. EDX rounds. */
static void write_chain(uint32_t n, uint32_t step)
{
	uint8_t *at = (uint8_t *)BUFFER;

	for (; --n; at += step)
		put_jump(at, 0xe9, at + step);
	*at++ = 0x4a;			/* dec %edx */
	*at++ = 0x0f;			/* jnz */
	at = put_jump(at, 0x85, (uint8_t *)BUFFER);
	*at++ = 0xcd;			/* int $0x80 */
	*at = 0x80;
}

static void count_chain(const char *name, enum event event, uint32_t n, uint32_t step,
			uint32_t expected)
{
	write_chain(n, step);
	select(event, 0);
	make_cold();
	run((void (*)(void))BUFFER, 0, 0, 3, 0);
	check(name, expected, stop());
}

static void test_code(void)
{
	uint32_t n = l1i.size / LINE, apart = l1i.size / l1i.ways, w = l1i.ways;

	count_chain("l1i.fits", L1I, n, LINE, n);
	count_chain("l1i.twice", L1I, 2 * n, LINE, 6 * n);
	count_chain("l1i.twice.l2_uses", L2_USES, 2 * n, LINE, 6 * n);
	count_chain("l1i.twice.l2", L2, 2 * n, LINE, 2 * n);
	count_chain("l1i.set_and_one", L1I, w + 1, apart, 3 * (w + 1));
	count_chain("itlb.fits", ITLB, tlb_pages, PAGE + LINE, tlb_pages);
	count_chain("itlb.five_in_a_set", ITLB, 80, PAGE, 3 * 80);
}

/*
 * The mispredicted branches of n more, after the same code has run until nothing of it is new. No
 * branch here may differ between the last two runs: it would be part of the history that predicts
 * the next ones.
 */
static uint64_t mispredicted(void (*code)(void), uint32_t inner, uint32_t n)
{
	const volatile uint32_t sizes[] = { n, n, n, n, n, n, n, n, n, 2 * n };
	uint64_t count = 0, before = 0;

	for (int i = 0; i < 10; i++) {
		before = count;
		select(MISPREDICTED, 0);
		run(code, 0, inner, sizes[i], 0);
		count = stop();
	}
	return count - before;
}

/*
 * On NetBurst another event counts the same: retired_mispred_branch_type of TBPU, with conditional
 * branches.
 */
static uint64_t mispredicted_by_type(void)
{
	select(MISPREDICTED, 0);
	wrmsr(0x3c2, 0x0a000400 | ESCR_USER);
	wrmsr(CCCR_COUNTER(4), 0);
	wrmsr(CCCR(4), CCCR_RUN(2));
	run(user_random, 0, 0, 10000, 0);
	wrmsr(CCCR(4), 0);
	return rdmsr(CCCR_COUNTER(4));
}

static void test_branches(void)
{
	uint64_t random;

	check("loop", 0, mispredicted(user_loops, 1, 1000));
	check("alternating", 0, mispredicted(user_alternating, 0, 1000));
	/* The last outcomes show where a short loop ends. In a long loop they are all the same. */
	check("loops_of_3", 0, mispredicted(user_loops, 3, 1000));
	check("loops_of_100", 1000, mispredicted(user_loops, 100, 1000));
	/* Half of the jumps, within four standard deviations of 100 x 10000^(1/2) / 2. */
	select(MISPREDICTED, 0);
	run(user_random, 0, 0, 10000, 0);
	random = stop();
	check("random", 1, random > 5000 - 200 && random < 5000 + 200);
	if (is_netburst) {
		random = mispredicted_by_type();
		check("random.by_type", random, stop());
		check("random.by_type", 1, random > 5000 - 200 && random < 5000 + 200);
	}
}

/* The interrupt comes right after the load, or the iteration, with the 100th miss. */
static void test_overflow(void)
{
	apic_write(APIC_LVTPC, PMI_VECTOR);
	pmi_count = 0;
	select(L1D, INT);
	wrmsr(IA32_A_PMC0, COUNTER_MASK + 1 - 100);
	make_cold();
	run(user_walk, BUFFER, 200, 1, LINE);
	check("overflow.count", 100, stop());
	check("overflow.interrupts", 1, pmi_count);
	check("overflow.after", (uint32_t)user_walked, pmi_frame.eip);
	check("overflow.address", BUFFER + 99 * LINE, pmi_frame.eax);
	apic_write(APIC_LVTPC, PMI_VECTOR);
	select(L1D, INT);
	wrmsr(IA32_A_PMC0, COUNTER_MASK + 1 - 100);
	make_cold();
	run(user_string, BUFFER, 200 * LINE, 0, 0);
	check("overflow.string.count", 100, stop());
	check("overflow.string.interrupts", 2, pmi_count);
	check("overflow.string.address", BUFFER + 99 * LINE + 1, pmi_frame.esi);
}

static void cpuid(uint32_t leaf, uint32_t subleaf, uint32_t *reg)
{
	asm volatile("cpuid" : "=a"(reg[0]), "=b"(reg[1]), "=c"(reg[2]), "=d"(reg[3])
		     : "a"(leaf), "c"(subleaf));
}

/* The shape in CPUID leaf 4 or 8000001DH. */
static struct shape told(uint32_t leaf, uint32_t subleaf)
{
	uint32_t reg[4], ways;

	cpuid(leaf, subleaf, reg);
	ways = (reg[1] >> 22) + 1;
	return (struct shape){ ways * ((reg[1] & 0xfff) + 1) * (reg[2] + 1), ways };
}

static void check_shape(const char *name, const struct shape *expected, struct shape shape)
{
	check(name, expected->size, shape.size);
	check(name, expected->ways, shape.ways);
}

/* A processor with "cpuid" in its name has no option. Then CPUID is right. */
static void find_shape(void)
{
	uint32_t reg[4], leaf = is_amd() ? 0x8000001d : 4;
	bool by_cpuid;

	cpuid(0x80000002, 0, reg);
	by_cpuid = reg[0] == 0x69757063;	/* "cpui" */
	cpuid(leaf & 0x80000000, 0, reg);
	if (reg[0] < leaf)
		return;
	if (by_cpuid) {
		l1d = told(leaf, 0);
		l1i = told(leaf, 1);
		l2 = told(leaf, 2);
	}
	check_shape("cpuid.l1d", &l1d, told(leaf, 0));
	check_shape("cpuid.l1i", &l1i, told(leaf, 1));
	check_shape("cpuid.l2", &l2, told(leaf, 2));
}

void test(void)
{
	uint32_t reg[4], family;

	cpuid(1, 0, reg);
	family = (reg[0] >> 8 & 0xf) + ((reg[0] >> 8 & 0xf) == 0xf ? reg[0] >> 20 & 0xff : 0);
	cpuid(0, 0, reg);
	is_netburst = !is_amd() && family == 0xf;
	code_of = is_amd() ? codes[family >= 0x15 ? 3 : 2] : codes[is_netburst ? 0 : reg[0] >= 0xa ? 0 : 1];
	find_shape();
	test_data();
	test_faults();
	test_locked();
	test_invlpg();
	test_clflush();
	test_code();
	test_branches();
	if (code_of == codes[0] && !is_netburst)
		test_overflow();
}
