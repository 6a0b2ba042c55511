/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Root of a container, which is not the root that messages mean.  It has the capabilities of a user
 * namespace, which the kernel does not ask about counts, or it lacks some of the host's.
 */
#ifndef PERFCTR_PRIVILEGE_H
#define PERFCTR_PRIVILEGE_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The inode of the first user namespace: USER_NS_INIT_INO of linux/nsfs.h since Linux 6.18. */
#define PERFCTR_HOST_USER_NAMESPACE 0xEFFFFFFDu

/* Is the caller in another user namespace than the host?  False if /proc does not tell. */
static inline bool perfctr_in_user_namespace(void)
{
	struct stat namespace;

	return stat("/proc/self/ns/user", &namespace) == 0 &&
	       namespace.st_ino != PERFCTR_HOST_USER_NAMESPACE;
}

/* Has the caller CAP_SYS_ADMIN on the host? */
static inline bool perfctr_is_administrator(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	return syscall(SYS_capget, &header, data) == 0 &&
	       data[CAP_SYS_ADMIN / 32].effective & UINT32_C(1) << CAP_SYS_ADMIN % 32 &&
	       !perfctr_in_user_namespace();
}

/* The name of the user to be asked for what needs privilege. */
static inline const char *perfctr_root(void)
{
	bool of_container =
		geteuid() == 0 ? !perfctr_is_administrator() : perfctr_in_user_namespace();

	return of_container ? "root of the host" : "root";
}

#endif
