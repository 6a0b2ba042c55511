// SPDX-License-Identifier: GPL-2.0-only
/* See cesr.h. CESR has no enable bit: a counter stops when no event is selected for it. */
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/msr.h>
#include "cesr.h"

#define MSR_CESR	0x11
#define MSR_CTR0	0x12
#define HALF_BITS	16

struct cesr_registers {
	u32 cesr;			/* value of the register */
	u16 half[CESR_COUNTERS];	/* each counter's selection while it is enabled */
	u64 enabled;			/* slots */
};

static DEFINE_PER_CPU(struct cesr_registers, registers);
static DEFINE_PER_CPU(u32, before);

static void write_cesr(struct cesr_registers *regs)
{
	u32 cesr = 0;
	u32 n;

	for (n = 0; n < CESR_COUNTERS; n++)
		if (regs->enabled & BIT_ULL(n))
			cesr |= (u32)regs->half[n] << (n * HALF_BITS);
	if (regs->cesr != cesr) {
		regs->cesr = cesr;
		wrmsrl(MSR_CESR, cesr);
	}
}

void perfctr_cesr_load(const struct perfctr_hw_control *hw)
{
	struct cesr_registers *regs = this_cpu_ptr(&registers);
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		regs->half[hw->event[i].slot] = hw->event[i].evntsel;
	write_cesr(regs);
}

void perfctr_cesr_enable(u64 slots)
{
	struct cesr_registers *regs = this_cpu_ptr(&registers);

	regs->enabled = slots;
	write_cesr(regs);
}

bool perfctr_cesr_intact(u64 slots)
{
	const struct cesr_registers *regs = this_cpu_ptr(&registers);
	u64 cesr;

	rdmsrl(MSR_CESR, cesr);
	if (cesr == regs->cesr)
		return true;
	wrmsrl(MSR_CESR, regs->cesr);
	return false;
}

void perfctr_cesr_clear(u64 slots)
{
	u32 n;

	for (n = 0; n < CESR_COUNTERS; n++)
		if (slots & BIT_ULL(n))
			wrmsrl(MSR_CTR0 + n, 0);
}

u32 perfctr_cesr_msr_of(u32 slot)
{
	return slot < CESR_COUNTERS ? MSR_CTR0 + slot : 0;
}

static void cesr_silence(void)
{
	memset(this_cpu_ptr(&registers), 0, sizeof(struct cesr_registers));
	wrmsrl(MSR_CESR, 0);
	perfctr_cesr_clear(~0ull);
}

void perfctr_cesr_take_cpu(bool first)
{
	u64 cesr;

	if (first) {
		rdmsrl(MSR_CESR, cesr);
		__this_cpu_write(before, cesr);
	}
	cesr_silence();
}

void perfctr_cesr_give_cpu(void)
{
	cesr_silence();
	wrmsrl(MSR_CESR, __this_cpu_read(before));
}

void perfctr_cesr_read_msr(const struct perfctr_hw_control *hw, u64 *value)
{
	u32 i;

	for (i = 0; i < hw->n_events; i++)
		rdmsrl(MSR_CTR0 + hw->event[i].slot, value[i]);
}
