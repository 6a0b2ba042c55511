// SPDX-License-Identifier: GPL-2.0-or-later
#include "trees.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int try_control(int fd, uint32_t flags)
{
	struct perfctr_control control = tree_control(flags);

	/* tree_control() has set the flag. */
	if (!(flags & PERFCTR_CONTROL_INHERIT))
		control.flags &= ~(uint32_t)PERFCTR_CONTROL_INHERIT;
	return ioctl(fd, PERFCTR_IOC_CONTROL, &control);
}

int open_tree_of(pid_t pid)
{
	int fd = context_open(pid, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(try_control(fd, PERFCTR_CONTROL_INHERIT), 0);
	return fd;
}

struct perfctr_counts read_tree(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_TREE);
}

struct perfctr_counts read_children(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_CHILDREN);
}

void expect_no_context(pid_t pid)
{
	ck_assert_int_eq(try_context_open(pid, 0), -1);
	ck_assert_int_eq(errno, ENOENT);
}

void expect_contexts(uint32_t n)
{
	for (int i = 0; i < 12000 && pmu_info().n_contexts != n; i++)
		sleep_us(5000);
	ck_assert_uint_eq(pmu_info().n_contexts, n);
}

void give(int event)
{
	uint64_t one = 1;

	EXPECT(write(event, &one, sizeof(one)) == sizeof(one));
}

void take(int event)
{
	uint64_t value;

	EXPECT(read(event, &value, sizeof(value)) == sizeof(value));
}

void *shared_memory(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	return memory;
}

volatile uint64_t *shared_number(void)
{
	return shared_memory(sizeof(uint64_t));
}

void wait_for_more(volatile uint64_t *number, uint64_t n, pid_t pid)
{
	uint64_t before = *number;
	int status;

	while (*number - before < n) {
		ck_assert_msg(waitpid(pid, &status, WNOHANG) == 0, "wait status %#x", status);
		sleep_us(1000);
	}
}
