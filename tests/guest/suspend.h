/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own test of suspend to RAM, which ends when all devices have been suspended: see suspend.c. */
#ifndef TESTS_GUEST_SUSPEND_H
#define TESTS_GUEST_SUSPEND_H

/* Called once, before the first suspend(). */
void suspend_is_a_test(void);
void suspend(void);

#endif
