// SPDX-License-Identifier: GPL-2.0-only
/* CONTROL and READ of contexts and sessions: the structs are copied in and out here. */
#include <linux/slab.h>
#include "user.h"

/* Are all events of the control within the size that the user gave? */
static bool control_has_size(const struct perfctr_control *control, u32 size)
{
	return control->n_events <= PERFCTR_MAX_COUNTERS &&
	       size >= offsetof(struct perfctr_control, event) +
		       control->n_events * sizeof(control->event[0]);
}

long perfctr_user_control(void __user *user, perfctr_control_fn fn, void *object)
{
	struct perfctr_control *control = kmalloc(sizeof(*control), GFP_KERNEL);
	u32 size;
	int err;

	if (!control)
		return -ENOMEM;
	err = perfctr_get_struct(control, sizeof(*control), user, &size);
	if (!err && !control_has_size(control, size))
		err = -EINVAL;
	if (!err) {
		err = fn(object, control);
		if (err && control->bad_reason &&
		    perfctr_put_struct(user, control, offsetof(struct perfctr_control, event),
				       size))
			err = -EFAULT;
	}
	kfree(control);
	return err;
}

/* The fast path, for a readable struct of this kernel's size. False: take the slow path. */
static bool get_counts(struct perfctr_counts *counts, const struct perfctr_counts __user *user)
{
	const u8 __user *end = (const u8 __user *)(user + 1);
	u8 last;

	if (!user_read_access_begin(user, sizeof(*user)))
		return false;
	unsafe_get_user(counts->size, &user->size, fault);
	unsafe_get_user(counts->scope, &user->scope, fault);
	unsafe_get_user(counts->flags, &user->flags, fault);
	unsafe_get_user(counts->reserved, &user->reserved, fault);
	unsafe_get_user(last, end - 1, fault);
	user_read_access_end();
	return counts->size == sizeof(*counts);
fault:
	user_read_access_end();
	return false;
}

static int get_any_counts(struct perfctr_counts *counts, const void __user *user, u32 *size)
{
	memset(counts, 0, sizeof(*counts));
	return perfctr_get_head(counts, offsetof(struct perfctr_counts, tsc), sizeof(*counts), user,
				size);
}

long perfctr_user_read(void __user *user, u32 max_scope, u32 known, perfctr_counts_fn fn,
		       void *object)
{
	struct perfctr_counts counts = {};
	u32 size = sizeof(counts);
	int err = get_counts(&counts, user) ? 0 : get_any_counts(&counts, user, &size);

	if (err)
		return err;
	if (counts.scope > max_scope || counts.flags & ~known || counts.reserved)
		return -EINVAL;
	counts.size = sizeof(counts);
	counts.n_counters = 0;
	counts.members = 0;
	err = fn(object, &counts);
	return err ?: perfctr_put_struct(user, &counts, sizeof(counts), size);
}
