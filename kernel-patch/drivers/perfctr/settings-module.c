// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: what administrators say in files, by variables that are not exported. The files stay
 * open: who asks later may live in another namespace.
 */
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/namei.h>
#include <linux/notifier.h>
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

static struct path sysfs, modules;	/* and its directory of modules; mnt: NULL, there is none */
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

/* The parameter cannot be written: it is looked at anew when one of the two comes or goes. */
static struct kvm {
	const char *module, *parameter;
	bool gone;		/* or about to go, after which nobody tells that its files have */
} kvms[] = {
	{ "kvm_intel", "module/kvm_intel/parameters/enable_mediated_pmu" },
	{ "kvm_amd", "module/kvm_amd/parameters/enable_mediated_pmu" },
};

static DEFINE_MUTEX(kvm_lock);	/* of who looks */
static bool kvm_changed = true;

static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kvms); i++) {
		if (strcmp(module->name, kvms[i].module))
			continue;
		WRITE_ONCE(kvms[i].gone, event == MODULE_STATE_GOING);
		smp_store_release(&kvm_changed, true);	/* after gone */
	}
	return NOTIFY_OK;
}

static struct notifier_block kvm_notifier = { .notifier_call = module_event };

static void open_directory(const char *name, struct path *path)
{
	if (kern_path(name, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, path))
		*path = (struct path){};
}

void perfctr_settings_open(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		settings[i].file = filp_open(settings[i].name, O_RDONLY, 0);
		if (IS_ERR(settings[i].file) && settings[i].other_name)
			settings[i].file = filp_open(settings[i].other_name, O_RDONLY, 0);
	}
	open_directory("/sys", &sysfs);
	open_directory("/sys/module", &modules);
	register_module_notifier(&kvm_notifier);
}

void perfctr_settings_close(void)
{
	unsigned int i;

	unregister_module_notifier(&kvm_notifier);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!IS_ERR_OR_NULL(settings[i].file))
			fput(settings[i].file);
	path_put(&modules);
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

/* In sysfs: its first character, 0: there is no such file. An error may be of the caller's own. */
static int first_character(const char *name)
{
	struct file *file = file_open_root(&sysfs, name, O_RDONLY, 0);
	loff_t position = 0;
	char found = 0;
	ssize_t n;

	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOENT ? 0 : PTR_ERR(file);
	n = kernel_read(file, &found, sizeof(found), &position);
	fput(file);
	return n < 0 ? n : found;
}

/* Or an error: it is not known. */
static int kvm_is_mediated(void)
{
	int err = 0, first;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kvms); i++) {
		first = READ_ONCE(kvms[i].gone) ? 0 : first_character(kvms[i].parameter);
		if (first == 'Y')
			return true;
		if (first < 0)
			err = first;
	}
	return err;
}

/* Of files that somebody has mounted there nobody tells. */
static bool is_mounted_over(void)
{
	return d_mountpoint(modules.dentry);
}

static void learn_kvm(void)
{
	int found;

	if (!modules.mnt || (!READ_ONCE(kvm_changed) && !is_mounted_over()))
		return;
	mutex_lock(&kvm_lock);
	WRITE_ONCE(kvm_changed, is_mounted_over());	/* when that has ended, too */
	smp_mb();	/* changed before the files: module_event() is told after them */
	found = kvm_is_mediated();
	if (found < 0)
		WRITE_ONCE(kvm_changed, true);
	else
		WRITE_ONCE(mediated, found);
	mutex_unlock(&kvm_lock);
}

void perfctr_learn_settings(void)
{
	int rdpmc = value_of(&settings[RDPMC]);

	/* It is everybody's: a worker, who may read it, does so after each change. */
	if (rdpmc != UNKNOWN)
		WRITE_ONCE(rdpmc_off, rdpmc == 0);
	learn_kvm();
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
