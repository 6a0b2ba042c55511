/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The room entry/: system calls, and events in the kernel. No other room calls this one. The hooks
 * of the patch call cpu/, machine/uncore.c and tree/page.c directly: see <linux/perfctr_hooks.h>.
 *
 * device.c	/dev/perfctr, the descriptors of contexts, their ioctls; init and exit of the driver
 * holders.c	trees and sessions that hold counters; their revocation by the administrator
 * lifecycle.c	boot, CPU hotplug, suspend, reboot
 * debugfs.c	statistics of each CPU
 * patch/events.c	the patch: births, exits and exec, from hooks in the kernel's code
 * module/events.c	the module: the same, and switches and ticks, from tracepoints
 */
#ifndef _PERFCTR_ENTRY_H
#define _PERFCTR_ENTRY_H

#include <linux/types.h>

struct seq_file;

/*
 * events.c. perfctr_events_init() returns 0, or -EOPNOTSUPP if the module cannot run on this
 * kernel. perfctr_events_exit() requires that no descriptor is left. It may sleep for long.
 */
int perfctr_events_init(void);
void perfctr_events_exit(void);

/*
 * lifecycle.c. perfctr_lifecycle_init() probes the PMU, and registers for hotplug, suspend and
 * reboot. It returns 0 or an errno. A machine without a usable PMU is no error.
 */
int perfctr_lifecycle_init(void);
void perfctr_lifecycle_exit(void);

/*
 * holders.c. These may sleep. perfctr_show_holders() prints the holders that the reader may see.
 * perfctr_stop_holders() is called after perfctr_refuse(true). It returns 0, or -EINTR if the
 * caller was killed.
 */
long perfctr_ioctl_holders(void __user *user);
void perfctr_show_holders(struct seq_file *m);
int perfctr_stop_holders(void);

/* debugfs.c: the file /sys/kernel/debug/perfctr. The driver works without it. */
void perfctr_debugfs_init(void);
void perfctr_debugfs_exit(void);

#endif
