/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "harness.h"

#define COM1		0x3f8
#define DEBUG_EXIT	0xf4

#define KERNEL_CODE	0x08
#define KERNEL_DATA	0x10
#define TASK		0x28

#define DEMAND_BASE	0xc00000	/* pages that are mapped when code touches them */
#define DEMAND_PAGES	1024
#define PAGE_USER	7		/* present, writable, user */
#define PAGE_LARGE	0x80

#define CPUID_SSE	(1u << 25)	/* leaf 1 EDX */

#define APIC_BASE	0xfee00000
#define APIC_EOI	0xb0
#define APIC_SPURIOUS	0xf0

volatile uint32_t fault_resume;
volatile int fault_vector;
volatile bool demand_paging;
volatile unsigned page_faults, pmi_count, timer_count, pmi_count_at_timer;
volatile struct frame pmi_frame, timer_frame;

extern const struct {
	int vector;
	uint32_t entry;
} stubs[];
extern char interrupt_stack[], trampoline[], trampoline_end[];
void leave_user(void);
void setup(void);
void interrupt(struct frame *frame);

uint64_t gdt[] = {
	0,
	0x00cf9b000000ffff,	/* 0x08: ring 0 code */
	0x00cf93000000ffff,	/* 0x10: ring 0 data */
	0x00cffb000000ffff,	/* 0x18: ring 3 code */
	0x00cff3000000ffff,	/* 0x20: ring 3 data */
	0,			/* 0x28: task state */
};

static uint32_t task_state[26];
static uint64_t idt[256];
static uint32_t page_directory[1024] __attribute__((aligned(4096)));
static volatile uint32_t demand_table[DEMAND_PAGES] __attribute__((aligned(4096)));
static bool failed;

