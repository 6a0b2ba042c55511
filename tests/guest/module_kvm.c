// SPDX-License-Identifier: GPL-2.0-or-later
/* The driver as a module, beside a module that has KVM's name and its parameter. */
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * KVM has its parameter only on processors with the feature for it. So another module has KVM's
 * name and parameter.
 */
static void kvm_load(const char *parameters)
{
	const char *file = getenv("PERFCTR_KVM");
	int fd;

	EXPECT(file);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	EXPECT(fd >= 0 && syscall(SYS_finit_module, fd, parameters, 0) == 0);
	close(fd);
}

static void kvm_unload(void)
{
	EXPECT(syscall(SYS_delete_module, "kvm_amd", 0) == 0);
}

START_TEST(nobody_counts_where_kvm_may_give_its_guests_the_counters)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	for (int i = 0; i < 2; i++) {
		kvm_load("enable_mediated_pmu=0");
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		context_control(fd, NULL, 0);
		kvm_unload();
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		context_control(fd, NULL, 0);
		kvm_load("enable_mediated_pmu=1");
		errno = 0;
		ck_assert_int_eq(try_context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) })), -1);
		ck_assert_int_eq(errno, EBUSY);
		expect_holder(PERFCTR_HOLDER_OTHER);
		kvm_unload();
		context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
		context_control(fd, NULL, 0);
	}
	close(fd);
	expect_holder(PERFCTR_HOLDER_NONE);
}
END_TEST

/* The first caller that counts since KVM has been loaded. */
static void count_as_first(void *unused)
{
	(void)unused;
	become_nobody();
	restrict_files();
	EXPECT(open("/sys/module/kvm_amd/parameters/enable_mediated_pmu", O_RDONLY) == -1);
	EXPECT(errno == EACCES);
	EXPECT(try_context_control(context_open(0, PERFCTR_OPEN_CREATE),
				   EVENTS({ 0, USER(INSTRUCTIONS) })) == -1);
	EXPECT(errno == EBUSY);
}

START_TEST(a_caller_that_cannot_read_kvm_s_parameter_does_not_count_either)
{
	kvm_load("enable_mediated_pmu=1");
	in_child(count_as_first, NULL);
	kvm_unload();
}
END_TEST

SUITE(module_kvm, nobody_counts_where_kvm_may_give_its_guests_the_counters,
      a_caller_that_cannot_read_kvm_s_parameter_does_not_count_either)
