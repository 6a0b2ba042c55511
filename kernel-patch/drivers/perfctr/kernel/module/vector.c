// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: the interrupt of the counters. The kernel exports no function that would give a
 * module a vector. But the handler of X86_PLATFORM_IPI_VECTOR passes a tracepoint, with interrupts
 * off, before it calls a function that only the kernel can set. So a probe of this tracepoint
 * handles the counters' interrupt.
 *
 * Hyper-V's locks and the clocks of two large machines use this vector, too. The probe is called
 * for their interrupts, and finds no counter that has overflowed. The function of such a clock is
 * called for interrupts of counters, and finds that its time has not come.
 */
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/trace/irq_vectors.h>
#include <xen/xen.h>
#include "../hooks.h"

static void (*vector_fn)(void);
static struct tracepoint *tracepoint;	/* NULL: no interrupts */

static void probe_platform_ipi(void *unused, int vector)
{
	vector_fn();
}

/* As check_probes() of entry/module/events.c. */
static inline void __maybe_unused check_probe(void)
{
	check_trace_callback_type_x86_platform_ipi_entry(probe_platform_ipi);
}

static void find_tracepoint(struct tracepoint *candidate, void *unused)
{
	if (!strcmp(candidate->name, "x86_platform_ipi_entry"))
		tracepoint = candidate;
}

bool perfctr_vector_init(void (*fn)(void))
{
	if (!boot_cpu_has(X86_FEATURE_APIC) || xen_domain() ||
	    GET_APIC_MAXLVT(apic->read(APIC_LVR)) < PERFCTR_APIC_LVTS_WITH_PC)
		return false;
	vector_fn = fn;
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	return tracepoint;
}

bool perfctr_has_vector(void)
{
	return tracepoint;
}

int perfctr_vector_begin(void)
{
	return tracepoint ? tracepoint_probe_register(tracepoint, probe_platform_ipi, NULL) : 0;
}

/* The counters raise no more interrupts. An interrupt that is still pending finds no probe. */
void perfctr_vector_end(void)
{
	if (!tracepoint)
		return;
	tracepoint_probe_unregister(tracepoint, probe_platform_ipi, NULL);
	tracepoint_synchronize_unregister();
}

/*
 * perf_events has written an NMI to APIC_LVTPC at boot, and relies on it. The kernel exports no
 * apic_write().
 */
void perfctr_route_interrupts(bool ours)
{
	if (!ours)
		apic->write(APIC_LVTPC, APIC_DM_NMI);
	else if (tracepoint)
		apic->write(APIC_LVTPC, X86_PLATFORM_IPI_VECTOR);
}
