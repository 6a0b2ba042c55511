// SPDX-License-Identifier: GPL-2.0-only
/* /sys/kernel/debug/perfctr: statistics of each CPU's counters. A read interrupts no CPU. */
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include "../tree/tree.h"
#include "../machine/percpu.h"
#include "entry.h"

static int perfctr_show(struct seq_file *m, void *unused)
{
	unsigned int cpu;

	seq_printf(m, "family: %s\n", READ_ONCE(perfctr_family));
	seq_printf(m, "contexts: %u\n", perfctr_context_number());
	seq_puts(m, "cpu owner running entries starts loads clears\n");
	for_each_online_cpu(cpu)
		perfctr_cpu_show(m, cpu);
	perfctr_show_holders(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(perfctr);

static struct dentry *file;

void __init perfctr_debugfs_init(void)
{
	file = debugfs_create_file("perfctr", 0400, NULL, NULL, &perfctr_fops);
}

void perfctr_debugfs_exit(void)
{
	debugfs_remove(file);
}
