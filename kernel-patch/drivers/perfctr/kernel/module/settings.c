// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module: the administrator's settings. The kernel does not export their variables, so they are
 * read from files. The files stay open, because a later caller may live in another namespace.
 */
#include <linux/cred.h>
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
#include "../hooks.h"

#define STRICTEST	3	/* of perf_event_paranoid, and of Yama's scope */
#define UNKNOWN		(-1)

static struct setting {
	const char *name, *other_name;	/* of processors with two kinds of cores */
	int absent;			/* the value if there is no such file */
	int unread;			/* the value if the read is refused */
	struct file *file;
} settings[] = {
	{ "/proc/sys/kernel/perf_event_paranoid", NULL, STRICTEST, STRICTEST },
	{ "/proc/sys/kernel/yama/ptrace_scope", NULL, 0, STRICTEST },
	{ "/sys/bus/event_source/devices/cpu/rdpmc",
	  "/sys/bus/event_source/devices/cpu_core/rdpmc", 1, UNKNOWN },
};

enum { PARANOID, PTRACE_SCOPE, RDPMC };

const struct cred *perfctr_kernel_cred;
static struct path sysfs;	/* mnt is NULL if there is none */
static bool rdpmc_off;
static bool mediated;	/* KVM gives its guests the counters, and reserves none */

/* A security module, or a BPF program of the caller's control group, may refuse the read. */
static int read_setting(const struct setting *setting)
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

/* The parameter is read-only: read it again only after one of the modules is loaded or unloaded. */
static struct kvm {
	const char *module, *parameter;
	bool gone;		/* or going: the kernel sends no event after the files are gone */
} kvms[] = {
	{ "kvm_intel", "module/kvm_intel/parameters/enable_mediated_pmu" },
	{ "kvm_amd", "module/kvm_amd/parameters/enable_mediated_pmu" },
};

static DEFINE_MUTEX(kvm_lock);
static atomic_t kvm_events = ATOMIC_INIT(1);
static int kvm_learned;		/* kvm_events for which mediated is valid; written under kvm_lock */

static int handle_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	const struct module *module = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kvms); i++) {
		if (strcmp(module->name, kvms[i].module))
			continue;
		WRITE_ONCE(kvms[i].gone, event == MODULE_STATE_GOING);
		atomic_inc_return_release(&kvm_events);	/* after gone */
	}
	return NOTIFY_OK;
}

static struct notifier_block kvm_notifier = { .notifier_call = handle_module_event };

void perfctr_settings_open(void)
{
	unsigned int i;

	perfctr_kernel_cred = prepare_kernel_cred(&init_task);

	for (i = 0; i < ARRAY_SIZE(settings); i++) {
		settings[i].file = filp_open(settings[i].name, O_RDONLY, 0);
		if (IS_ERR(settings[i].file) && settings[i].other_name)
			settings[i].file = filp_open(settings[i].other_name, O_RDONLY, 0);
	}
	if (kern_path("/sys", LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &sysfs))
		sysfs = (struct path){};
	register_module_notifier(&kvm_notifier);
	/* Read them now, because the first caller may not be able to read the files. */
	perfctr_learn_settings();
}

void perfctr_settings_close(void)
{
	unsigned int i;

	unregister_module_notifier(&kvm_notifier);
	for (i = 0; i < ARRAY_SIZE(settings); i++)
		if (!IS_ERR_OR_NULL(settings[i].file))
			fput(settings[i].file);
	path_put(&sysfs);
	if (perfctr_kernel_cred)
		put_cred(perfctr_kernel_cred);
}

int perfctr_paranoid(void)
{
	return read_setting(&settings[PARANOID]);
}

int perfctr_ptrace_scope(void)
{
	return read_setting(&settings[PTRACE_SCOPE]);
}

/* Returns the first character of a file in sysfs, 0 if there is no such file, or an error. */
static int read_first_character(const char *name)
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

/* Is enable_mediated_pmu set? 1 or 0, or an error if the parameter cannot be read. */
static int is_kvm_mediated(void)
{
	int first = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kvms) && first >= 0 && first != 'Y'; i++)
		first = READ_ONCE(kvms[i].gone) ? 0 : read_first_character(kvms[i].parameter);
	return first == 'Y' ? 1 : min(first, 0);
}

/*
 * Reads the parameter with the kernel's credentials: a caller may have restricted its own, by
 * Landlock. A parameter that cannot be read counts as set, and the next caller reads it again.
 */
static void learn_kvm(void)
{
	const struct cred *caller;
	int events, found;

	/* Pairs with the release below: mediated is valid for these events. */
	if (!sysfs.mnt || smp_load_acquire(&kvm_learned) == atomic_read(&kvm_events))
		return;
	mutex_lock(&kvm_lock);
	events = atomic_read_acquire(&kvm_events);	/* before the files */
	found = -ENOMEM;
	if (perfctr_kernel_cred) {
		caller = override_creds(perfctr_kernel_cred);
		found = is_kvm_mediated();
		revert_creds(caller);
	}
	WRITE_ONCE(mediated, found);
	if (found >= 0)
		smp_store_release(&kvm_learned, events);	/* after mediated */
	mutex_unlock(&kvm_lock);
}

void perfctr_learn_settings(void)
{
	int rdpmc = read_setting(&settings[RDPMC]);

	/* All callers share the value. A worker, which can read it, does so after each change. */
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

/* The module has kept no stranger out. */
void perfctr_admit_strangers(void)
{
}
