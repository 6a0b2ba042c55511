/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One processor writes code that the other one executes. After the writer has said so, and the
 * other one has executed a serializing instruction, the other one executes the new code (SDM vol.
 * 3A, 9.1.3). Linux relies on this: it changes its code while the machine runs.
 */
#include "harness.h"

#define ROUNDS 500
#define PAGE 4096

/* mov $value, %eax; ret. The value is aligned, so that it changes at once. */
struct function {
	uint8_t unused[3], mov;
	volatile uint32_t value;
	uint8_t ret;
} __attribute__((packed));

/* Two functions in one page, one of which never changes. */
static union {
	struct function function[2];
	uint8_t bytes[PAGE];
} shared_page, own_page __attribute__((aligned(PAGE)));

static struct function *volatile changing;
static volatile uint32_t passes, returned;

static void write_function(struct function *function)
{
	function->mov = 0xb8;
	function->value = 0;
	function->ret = 0xc3;
}

static uint32_t call(struct function *function)
{
	return ((uint32_t (*)(void))&function->mov)();
}

static void serialize(void)
{
	uint32_t eax = 0, ecx = 0;

	asm volatile("cpuid" : "+a"(eax), "+c"(ecx) : : "ebx", "edx", "memory");
}

void second_test(void)
{
	for (;;) {
		serialize();
		returned = call(changing);
		call(&shared_page.function[1]);
		passes++;
	}
}

/* Returns when a pass that began after the call has come to its end. */
static void wait_for_pass(void)
{
	uint32_t first = passes;

	while (passes - first < 2)
		asm volatile("pause");
}

/*
 * After the first write the other processor translates the code again. The second write comes in
 * the middle of that.
 */
static uint32_t wrong_values(struct function *function)
{
	uint32_t wrong = 0;

	changing = function;
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		function->value = 2 * round;
		for (volatile uint32_t delay = round; delay; delay--)
			;
		function->value = 2 * round + 1;
		wait_for_pass();
		wrong += returned != 2 * round + 1;
	}
	return wrong;
}

void test(void)
{
	write_function(&shared_page.function[0]);
	write_function(&shared_page.function[1]);
	write_function(&own_page.function[0]);
	changing = &own_page.function[0];
	start_second_cpu();
	check("modify.shared_page", 0, wrong_values(&shared_page.function[0]));
	check("modify.own_page", 0, wrong_values(&own_page.function[0]));
}
