// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: what administrators say in files, by variables that are not exported. The files stay
 * open: who asks later may live in another namespace.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "hooks.h"

static struct setting {
	const char *name;
	int otherwise;		/* when there is no such file */
	struct file *file;
} settings[] = {
	/* Unknown: nobody but administrators. */
	{ "/proc/sys/kernel/perf_event_paranoid", 3 },
	{ "/proc/sys/kernel/yama/ptrace_scope", 0 },
	{ "/sys/bus/event_source/devices/cpu/rdpmc", 1 },
};

enum { PARANOID, PTRACE_SCOPE, RDPMC };

static bool rdpmc_off;

static int value_of(const struct setting *setting)
{
	char text[16] = "";
	loff_t position = 0;
	int value;

	if (IS_ERR_OR_NULL(setting->file))
		return setting->otherwise;
	if (kernel_read(setting->file, text, sizeof(text) - 1, &position) <= 0 ||
	    kstrtoint(strim(text), 10, &value))
		return setting->otherwise;
	return value;
}

void perfctr_settings_open(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		settings[i].file = filp_open(settings[i].name, O_RDONLY, 0);
}

void perfctr_settings_close(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!IS_ERR_OR_NULL(settings[i].file))
			fput(settings[i].file);
}

int perfctr_paranoid(void)
{
	return value_of(&settings[PARANOID]);
}

int perfctr_ptrace_scope(void)
{
	return value_of(&settings[PTRACE_SCOPE]);
}

void perfctr_learn_settings(void)
{
	WRITE_ONCE(rdpmc_off, value_of(&settings[RDPMC]) == 0);
}

bool perfctr_rdpmc_is_off(void)
{
	return READ_ONCE(rdpmc_off);
}