static void outb(uint16_t port, uint8_t value)
{
	asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void print(const char *s)
{
	for (; *s; s++)
		outb(COM1, *s);
}

/* Prints a decimal number. There is no 64-bit division without a library. */
static void print_number(uint64_t n)
{
	char digits[21];
	int i = sizeof(digits) - 1;

	digits[i] = 0;
	do {
		uint32_t high = n >> 32, low = n, rest = high % 10;

		high /= 10;
		asm("divl %2" : "+a"(low), "+d"(rest) : "r"(10u));
		n = (uint64_t)high << 32 | low;
		digits[--i] = '0' + rest;
	} while (n);
	print(digits + i);
}

void check(const char *name, uint64_t expected, uint64_t got)
{
	bool ok = expected == got;

	print(ok ? "ok " : "not ok ");
	print(name);
	print(" expected ");
	print_number(expected);
	print(" got ");
	print_number(got);
	print("\n");
	failed |= !ok;
}

/* If a log has no last line, the runner knows that the test did not come to its end. */
void finish(void)
{
	print("end\n");
	asm volatile("outl %0, %1" : : "a"((uint32_t)failed), "Nd"((uint16_t)DEBUG_EXIT));
	for (;;)
		asm volatile("cli; hlt");
}

static void unexpected(struct frame *frame)
{
	print("not ok unexpected vector ");
	print_number(frame->vector);
	print(" at ");
	print_number(frame->eip);
	print("\n");
	failed = true;
	finish();
}

static bool map_demand_page(void)
{
	uint32_t address;

	asm volatile("mov %%cr2, %0" : "=r"(address));
	if (!demand_paging || address < DEMAND_BASE || address >= DEMAND_BASE + DEMAND_PAGES * 4096)
		return false;
	address &= ~4095;
	demand_table[(address - DEMAND_BASE) / 4096] = address | PAGE_USER;
	page_faults++;
	return true;
}

void unmap_demand_pages(void)
{
	for (int i = 0; i < DEMAND_PAGES; i++)
		demand_table[i] = 0;
	asm volatile("mov %%cr3, %%eax; mov %%eax, %%cr3" : : : "eax", "memory");
}

void interrupt(struct frame *frame)
{
	if (frame->vector == 0x80)
		leave_user();
	if (frame->vector == PMI_VECTOR) {
		pmi_frame = *frame;
		pmi_count++;
		apic_write(APIC_EOI, 0);
		return;
	}
	if (frame->vector == TIMER_VECTOR) {
		timer_frame = *frame;
		timer_count++;
		pmi_count_at_timer = pmi_count;
		apic_write(APIC_EOI, 0);
		return;
	}
	if (frame->vector == 14 && map_demand_page())
		return;
	fault_vector = frame->vector;
	if (!fault_resume)
		unexpected(frame);
	frame->eip = fault_resume;
	fault_resume = 0;
}

void apic_write(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(APIC_BASE + reg) = value;
}

uint32_t apic_read(uint32_t reg)
{
	return *(volatile uint32_t *)(APIC_BASE + reg);
}

static void load_tables(void)
{
	struct {
		uint16_t limit;
		uint32_t base;
	} __attribute__((packed)) gdtr = { sizeof(gdt) - 1, (uint32_t)gdt },
				  idtr = { sizeof(idt) - 1, (uint32_t)idt };
	uint32_t base = (uint32_t)task_state;

	task_state[1] = (uint32_t)interrupt_stack;
	task_state[2] = KERNEL_DATA;
	gdt[TASK / 8] = 0x0000890000000067 | (uint64_t)(base & 0xffffff) << 16 |
			(uint64_t)(base >> 24) << 56;
	for (int i = 0; stubs[i].vector >= 0; i++) {
		/* Ring 3 may use INT3, INTO and INT $0x80. */
		bool user = stubs[i].vector == 3 || stubs[i].vector == 4 ||
			    stubs[i].vector == 0x80;

		idt[stubs[i].vector] = (stubs[i].entry & 0xffff) | KERNEL_CODE << 16 |
				       (uint64_t)(stubs[i].entry & 0xffff0000) << 32 |
				       (user ? 0xee00ull : 0x8e00ull) << 32;
	}
	asm volatile("lgdt %0\n\t"
		     "lidt %1\n\t"
		     "ljmp $0x08, $1f\n"
		     "1:\tmov %2, %%ds\n\t"
		     "mov %2, %%es\n\t"
		     "mov %2, %%ss\n\t"
		     "ltr %3"
		     : : "m"(gdtr), "m"(idtr), "r"(KERNEL_DATA), "r"((uint16_t)TASK) : "memory");
}

/* PSE, and the bits that SSE needs where it exists: OSFXSR, OSXMMEXCPT. */
static uint32_t cr4_bits(void)
{
	uint32_t eax = 1, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return edx & CPUID_SSE ? 0x610 : 0x10;
}

/* Everything but the demand pages is mapped to itself, for ring 3, too. */
static void enable_paging(void)
{
	for (uint32_t i = 0; i < 1024; i++)
		page_directory[i] = i << 22 | PAGE_USER | PAGE_LARGE;
	page_directory[DEMAND_BASE >> 22] = (uint32_t)demand_table | PAGE_USER;
	asm volatile("mov %%cr4, %%eax\n\t"
		     "or %1, %%eax\n\t"
		     "mov %%eax, %%cr4\n\t"
		     "mov %0, %%cr3\n\t"
		     "mov %%cr0, %%eax\n\t"
		     "or $0x80000002, %%eax\n\t"	/* PG, MP */
		     "and $~4, %%eax\n\t"	/* EM */
		     "mov %%eax, %%cr0\n\t"
		     "fninit"
		     : : "r"(page_directory), "r"(cr4_bits()) : "eax", "memory");
}

void setup(void)
{
	load_tables();
	enable_paging();
	outb(0x21, 0xff);	/* only interrupts of the local APIC */
	outb(0xa1, 0xff);
	apic_write(APIC_SPURIOUS, 0x1ff);
}

void start_second_cpu(void)
{
	char *page = (char *)0x8000;

	for (int i = 0; i < trampoline_end - trampoline; i++)
		page[i] = trampoline[i];
	apic_write(APIC_ICR, 0xc4500);	/* INIT to all others */
	for (volatile int i = 0; i < 100000; i++)
		;
	apic_write(APIC_ICR, 0xc4608);	/* start at page 8 */
}

void reset_pmu(void)
{
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0);
	wrmsr(IA32_FIXED_CTR_CTRL, 0);
	for (int i = 0; i < 4; i++) {
		wrmsr(IA32_PERFEVTSEL0 + i, 0);
		wrmsr(IA32_PMC0 + i, 0);
	}
	for (int i = 0; i < 3; i++)
		wrmsr(IA32_FIXED_CTR0 + i, 0);
	wrmsr(IA32_PERF_GLOBAL_OVF_CTRL, 0x70000000f);
	wrmsr(IA32_PERF_GLOBAL_CTRL, 0xf);
}

#define SAFE(insn, output, ...)					\
	do {							\
		fault_vector = NO_FAULT;			\
		asm volatile("movl $1f, fault_resume\n\t"	\
			     insn "\n"				\
			     "1:\tmovl $0, fault_resume"	\
			     : output : __VA_ARGS__ : "memory");	\
	} while (0)

int rdmsr_safe(uint32_t msr, uint64_t *value)
{
	SAFE("rdmsr", "=A"(*value), "c"(msr));
	return fault_vector;
}

int wrmsr_safe(uint32_t msr, uint64_t value)
{
	SAFE("wrmsr", , "c"(msr), "A"(value));
	return fault_vector;
}

int rdpmc_safe(uint32_t counter, uint64_t *value)
{
	SAFE("rdpmc", "=A"(*value), "c"(counter));
	return fault_vector;
}
