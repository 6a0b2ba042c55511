/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Late interrupts, by 3, 0 and 7 instructions in turn: pmu-skid=3:0:7. Each test continues the
 * turns where the one before has left off, so that their order matters.
 */
#include "code.h"
#include "vendor.h"

#define EVENT (INSN | INT | EN)

void late_stop(uint32_t msr, uint32_t value);
extern const char late_nops[];
/*
 * Enables counting in ring 0 with a WRMSR of @value to @msr, and disables it. The count is of the
 * WRMSR, 3 NOP and the XOR.
 */
asm("late_stop:\n\t"
    "mov 4(%esp), %ecx\n\t"
    "mov 8(%esp), %eax\n\t"
    "xor %edx, %edx\n\t"
    "wrmsr\n\t"
    "nop\n\tnop\n\tnop\n\t"
    "xor %eax, %eax\n\t"
    "wrmsr\n"
    "late_nops:\n\t"
    ".rept 10\n\tnop\n\t.endr\n\t"
    "ret");

void second_test(void)
{
}

/* Counter @n must overflow with the @period-th event. */
static void set(unsigned n, uint32_t period)
{
	wrmsr(counter(n), COUNTER_MASK + 1 - period);
}

static void prepare(void)
{
	for (unsigned n = 0; n < 2; n++)
		wrmsr(evntsel(n), 0);
	pmi_count = 0;
	apic_write(APIC_LVTPC, PMI_VECTOR);
}

static void check_nops(const char *name, uint32_t eip)
{
	check(name, eip, pmi_frame.eip - (uint32_t)user_nops);
}

static void run_nops(uint32_t period)
{
	prepare();
	set(0, period);
	wrmsr(evntsel(0), EVENT | USR);
	run_user(user_nops);
}

/* Each instruction is one byte long. */
static void test_user(void)
{
	run_nops(5);
	check_nops("user.3", 5 + 3);
	check("user.count", 1, pmi_count);
	check("user.value", 21 - 5, rdpmc(0));
	run_nops(5);
	check_nops("user.0", 5);
	run_nops(6);
	check_nops("user.7", 6 + 7);
}

/* The 19th of 21 instructions overflows the counter. The third one after that is in ring 0. */
static void test_rings(void)
{
	run_nops(19);
	check("rings.waits", 0, pmi_count);
	check("rings.value", 2, rdpmc(0));
	wrmsr(evntsel(0), 0);
	run_user(user_nops);
	check("rings.delivered", 1, pmi_count);
	check_nops("rings.eip", 0);
}

/* The WRMSR that stops the counter is the first instruction after the one that overflows it. */
static void test_stopped(void)
{
	prepare();
	asm volatile("sti");
	set(0, 5);
	late_stop(evntsel(0), EVENT | OS);
	check("stopped.0", -2, (int32_t)(pmi_frame.eip - (uint32_t)late_nops));
	prepare();
	set(0, 5);
	late_stop(evntsel(0), EVENT | OS);
	check("stopped.7", 6, pmi_frame.eip - (uint32_t)late_nops);
	check("stopped.count", 1, pmi_count);
	check("stopped.value", 0, rdpmc(0));
	asm volatile("cli");
}

static void run_two(uint32_t first, uint32_t second)
{
	prepare();
	set(0, first);
	set(1, second);
	wrmsr(evntsel(0), EVENT | USR);
	wrmsr(evntsel(1), EVENT | USR);
	run_user(user_nops);
}

/*
 * The first counter that overflows interrupts last. Nothing interrupts the handler. On Intel's
 * processors the LVT entry is masked by then, and the second interrupt is lost.
 */
static void test_order(void)
{
	run_two(3, 5);
	check_nops("order.eip", 5);
	check("order.count", is_amd() ? 2 : 1, pmi_count);
	check("order.first", 21 - 3, rdpmc(0));
	check("order.second", 21 - 5, rdpmc(1));
	run_two(3, 7);
	check_nops("order.same_eip", 3 + 7);
	check("order.same_count", 1, pmi_count);
}

static uint32_t skid_of_run(void)
{
	run_nops(5);
	return pmi_frame.eip - (uint32_t)user_nops - 5;
}

/* More interrupts than a byte can count. */
static void test_turns(void)
{
	static const uint32_t skids[] = { 3, 0, 7 };
	unsigned wrong = 0;

	for (unsigned i = 0; i < 3 && skid_of_run() != 7; i++)
		;
	for (unsigned i = 0; i < 300; i++)
		wrong += skid_of_run() != skids[i % 3];
	check("turns.wrong", 0, wrong);
}

void test(void)
{
	test_user();
	test_rings();
	test_stopped();
	test_order();
	test_turns();
}
