// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex validate: do its benchmarks cause the counts that it expects?  The test executes each benchmark step by step,
 * and looks at every instruction: a second way of counting.
 */
#define _GNU_SOURCE
#include "../../perfex/tools/validate/validate.h"
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ucontext.h>

enum { TRAP_FLAG = 0x100 };

static struct {
	double count[N_QUANTITIES];
	uint64_t entry, end; /* of the kernel; its return address */
	bool inside;
	const uint8_t *last; /* the last instruction */
} trace;

static bool is_register(uint8_t modrm)
{
	return modrm >> 6 == 3;
}

/* Returns the length of a conditional jump in bytes, or 0 if this is none. */
static unsigned int conditional_length(const uint8_t *code)
{
	if (code[0] >= 0x70 && code[0] <= 0x7f)
		return 2;
	return code[0] == 0x0f && code[1] >= 0x80 && code[1] <= 0x8f ? 6 : 0;
}

static void look_at_memory(const uint8_t *code)
{
	const uint8_t *opcode = code + (code[0] == 0x48);
	double *count = trace.count;

	if (opcode[0] == 0x8b && !is_register(opcode[1]))
		count[LOADS]++;
	if (opcode[0] == 0x89 && !is_register(opcode[1]))
		count[STORES]++;
	if (opcode[0] == 0xff && !is_register(opcode[1])) {
		count[LOADS]++;
		count[STORES]++;
	}
	if ((opcode[0] >= 0x50 && opcode[0] <= 0x57) || opcode[0] == 0xe8)
		count[STORES]++;
	if ((opcode[0] >= 0x58 && opcode[0] <= 0x5f) || opcode[0] == 0xc3)
		count[LOADS]++;
}

static void look_at_jump(const uint8_t *code)
{
	double *count = trace.count;
	bool is_indirect = code[0] == 0xff && (code[1] >> 3 & 7) == 4;

	count[CALLS] += code[0] == 0xe8;
	count[RETURNS] += code[0] == 0xc3;
	count[INDIRECT] += is_indirect;
	if (code[0] == 0xe8 || code[0] == 0xc3 || code[0] == 0xe9 || code[0] == 0xeb ||
	    is_indirect) {
		count[BRANCHES]++;
		count[TAKEN]++;
	}
}

static void look_at_instruction(const uint8_t *code)
{
	unsigned int length = trace.last ? conditional_length(trace.last) : 0;

	if (length) {
		trace.count[BRANCHES]++;
		trace.count[CONDITIONAL]++;
		trace.count[code == trace.last + length ? NOT_TAKEN : TAKEN]++;
	}
	/* A repeated string instruction is one instruction, but traps after each repetition. */
	if (code == trace.last && code[0] == 0xf3)
		return;
	trace.last = code;
	trace.count[INSTRUCTIONS]++;
	trace.count[X87] += code[0] >= 0xd8 && code[0] <= 0xdf;
	look_at_jump(code);
	look_at_memory(code);
}

