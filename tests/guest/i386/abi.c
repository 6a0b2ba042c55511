// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A 32-bit program on the 64-bit kernel: the ABI is the same, to the byte. The program has no C
 * library, so that nothing of another architecture has to be installed to build it. Exit status: 0,
 * or the number of the step that failed.
 */
#include <asm/fcntl.h>
#include <asm/unistd.h>
#include <linux/mman.h>
#include <linux/perfctr.h>

static long call(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int	$0x80"
			 : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return result;
}

_Noreturn static void end(int status)
{
	for (;;)
		call(__NR_exit_group, status, 0, 0);
}

static int step;

static void expect(int holds)
{
	step++;
	if (!holds)
		end(step);
}

static long do_ioctl(int fd, unsigned int number, void *argument)
{
	return call(__NR_ioctl, fd, number, (long)argument);
}

static __u64 rdpmc(__u32 index)
{
	__u64 value;

	__asm__ volatile("rdpmc" : "=A"(value) : "c"(index) : "memory");
	return value;
}

/* As linux/perfctr.h describes it; 64-bit loads in two halves are caught by the recheck. */
static __u64 self_read(const volatile struct perfctr_page_counter *c)
{
	__u64 ticket, value;

	do {
		ticket = c->ticket;
		value = c->bias + rdpmc((__u32)ticket);
	} while (c->recheck != ticket || c->ticket != ticket);
	return value;
}

/* 2 * n instructions and a constant. */
static void __attribute__((noipa)) loop(__u32 n)
{
	__asm__ volatile("1:	dec	%0\n\t"
			 "jnz	1b" : "+r"(n) : : "cc");
}

static __u64 __attribute__((noipa))
page_cost(const volatile struct perfctr_page_counter *c, __u32 n)
{
	__u64 before = self_read(c);

	loop(n);
	return self_read(c) - before;
}

static __u64 read_sum(int fd, __u32 scope, unsigned int i)
{
	static struct perfctr_counts counts;

	counts.size = sizeof(counts);
	counts.scope = scope;
	counts.flags = 0;
	return do_ioctl(fd, PERFCTR_IOC_READ, &counts) == 0 ? counts.counter[i] : ~0ull;
}

static __u64 __attribute__((noipa)) call_cost(int fd, unsigned int i, __u32 n)
{
	__u64 before = read_sum(fd, PERFCTR_SCOPE_SELF, i);

	loop(n);
	return read_sum(fd, PERFCTR_SCOPE_SELF, i) - before;
}

/* The least of several, because reads may be disturbed. */
static __u64 least_page_cost(const volatile struct perfctr_page_counter *c, __u32 n)
{
	__u64 least = ~0ull;

	for (int i = 0; i < 100; i++) {
		__u64 cost = page_cost(c, n);

		if (cost < least)
			least = cost;
	}
	return least;
}

__attribute__((force_align_arg_pointer)) void _start(void)
{
	static struct perfctr_pmu_info info = { .size = sizeof(info) };
	static struct perfctr_open_args request = {
		.size = sizeof(request), .flags = PERFCTR_OPEN_CREATE,
	};
	static struct perfctr_control control = {
		.size = sizeof(control),
		.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS,
		.n_events = 2,
		/* Instructions and branches, of user mode. */
		.event = { { .counter = 1, .evntsel = 0x4100c0 },
			   { .counter = 0, .evntsel = 0x4100c4 } },
	};
	static struct perfctr_counts counts = { .size = sizeof(counts) };
	static struct perfctr_exit_record record = { .size = sizeof(record) };
	/* Address, length, protection, flags, descriptor, offset. */
	static long mapping[] = { 0, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, -1, 0 };
	const volatile struct perfctr_page *page;
	int device, fd, pid;

	device = call(__NR_open, (long)"/dev/perfctr", O_RDWR, 0);
	expect(device >= 0);					/* 1 */
	/* The kernel writes back the sizes that it knows: those of 64-bit programs. */
	expect(do_ioctl(device, PERFCTR_IOC_INFO, &info) == 0);
	expect(info.size == sizeof(info));
	expect(info.abi_version == PERFCTR_ABI_VERSION);
	fd = do_ioctl(device, PERFCTR_IOC_OPEN, &request);
	expect(fd >= 0);					/* 5 */
	expect(do_ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
	expect(do_ioctl(fd, PERFCTR_IOC_READ, &counts) == 0);
	expect(counts.size == sizeof(counts));
	expect(counts.n_counters == 2);
	expect(counts.flags == (PERFCTR_COUNTS_STARTED | PERFCTR_COUNTS_CONSISTENT)); /* 10 */

	mapping[4] = fd;
	page = (void *)call(__NR_mmap, (long)mapping, 0, 0);
	expect((unsigned long)page < -4095ul);
	expect(page->size == sizeof(*page));
	expect(page->n_counters == 2);

	/* 1,000 iterations more are 2,000 instructions and 1,000 branches more. */
	expect(call_cost(fd, 0, 2000) - call_cost(fd, 0, 1000) == 2000);
	expect(call_cost(fd, 1, 2000) - call_cost(fd, 1, 1000) == 1000); /* 15 */
	expect(least_page_cost(&page->counter[0], 2000) -
	       least_page_cost(&page->counter[0], 1000) == 2000);
	expect(least_page_cost(&page->counter[1], 2000) -
	       least_page_cost(&page->counter[1], 1000) == 1000);

	expect(do_ioctl(fd, PERFCTR_IOC_STOP, 0) == 0);
	expect(call_cost(fd, 0, 1000) == 0);
	expect(do_ioctl(fd, PERFCTR_IOC_START, 0) == 0);	/* 20 */

	pid = call(__NR_fork, 0, 0, 0);
	if (pid == 0)
		end(0);
	expect(pid > 0);
	expect(call(__NR_waitpid, pid, 0, 0) == pid);
	expect(do_ioctl(fd, PERFCTR_IOC_EXIT_RECORD, &record) == 0);
	expect(record.size == sizeof(record));
	expect(record.tid == pid && record.tgid == pid);	/* 25 */
	expect(record.counts.size == sizeof(record.counts));
	for (unsigned int i = 0; i < 2; i++) {
		__u64 sum = read_sum(fd, PERFCTR_SCOPE_CHILDREN, i);

		expect(sum > 0 && sum == record.counts.counter[i]);
	}
	end(0);
}
