// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: what administrators say in files, by variables that are not exported. The files stay
 * open: who asks later may live in another namespace.
 */
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/printk.h>
#include <linux/string.h>
#include "hooks.h"

#define STRICTEST	3	/* nobody but administrators; nobody at all */
#define UNKNOWN		(-1)

static struct setting {
	const char *name, *other_name;	/* of processors with two kinds of cores */
	int absent;			/* the value when there is no such file */
	int unread;			/* when the caller is kept from reading it */
	struct file *file;
} settings[] = {
	{ "/proc/sys/kernel/perf_event_paranoid", NULL, STRICTEST, STRICTEST },
	{ "/proc/sys/kernel/yama/ptrace_scope", NULL, 0, STRICTEST },
	{ "/sys/bus/event_source/devices/cpu/rdpmc",
	  "/sys/bus/event_source/devices/cpu_core/rdpmc", 1, UNKNOWN },
};

enum { PARANOID, PTRACE_SCOPE, RDPMC };

static struct path sysfs;	/* mnt: NULL, there is none */
static bool rdpmc_off;
static bool mediated;	/* KVM gives its guests the counters, and reserves none */

/* A security module, or a program of the caller's control group, may refuse to read it. */
static int value_of(const struct setting *setting)
{
	char text[16] = "";
	loff_t position = 0;
	int value;

	if (IS_ERR_OR_NULL(setting->file))
		return setting->absent;
	if (kernel_read(setting->file, text, sizeof(text) - 1, &position) <= 0 ||
	    kstrtoint(strim(text), 10, &value))
		return setting->unread;
	return value;
}

void perfctr_settings_open(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		settings[i].file = filp_open(settings[i].name, O_RDONLY, 0);
		if (IS_ERR(settings[i].file) && settings[i].other_name)
			settings[i].file = filp_open(settings[i].other_name, O_RDONLY, 0);
	}
	if (kern_path("/sys", LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &sysfs))
		sysfs = (struct path){};
}

void perfctr_settings_close(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!IS_ERR_OR_NULL(settings[i].file))
			fput(settings[i].file);
	path_put(&sysfs);
}

int perfctr_paranoid(void)
{
	return value_of(&settings[PARANOID]);
}

int perfctr_ptrace_scope(void)
{
	return value_of(&settings[PTRACE_SCOPE]);
}

#define MEDIATED	"/parameters/enable_mediated_pmu"

/* In sysfs: is its first character this one? */
static bool begins_with(const char *name, char wanted)
{
	struct file *file = file_open_root(&sysfs, name, O_RDONLY, 0);
	loff_t position = 0;
	char found = 0;

	if (IS_ERR(file))
		return false;
	kernel_read(file, &found, sizeof(found), &position);
	fput(file);
	return found == wanted;
}

/* It may be loaded at any time. */
static bool kvm_is_mediated(void)
{
	return sysfs.mnt && (begins_with("module/kvm_intel" MEDIATED, 'Y') ||
			     begins_with("module/kvm_amd" MEDIATED, 'Y'));
}

void perfctr_learn_settings(void)
{
	int rdpmc = value_of(&settings[RDPMC]);

	/* It is everybody's: a worker, who may read it, does so after each change. */
	if (rdpmc != UNKNOWN)
		WRITE_ONCE(rdpmc_off, rdpmc == 0);
	WRITE_ONCE(mediated, kvm_is_mediated());
}

bool perfctr_rdpmc_is_off(void)
{
	return READ_ONCE(rdpmc_off);
}

bool perfctr_has_strangers(void)
{
	return READ_ONCE(mediated);
}

bool perfctr_exclude_strangers(void)
{
	bool found = perfctr_has_strangers();

	if (found)
		pr_notice_ratelimited("perfctr: refused while enable_mediated_pmu of KVM is Y\n");
	return !found;
}

/* Nobody was kept away. */
void perfctr_admit_strangers(void)
{
}