static void take_step(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t at = (uint64_t)registers[REG_RIP];

	if (at == trace.entry && !trace.inside) {
		trace.inside = true;
		memcpy(&trace.end, (const void *)registers[REG_RSP], sizeof(trace.end));
	}
	if (trace.inside && at == trace.end) {
		trace.inside = false;
		registers[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (trace.inside)
		look_at_instruction((const uint8_t *)at);
}

static void step_through(kernel_function *run, uint64_t n, void *memory)
{
	struct sigaction action = { .sa_sigaction = take_step, .sa_flags = SA_SIGINFO }, before;

	memset(&trace, 0, sizeof(trace));
	trace.entry = (uint64_t)run;
	ck_assert_int_eq(sigaction(SIGTRAP, &action, &before), 0);
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" : : : "memory", "cc");
	run(n, memory);
	sigaction(SIGTRAP, &before, NULL);
}

/*
 * Returns true if the benchmark can be executed step by step.  The kernel clears the trap flag at a system call, so the
 * instructions after it would not be seen.
 */
static bool is_stepped(const struct benchmark *benchmark, const struct geometry *geometry)
{
	return !benchmark->user_only && benchmark->run != kernel_sharing &&
	       (!benchmark->needs_avx || geometry->has_avx) &&
	       (!benchmark->needs_fma || geometry->has_fma);
}

/* Returns the number of quantities that were compared. */
static unsigned int check_steps(const struct benchmark *benchmark, void *memory, uint64_t n)
{
	double empty[N_QUANTITIES];
	unsigned int n_checked = 0;

	step_through(benchmarks[EMPTY].run, n, memory);
	memcpy(empty, trace.count, sizeof(empty));
	step_through(benchmark->run, n, memory);
	for (unsigned int q = 0; q <= X87; q++) {
		const struct expectation *e = benchmark_expects(benchmark, q);
		double steps = trace.count[q] - empty[q];

		if (!e || q == MISPREDICTED)
			continue;
		ck_assert_msg(steps == e->per_size * (double)n + e->offset, "%s %llu: %s: %g",
			      benchmark->name, (unsigned long long)n, quantity_names[q], steps);
		n_checked++;
	}
	return n_checked;
}

START_TEST(programs_do_what_the_table_expects_of_them)
{
	struct geometry geometry;
	unsigned int n_checked = 0;

	geometry_find(&geometry);
	for (unsigned int i = EMPTY + 1; i < N_BENCHMARKS; i++) {
		const struct benchmark *benchmark = &benchmarks[i];
		struct workplace workplace = { .geometry = &geometry, .to = -1, .from = -1 };

		if (!is_stepped(benchmark, &geometry))
			continue;
		ck_assert(benchmark->make ? benchmark->make(&workplace) : make_buffer(&workplace));
		n_checked += check_steps(benchmark, workplace.memory, 10);
		n_checked += check_steps(benchmark, workplace.memory, 32);
		workplace_release(&workplace);
	}
	ck_assert_uint_gt(n_checked, 100);
}
END_TEST

START_TEST(a_cycle_goes_through_all_places_and_back)
{
	enum { PLACES = 1000 };
	unsigned int next[PLACES], at = 0;
	bool seen[PLACES] = { 0 };

	make_cycle(next, PLACES);
	for (unsigned int i = 0; i < PLACES; i++) {
		ck_assert_uint_lt(next[at], PLACES);
		ck_assert(!seen[at]);
		seen[at] = true;
		at = next[at];
	}
	ck_assert_uint_eq(at, 0);
}
END_TEST

/* The places that a walk of 30 has touched are not touched again before all the others. */
START_TEST(a_walk_goes_on_where_the_last_one_ended)
{
	const struct geometry geometry = { .line = 64, .page = 4096, .l1d = 4096 };
	struct workplace workplace = { .geometry = &geometry, .to = -1, .from = -1 };
	enum { PLACES = 8 * 4096 / 64 };
	void **cursor, *first;

	ck_assert(make_l1_chase(&workplace));
	cursor = (void **)workplace.memory + 1;
	first = *cursor;
	kernel_chase(30, workplace.memory);
	ck_assert_ptr_ne(*cursor, first);
	kernel_chase(PLACES - 31, workplace.memory);
	ck_assert_ptr_ne(*cursor, first);
	kernel_chase(1, workplace.memory);
	ck_assert_ptr_eq(*cursor, first);
	workplace_release(&workplace);
}
END_TEST

START_TEST(each_quantity_has_a_name_and_a_benchmark)
{
	for (unsigned int q = 0; q < N_QUANTITIES; q++) {
		unsigned int n = 0;

		ck_assert_uint_eq(quantity_find(quantity_names[q]), q);
		for (unsigned int i = 0; i < N_BENCHMARKS; i++) {
			const struct expectation *e = benchmark_expects(&benchmarks[i], q);

			n += e && (e->per_size != 0 || q == TICKS);
		}
		ck_assert_msg(n, "%s", quantity_names[q]);
	}
	ck_assert_uint_eq(quantity_find("nothing"), NO_QUANTITY);
}
END_TEST

/* The loop has no mispredicted branches, so it shows nothing about an event that counts none. */
START_TEST(what_is_never_expected_shows_nothing)
{
	struct observation samples[] = { { 10, 0, 0, 0 }, { 100, 0, 0, 0 }, { 1000, 0, 0, 0 } };
	struct trial trial = { .benchmark = 1, .sample = samples, .n = ARRAY_SIZE(samples) };
	struct validated event = { .registers = "0x4100c5",
				   .quantity = MISPREDICTED,
				   .request.modes = PERFCTR_MODE_USER,
				   .trial = &trial,
				   .n_trials = 1 };

	ck_assert_str_eq(benchmarks[1].name, "loop");
	judge_event(&event);
	ck_assert_int_eq(event.fit.error, CLASS_NONE);
	event.request.modes = PERFCTR_MODE_KERNEL;
	judge_event(&event);
	ck_assert_int_eq(event.fit.error, CLASS_EXACT);
	event.request.modes = PERFCTR_MODE_USER;
	event.quantity = BRANCHES;
	judge_event(&event);
	ck_assert_int_eq(event.fit.error, CLASS_UNKNOWN);
}
END_TEST

/* The event counts no branch in one benchmark, and each branch in the next. */
START_TEST(the_least_factor_may_be_none)
{
	struct observation nothing[] = { { 10, 0, 0, 0 }, { 100, 0, 0, 0 }, { 1000, 0, 0, 0 } };
	struct observation each[] = { { 10, 0, 10, 0 }, { 100, 0, 100, 0 }, { 1000, 0, 1000, 0 } };
	struct trial trials[] = { { .benchmark = 1, .sample = nothing, .n = ARRAY_SIZE(nothing) },
				  { .benchmark = 2, .sample = each, .n = ARRAY_SIZE(each) } };
	struct validated event = { .registers = "0x4100c5",
				   .quantity = BRANCHES,
				   .request.modes = PERFCTR_MODE_USER,
				   .trial = trials,
				   .n_trials = 2 };

	ck_assert_str_eq(benchmarks[2].name, "nops");
	judge_event(&event);
	ck_assert_double_eq_tol(event.least_b, 0, 1e-9);
	ck_assert_double_eq_tol(event.most_b, 1, 1e-9);
}
END_TEST

/* Rounding leaves a small negative number of a sum that is 0.  A benchmark may allow another slope than 1. */
START_TEST(a_slope_other_than_one_is_told_in_words)
{
	static const struct {
		struct fit fit;
		const char *numbers, *words;
	} events[] = {
		{ { .error = CLASS_EXACT, .a = -4.6e-14, .b = 1 },
		  "      0.0  1.000000         0\n", "    branches: trust it\n" },
		{ { .error = CLASS_EXACT, .a = -0.04, .b = 1.00005 },
		  "      0.0  1.000050         0\n", "    branches: trust it\n" },
		{ { .error = CLASS_EXACT, .b = -1e-7, .is_flat = true },
		  "      0.0  0.000000         0\n",
		  "    branches: trust it; b is the slope over the size, where 0 is expected\n" },
		{ { .error = CLASS_EXACT, .b = 0.99 },
		  "      0.0  0.990000         0\n",
		  "    branches: trust it; b is 1 within the uncertainty of the expected count\n" },
		{ { .error = CLASS_OVERHEAD, .a = -1, .b = 1.01, .trust_above = 100 },
		  "     -1.0  1.010000         0\n",
		  "    branches: add 1, or trust above 100; b is 1 within the uncertainty of the\n"
		  "    expected count\n" },
	};
	struct validated event = { .name = "e", .quantity = BRANCHES, .reading = -1, .pair = -1 };
	struct validation validation = { .event = &event, .n = 1 };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		char *text;
		size_t size;
		FILE *file = open_memstream(&text, &size);

		ck_assert_ptr_nonnull(file);
		event.fit = events[i].fit;
		write_validation_text(file, &validation);
		ck_assert_int_eq(fclose(file), 0);
		ck_assert_msg(strstr(text, events[i].numbers), "%zu: %s", i, text);
		ck_assert_msg(strstr(text, events[i].words), "%zu: %s", i, text);
		free(text);
	}
}
END_TEST

TCase *kernels_tests(void)
{
	TCase *tests = tcase_create("kernels");

	/* Each step takes a signal. */
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, programs_do_what_the_table_expects_of_them);
	tcase_add_test(tests, a_cycle_goes_through_all_places_and_back);
	tcase_add_test(tests, a_walk_goes_on_where_the_last_one_ended);
	tcase_add_test(tests, each_quantity_has_a_name_and_a_benchmark);
	tcase_add_test(tests, what_is_never_expected_shows_nothing);
	tcase_add_test(tests, the_least_factor_may_be_none);
	tcase_add_test(tests, a_slope_other_than_one_is_told_in_words);
	return tests;
}
