// SPDX-License-Identifier: GPL-2.0-only
/* Accounts: memory is charged to the caller's cgroup, and the memory of each user is limited. */
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hashtable.h>
#include <linux/lockdep.h>
#include <linux/perfctr.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "hooks.h"
#include "owner.h"
#include "parameters.h"

static unsigned int user_kb = 2048;
module_param(user_kb, uint, 0644);
MODULE_PARM_DESC(user_kb, "memory that a user without CAP_PERFMON may have, in KB for each CPU");

/* Limited because all other users have to do without the counters of a session. */
static unsigned int user_session_counters = 2;
module_param(user_session_counters, uint, 0644);
MODULE_PARM_DESC(user_session_counters, "counters that a user's unprivileged sessions may have");

/* The account of a user. A user with CAP_PERFMON has an account, too, but no limit. */
struct perfctr_account {
	struct hlist_node node;
	kuid_t uid;
	unsigned int owners;		/* this and the next two under accounts_lock */
	u32 session_counters;
	unsigned int session_places;
	atomic_long_t bytes;
};

static DEFINE_HASHTABLE(accounts, 6);
static DEFINE_SPINLOCK(accounts_lock);

static struct perfctr_account *find_account(kuid_t uid)
{
	struct perfctr_account *account;

	lockdep_assert_held(&accounts_lock);
	hash_for_each_possible(accounts, account, node, __kuid_val(uid))
		if (uid_eq(account->uid, uid))
			return account;
	return NULL;
}

/*
 * Returns the user's account, with one more owner. If the user has none, adds *fresh to the table
 * as the account and sets *fresh to NULL. Returns NULL if the user has none and *fresh is NULL.
 */
static struct perfctr_account *find_or_add_account(kuid_t uid, struct perfctr_account **fresh)
{
	struct perfctr_account *account;

	spin_lock(&accounts_lock);
	account = find_account(uid);
	if (!account && *fresh) {
		account = *fresh;
		*fresh = NULL;
		hash_add(accounts, &account->node, __kuid_val(uid));
	}
	if (account)
		account->owners++;
	spin_unlock(&accounts_lock);
	return account;
}

/* NULL: no memory. */
static struct perfctr_account *get_account(kuid_t uid)
{
	struct perfctr_account *fresh = NULL, *account = find_or_add_account(uid, &fresh);

	if (account)
		return account;
	fresh = kzalloc(sizeof(*fresh), GFP_KERNEL_ACCOUNT);
	if (!fresh)
		return NULL;
	fresh->uid = uid;
	account = find_or_add_account(uid, &fresh);
	kfree(fresh);	/* not NULL if another thread of the user has added one meanwhile */
	return account;
}

static void put_account(struct perfctr_account *account)
{
	spin_lock(&accounts_lock);
	if (!--account->owners) {
		hash_del(&account->node);
		kfree(account);
	}
	spin_unlock(&accounts_lock);
}

static long user_limit(void)
{
	return (long)min_t(u64, (u64)READ_ONCE(user_kb) * 1024 * num_online_cpus(), LONG_MAX);
}

int perfctr_charge(struct perfctr_owner *owner, size_t bytes)
{
	atomic_long_t *all = &owner->account->bytes;

	if (atomic_long_add_return(bytes, all) > user_limit() && !owner->privileged) {
		atomic_long_sub(bytes, all);
		return -EMFILE;
	}
	owner->bytes += bytes;
	return 0;
}

void perfctr_uncharge(struct perfctr_owner *owner, size_t bytes)
{
	owner->bytes -= bytes;
	atomic_long_sub(bytes, &owner->account->bytes);
}

u32 perfctr_user_session_counters(void)
{
	return READ_ONCE(user_session_counters);
}

int perfctr_take_session_counters(struct perfctr_owner *owner, u32 n)
{
	u32 *all = &owner->account->session_counters;
	u32 had = owner->session_counters;
	int err = 0;

	spin_lock(&accounts_lock);
	if (n > had && *all - had + n > perfctr_user_session_counters()) {
		err = -EMFILE;
	} else {
		*all += n - had;
		owner->session_counters = n;
	}
	spin_unlock(&accounts_lock);
	return err;
}

bool perfctr_take_session_place(struct perfctr_owner *owner, unsigned int n)
{
	bool taken;

	spin_lock(&accounts_lock);
	taken = owner->privileged || owner->account->session_places < n;
	if (taken)
		owner->account->session_places++;
	spin_unlock(&accounts_lock);
	return taken;
}

void perfctr_give_session_place(struct perfctr_owner *owner)
{
	spin_lock(&accounts_lock);
	owner->account->session_places--;
	spin_unlock(&accounts_lock);
}

/*
 * Returns the user whose account is charged for the caller's objects. A user can create a namespace
 * with many ids, see subuid(5): these ids share the creator's account. In a namespace that root has
 * created, such as a container's, each id has an account of its own.
 */
static kuid_t user_who_pays(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_uid();

	for (ns = current_user_ns(); ns != &init_user_ns; ns = ns->parent)
		if (!uid_eq(ns->owner, GLOBAL_ROOT_UID))
			uid = ns->owner;
	return uid;
}

int perfctr_owner_init(struct perfctr_owner *owner, size_t bytes)
{
	int err;

	memset(owner, 0, sizeof(*owner));
	err = perfctr_hooks_get();
	if (err)
		return err;
	owner->account = get_account(user_who_pays());
	if (!owner->account) {
		perfctr_hooks_put();
		return -ENOMEM;
	}
	owner->privileged = perfmon_capable();
	err = perfctr_charge(owner, bytes);
	if (!err)
		err = perfctr_label(owner);
	if (err)
		perfctr_owner_free(owner);
	return err;
}

void perfctr_owner_free(struct perfctr_owner *owner)
{
	if (!owner->account)
		return;
	perfctr_unlabel(owner);
	perfctr_uncharge(owner, owner->bytes);
	put_account(owner->account);
	owner->account = NULL;
	perfctr_hooks_put();
}

void perfctr_opener_init(struct perfctr_opener *opener)
{
	opener->pid = get_pid(task_tgid(current));
	opener->uid = current_uid();
	get_task_comm(opener->comm, current);
}

void perfctr_opener_free(struct perfctr_opener *opener)
{
	put_pid(opener->pid);
}

bool perfctr_opener_is_seen(const struct perfctr_opener *opener)
{
	return perfmon_capable() || uid_eq(opener->uid, current_uid());
}

void perfctr_opener_describe(const struct perfctr_opener *opener, struct perfctr_holder *holder)
{
	holder->pid = pid_nr_ns(opener->pid, task_active_pid_ns(current));
	holder->uid = from_kuid_munged(current_user_ns(), opener->uid);
	memcpy(holder->comm, opener->comm, sizeof(holder->comm));
}
