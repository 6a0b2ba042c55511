// SPDX-License-Identifier: GPL-2.0-only
/* Permission to count: the rules of perf_events, decided by the kernel's own functions. */
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/security.h>
#include <linux/slab.h>
#include "../compat.h"
#include "../owner.h"

int perfctr_may_count(void)
{
#ifdef PERFCTR_PARANOID_ANY
	/* Debian's level 3. */
	if (perf_paranoid_any() && !capable(CAP_SYS_ADMIN))
		return -EACCES;
#endif
	return security_perf_event_open(PERF_SECURITY_OPEN) ? -EACCES : 0;
}

int perfctr_may_count_kernel(void)
{
	return perfctr_may_count() || perf_allow_kernel() ? -EACCES : 0;
}

int perfctr_may_count_cpus(void)
{
	return perfctr_may_count() || perf_allow_cpu() ? -EACCES : 0;
}

#ifdef CONFIG_SECURITY
/*
 * Security modules identify a descriptor of perf_events by its event, and look only at the label
 * that they have given to the event. So this event has nothing but a label.
 */
int perfctr_label(struct perfctr_owner *owner)
{
	struct perf_event *label = kzalloc(sizeof(*label), GFP_KERNEL_ACCOUNT);
	int err;

	if (!label)
		return -ENOMEM;
	err = security_perf_event_alloc(label);
	if (err)
		kfree(label);
	else
		owner->label = label;
	return err;
}

void perfctr_unlabel(struct perfctr_owner *owner)
{
	if (owner->label)
		security_perf_event_free(owner->label);
	kfree(owner->label);
}
#else
int perfctr_label(struct perfctr_owner *owner)
{
	return 0;
}

void perfctr_unlabel(struct perfctr_owner *owner)
{
}
#endif

int perfctr_may_read(const struct perfctr_owner *owner)
{
	return security_perf_event_read(owner->label) ? -EACCES : 0;
}

int perfctr_may_change(const struct perfctr_owner *owner)
{
	return security_perf_event_write(owner->label) ? -EACCES : 0;
}
