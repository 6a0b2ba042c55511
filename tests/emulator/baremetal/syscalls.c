/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pmu-syscalls=on: system calls by their numbers. */
#include "code.h"
#include "pmu-syscalls.h"

#define SYSENTER_CS	0x174
#define SYSENTER_ESP	0x175
#define SYSENTER_EIP	0x176
#define EFER		0xc0000080
#define EFER_SCE	1
#define STAR		0xc0000081
#define KERNEL_CODE	0x08

/* Each makes one call with the number in its name, which ends run_user(). */
void int_20(void), int_21(void), sysenter_22(void), syscall_23(void), int_24(void), sysenter_25(void);
void int_1022(void), int_1023(void), int_5000(void), int_minus_1(void);
void enter_kernel(void);

asm("int_20:		mov $20, %eax; int $0x80\n"
    "int_21:		mov $21, %eax; int $0x80\n"
    "sysenter_22:	mov $22, %eax; sysenter\n"
    "syscall_23:	mov $23, %eax; syscall\n"
    "int_24:		mov $24, %eax; int $0x80\n"
    "sysenter_25:	mov $25, %eax; sysenter\n"
    "int_1022:		mov $1022, %eax; int $0x80\n"
    "int_1023:		mov $1023, %eax; int $0x80\n"
    "int_5000:		mov $5000, %eax; int $0x80\n"
    "int_minus_1:	mov $-1, %eax; int $0x80\n"
    "enter_kernel:	jmp leave_user\n");

void second_test(void)
{
}

/* Returns the count of a number, or of all if it is negative. */
static uint64_t calls(int number)
{
	uint64_t n = PMU_SYSCALLS_N_OF(rdmsr(PMU_SYSCALLS_HEAD)), sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t entry = rdmsr(PMU_SYSCALLS_LIST + i);

		if (number < 0 || (PMU_SYSCALLS_NUMBER(entry) == (unsigned)number &&
				   PMU_SYSCALLS_ABI(entry) == PMU_SYSCALLS_I386))
			sum += PMU_SYSCALLS_COUNT(entry);
	}
	return sum;
}

static uint64_t all_calls(void)
{
	return calls(-1);
}

#define GATE_OF_RING_0	0x8e00
#define GATE_OF_RING_3	0xee00

static void set_gate_80(uint16_t type)
{
	struct {
		uint16_t limit;
		uint16_t (*gate)[4];
	} __attribute__((packed)) idtr;

	asm volatile("sidt %0" : "=m"(idtr));
	idtr.gate[0x80][2] = type;
}

static void let_ring_3_enter(void)
{
	wrmsr(SYSENTER_CS, KERNEL_CODE);
	wrmsr(SYSENTER_ESP, 0);	/* leave_user has its own */
	wrmsr(SYSENTER_EIP, (uint32_t)enter_kernel);
	wrmsr(EFER, rdmsr(EFER) | EFER_SCE);
	wrmsr(STAR, (uint64_t)KERNEL_CODE << 32 | (uint32_t)enter_kernel);
}

static void test_enabling(void)
{
	run_user(int_20);
	check("no.counter", 0, all_calls());
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_PERFEVTSEL0, INSN | USR | EN);
	run_user(int_20);
	check("global.off", 0, all_calls());
	reset_pmu();
	wrmsr(IA32_PERFEVTSEL0, INSN | EN);
	run_user(int_20);
	check("no.mode", 0, all_calls());
	wrmsr(IA32_PERFEVTSEL0, 0x7f | USR | EN);	/* the PMU does not model this event */
	run_user(int_20);
	check("no.event", 1, calls(20));
	reset_pmu();
	wrmsr(IA32_FIXED_CTR_CTRL, 1);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 1ull << 32);
	run_user(int_20);
	check("fixed", 2, calls(20));
	reset_pmu();
	run_user(int_20);
	check("off.again", 2, all_calls());
}

static void test_numbers(void)
{
	wrmsr(IA32_PERFEVTSEL0, INSN | OS | EN);
	run_user(int_21);
	run_user(int_21);
	run_user(sysenter_22);
	run_user(syscall_23);
	run_user(int_1022);
	run_user(int_1023);
	run_user(int_5000);
	run_user(int_minus_1);
	set_gate_80(GATE_OF_RING_0);
	fault_resume = (uint32_t)sysenter_25;	/* goes on in ring 3 */
	run_user(int_24);
	set_gate_80(GATE_OF_RING_3);
	check("int", 2, calls(21));
	check("sysenter", 1, calls(22));
	check("syscall", 1, calls(23));
	check("faulted", 0, calls(24));
	check("after.fault", 1, calls(25));
	check("largest", 1, calls(1022));
	check("other", 3, calls(PMU_SYSCALLS_OTHER));
	check("all", 2 + 9, all_calls());
	check("magic", PMU_SYSCALLS_MAGIC, PMU_SYSCALLS_MAGIC_OF(rdmsr(PMU_SYSCALLS_HEAD)));
	check("first", PMU_SYSCALLS_ENTRY(PMU_SYSCALLS_I386, 20, 2ull), rdmsr(PMU_SYSCALLS_LIST));
	run_user(int_20);
	check("as.at.head", PMU_SYSCALLS_ENTRY(PMU_SYSCALLS_I386, 20, 2ull), rdmsr(PMU_SYSCALLS_LIST));
	check("behind", 0, rdmsr(PMU_SYSCALLS_MSR + PMU_SYSCALLS_NB_MSRS - 1));
}

void test(void)
{
	check("write", GP, wrmsr_safe(PMU_SYSCALLS_MSR, 0));
	let_ring_3_enter();
	test_enabling();
	test_numbers();
}
