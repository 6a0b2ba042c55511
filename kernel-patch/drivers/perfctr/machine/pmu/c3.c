// SPDX-License-Identifier: GPL-2.0-only
/*
 * VIA C3 (data book, appendix A): counter 1 and its event select register, at the addresses of the
 * P6. The time stamp is in the place of counter 0. There are no modes: events count in all modes.
 */
#include <linux/bits.h>
#include <linux/kernel.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/processor.h>
#include "../pmu.h"

#define C3_COUNTER	1		/* index for RDPMC, and slot */
#define C3_BITS		32
#define C3_EVNTSEL	0x187		/* MSRs */
#define C3_PMC		0xc2
#define C3_EVENT	GENMASK(8, 0)
#define C3_INSTRUCTIONS	0x0c0

/* All events that the manual defines. If no event is selected, the counter stops. */
static const u16 c3_events[] = {
	0x079,				/* clocks */
	C3_INSTRUCTIONS,
	0x1c0,				/* instructions and repetitions of string instructions */
};

struct c3_registers {
	u32 evntsel;			/* value of the register */
	u32 selected;			/* its value while the counter is enabled */
	bool enabled;
};

static DEFINE_PER_CPU(struct c3_registers, registers);
static DEFINE_PER_CPU(u32, before);

static int c3_reserve(void)
{
	return perfctr_reserve_evntsels(C3_EVNTSEL, 1);
}

static void c3_release(void)
{
	perfctr_release_evntsels(C3_EVNTSEL, 1);
}

static u32 c3_check(const struct perfctr_control *control, u32 i)
{
	const struct perfctr_event_control *e = &control->event[i];
	u32 k;

	for (k = 0; k < ARRAY_SIZE(c3_events); k++)
		if (e->counter == C3_COUNTER && e->evntsel == c3_events[k])
			return 0;
	return PERFCTR_BAD_ROUTE;
}

static void c3_write_evntsel(struct c3_registers *regs)
{
	u32 evntsel = regs->enabled ? regs->selected : 0;

	if (regs->evntsel != evntsel) {
		regs->evntsel = evntsel;
		wrmsrl(C3_EVNTSEL, evntsel);
	}
}

static void c3_load(const struct perfctr_hw_control *hw)
{
	struct c3_registers *regs = this_cpu_ptr(&registers);

	regs->selected = hw->event[0].evntsel;
	c3_write_evntsel(regs);
}

static void c3_enable(u64 slots)
{
	struct c3_registers *regs = this_cpu_ptr(&registers);

	regs->enabled = slots;
	c3_write_evntsel(regs);
}

static void c3_read(const struct perfctr_hw_control *hw, u64 *value)
{
	value[0] = perfctr_rdpmc(C3_COUNTER);
}

static void c3_clear(u64 slots)
{
	if (slots & BIT_ULL(C3_COUNTER))
		wrmsrl(C3_PMC, 0);
}

static bool c3_intact(u64 slots)
{
	const struct c3_registers *regs = this_cpu_ptr(&registers);
	u64 evntsel;

	rdmsrl(C3_EVNTSEL, evntsel);
	if (evntsel == regs->evntsel)
		return true;
	wrmsrl(C3_EVNTSEL, regs->evntsel);
	return false;
}

static u32 c3_msr_of(u32 slot)
{
	return slot == C3_COUNTER ? C3_PMC : 0;
}

static void c3_silence(void)
{
	memset(this_cpu_ptr(&registers), 0, sizeof(struct c3_registers));
	wrmsrl(C3_EVNTSEL, 0);
	wrmsrl(C3_PMC, 0);
}

static void c3_take_cpu(bool first)
{
	u64 evntsel;

	if (first) {
		rdmsrl(C3_EVNTSEL, evntsel);
		__this_cpu_write(before, evntsel);
	}
	c3_silence();
}

static void c3_give_cpu(void)
{
	c3_silence();
	wrmsrl(C3_EVNTSEL, __this_cpu_read(before));
}

static const struct perfctr_pmu c3_pmu = {
	.family = "VIA C3",
	.pmu = PERFCTR_PMU_VIA_C3,
	.features = PERFCTR_FEATURE_RDPMC | PERFCTR_FEATURE_GLOBAL_ENABLE,
	.n_general = C3_COUNTER + 1,
	.general_bits = C3_BITS,
	.evntsel_allowed = C3_EVENT,
	.counter_msr = C3_PMC,
	.probe_evntsel = C3_INSTRUCTIONS,
	.msr_of = c3_msr_of,
	.reserve = c3_reserve,
	.release = c3_release,
	.check = c3_check,
	.take_cpu = c3_take_cpu,
	.give_cpu = c3_give_cpu,
	.load = c3_load,
	.enable = c3_enable,
	.read = c3_read,
	.clear = c3_clear,
	.intact = c3_intact,
};

/* Models 6 to 9: Samuel to Nehemiah. */
const struct perfctr_pmu *__init perfctr_c3_probe(void)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	if (c->x86_vendor != X86_VENDOR_CENTAUR || c->x86 != 6 || c->x86_model < 6 ||
	    c->x86_model > 9)
		return NULL;
	return &c3_pmu;
}
