/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room entry/: system calls, and what the kernel tells. No other room calls it. The hooks of
 * the patch call cpu/, machine/uncore.c and tree/page.c directly: see <linux/perfctr_hooks.h>.
 *
 * device.c	/dev/perfctr, the descriptors of contexts, their ioctls; begins and ends all
 * holders.c	trees and sessions that hold counters, and how the administrator takes them back
 * lifecycle.c	boot, CPU hotplug, suspend, reboot
 * debugfs.c	what each CPU does
 * patch/events.c	births, exits and exec, as the hooks of the patch tell them
 * module/events.c	what tracepoints tell the module
 */
#ifndef _PERFCTR_ENTRY_H
#define _PERFCTR_ENTRY_H

#include <linux/types.h>

struct seq_file;

/* events.c; exit: no descriptor is left */
int perfctr_events_init(void);
void perfctr_events_exit(void);

/* lifecycle.c */
int perfctr_lifecycle_init(void);
void perfctr_lifecycle_exit(void);

/* holders.c */
long perfctr_ioctl_holders(void __user *user);
void perfctr_show_holders(struct seq_file *m);
void perfctr_stop_holders(void);

/* debugfs.c */
void perfctr_debugfs_init(void);
void perfctr_debugfs_exit(void);

#endif
