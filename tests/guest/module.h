/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver as a module, loaded from the file that PERFCTR_MODULE names. */
#ifndef TESTS_GUEST_MODULE_H
#define TESTS_GUEST_MODULE_H

/* Longer than the kernel calls the module after the last count has ended. */
#define SETTLE_US 4000000

/* Returns errno, or 0. */
int try_module_load(const char *parameters);

/* The last users of the module are about to end. */
void module_unload_soon(void);

#endif
