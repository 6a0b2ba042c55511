// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module with the name, and the parameter, of one of KVM's. It stands in for that module on a
 * processor that KVM finds too old for the parameter.
 */
#include <linux/module.h>

static bool enable_mediated_pmu = true;
module_param(enable_mediated_pmu, bool, 0444);

static int __init begin(void)
{
	return 0;
}

static void __exit end(void)
{
}

module_init(begin);
module_exit(end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("What perfctr's tests load in the place of KVM");
