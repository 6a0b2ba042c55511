/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Structs of user space carry their size in bytes in the first word. perfctr_get_struct() copies
 * the user's struct to arg, which has room for known bytes, and fills the rest of arg with zeros.
 * perfctr_put_struct() copies as much of arg as the user has room for. 0; -EFAULT; -EINVAL: the
 * user's struct is too short; -E2BIG: it is longer than a page, or not zero beyond the known bytes.
 */
#ifndef _PERFCTR_USER_H
#define _PERFCTR_USER_H

#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/perfctr.h>
#include <linux/uaccess.h>

#define PERFCTR_MIN_STRUCT	8u	/* room for the size and one more word */

static inline int perfctr_get_size(const void __user *user, u32 *size)
{
	if (get_user(*size, (const u32 __user *)user))
		return -EFAULT;
	if (*size < PERFCTR_MIN_STRUCT)
		return -EINVAL;
	return *size > PAGE_SIZE ? -E2BIG : 0;
}

static inline int perfctr_get_struct(void *arg, size_t known, const void __user *user, u32 *size)
{
	return perfctr_get_size(user, size) ?: copy_struct_from_user(arg, known, user, *size);
}

/*
 * As perfctr_get_struct(), for a struct of which the driver reads the first head bytes, and only
 * writes the rest. The caller has filled arg with zeros. Also reads the last byte that the driver
 * will write: a struct that ends in unmapped memory is refused before any of it is written.
 */
static inline int perfctr_get_head(void *arg, size_t head, size_t known, const void __user *user,
				   u32 *size)
{
	int err = perfctr_get_size(user, size);
	u8 last;

	if (err)
		return err;
	if (*size > known) {
		err = check_zeroed_user(user + known, *size - known);
		if (err <= 0)
			return err ?: -E2BIG;
	}
	if (copy_from_user(arg, user, min_t(size_t, head, *size)))
		return -EFAULT;
	return get_user(last, (const u8 __user *)user + min_t(size_t, known, *size) - 1);
}

static inline int perfctr_put_struct(void __user *user, const void *arg, size_t known, u32 size)
{
	return copy_to_user(user, arg, min_t(size_t, known, size)) ? -EFAULT : 0;
}

/* May set bad_reason and bad_event of control when it returns an error. */
typedef int (*perfctr_control_fn)(void *object, struct perfctr_control *control);
/*
 * counts is zero except for size, scope and the flags that the user has set. It is copied to the
 * user if fn returns 0.
 */
typedef int (*perfctr_counts_fn)(void *object, struct perfctr_counts *counts);

/*
 * Copies the user's control, and passes it to fn. If fn fails and has set bad_reason, copies the
 * control's head back to the user. 0; -ENOMEM; an error of perfctr_get_struct(); -EINVAL: the
 * user's size does not include all events; an error of fn. May sleep.
 */
long perfctr_user_control(void __user *user, perfctr_control_fn fn, void *object);
/*
 * Copies the user's counts, passes them to fn, and copies them back to the user. 0; an error of
 * perfctr_get_struct(); -EINVAL: the scope is above max_scope, or a flag is not in known; an error
 * of fn. May sleep.
 */
long perfctr_user_read(void __user *user, u32 max_scope, u32 known, perfctr_counts_fn fn,
		       void *object);

#endif
