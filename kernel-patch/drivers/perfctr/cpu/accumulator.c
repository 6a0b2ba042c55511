// SPDX-License-Identifier: GPL-2.0-only
/* The operations on all accumulators that count: see accumulator.h. */
#include "../machine/percpu.h"
#include "accumulator.h"

static bool has_counter_to_clear(const struct perfctr_cpu *cpu, const struct perfctr_hw_control *hw)
{
	u32 n = hw->n_events;
	u32 i;

	for (i = 0; i < n; i++)
		if (cpu->value[i] > hw->event[i].most)
			return true;
	return false;
}

/*
 * Clears counters that would wrap soon. Counters of kernel mode are running: they are frozen and
 * read again before one is cleared, so that no event is lost.
 */
static noinline bool prevent_wrap_running(struct perfctr_cpu *cpu, struct perfctr_page *page,
					  const struct perfctr_hw_control *hw)
{
	bool forward = true;

	if (hw->counts_kernel) {
		perfctr_cpu_freeze(hw->slots);
		perfctr_read_counters(perfctr_pmu, hw, cpu->value);
		forward = fold_counters_forward(cpu, page, hw);
	}
	prevent_wrap(cpu, hw);
	renew_biases(cpu, page, hw);
	if (hw->counts_kernel)
		perfctr_cpu_thaw();
	return forward;
}

bool perfctr_fold(struct perfctr_cpu *cpu, struct perfctr_page *page,
		  const struct perfctr_hw_control *hw)
{
	bool intact;

	perfctr_read_counters(perfctr_pmu, hw, cpu->value);
	intact = fold_counters_forward(cpu, page, hw);
	if (unlikely(!intact))
		renew_biases(cpu, page, hw);
	if (unlikely(has_counter_to_clear(cpu, hw)))
		intact &= prevent_wrap_running(cpu, page, hw);
	if (unlikely(!intact))
		page->flags |= PERFCTR_PAGE_DISTURBED;
	return intact;
}

/*
 * The CPU is in kernel mode, so counters that count only user mode stand still. If others run, one
 * write of the global enable freezes them all while they are read. Without a global enable the PMU
 * stops counters one by one, which is no better than reading them one by one while they run.
 */
bool perfctr_fold_at_once(struct perfctr_cpu *cpu, struct perfctr_page *page,
			  const struct perfctr_hw_control *hw)
{
	bool freezes = hw->counts_kernel && cpu->running & hw->slots &&
		       perfctr_pmu->features & PERFCTR_FEATURE_GLOBAL_ENABLE;
	bool intact;

	if (freezes)
		perfctr_cpu_freeze(hw->slots);
	intact = perfctr_fold(cpu, page, hw);
	if (freezes)
		perfctr_cpu_thaw();
	return intact;
}

void perfctr_fold_and_clear(struct perfctr_cpu *cpu, struct perfctr_page *page,
			    const struct perfctr_hw_control *hw, u64 slots)
{
	if (hw->counts_kernel)	/* user mode does not run now */
		perfctr_cpu_freeze(hw->slots);
	perfctr_read_counters(perfctr_pmu, hw, cpu->value);
	if (!fold_counters_forward(cpu, page, hw))
		page->flags |= PERFCTR_PAGE_DISTURBED;
	clear_counters(cpu, hw, slots);
	renew_biases(cpu, page, hw);
	if (hw->counts_kernel)
		perfctr_cpu_thaw();
}
