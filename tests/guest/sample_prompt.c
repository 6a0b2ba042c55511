// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time stands still while the kernel handles an interrupt. So all samples are taken at once, and
 * perf_events on the same machine takes as many, at the same addresses.
 */
#include "samples.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_SAMPLES 32768

struct addresses {
	uint64_t ip[MOST_SAMPLES];
	size_t n;
};

static void add_address(struct addresses *a, uint64_t ip)
{
	ck_assert_uint_lt(a->n, MOST_SAMPLES);
	a->ip[a->n++] = ip;
}

static void add_prompt(const struct perfctr_sample *sample, void *argument)
{
	ck_assert_uint_eq(sample->late, 0);
	ck_assert_uint_eq(sample->periods, 1);
	/* Except for one at the system call that ends the program. */
	ck_assert(!sample->flags || sample->counter[0] == LOOP_INSTRUCTIONS(SHORT_LOOP));
	add_address(argument, sample->ip);
}

static void take_ours(uint64_t period, struct addresses *a)
{
	struct perfctr_samples_args args = { .room_bytes = 1 << 22 };
	struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("loop"))) };
	struct sampler s;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	set_control(c.fd, with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), period));
	stopped_go(c.pid);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	sampler_take(&s, add_prompt, a);
	sampler_close(&s);
	close(c.fd);
}

#define PERF_PAGES 512

/* A sample is a struct perf_event_header and an address. */
static void read_perf(const struct perf_event_mmap_page *page, struct addresses *a)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	for (uint64_t at = 0; at < head;) {
		struct perf_event_header header;
		uint64_t ip;

		memcpy(&header, data + at % page->data_size, sizeof(header));
		ck_assert_uint_ne(header.type, PERF_RECORD_LOST);
		if (header.type == PERF_RECORD_SAMPLE) {
			memcpy(&ip, data + (at + sizeof(header)) % page->data_size, sizeof(ip));
			add_address(a, ip);
		}
		at += header.size;
	}
}

static void take_perf_s(uint64_t period, struct addresses *a)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
		.sample_type = PERF_SAMPLE_IP,
		.exclude_kernel = 1,
	};
	const size_t bytes = (1 + PERF_PAGES) * 4096;
	pid_t pid = stopped_start(ANY_CPU, COMMAND(program("loop")));
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, 0);
	void *page;

	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_msg(page != MAP_FAILED, "mmap: %s", strerror(errno));
	stopped_go(pid);
	ck_assert_int_eq(wait_for(pid, NULL), pid);
	read_perf(page, a);
	munmap(page, bytes);
	close(fd);
}

START_TEST(perf_events_takes_as_many_samples_at_the_same_addresses)
{
	static const uint64_t periods[] = { 101, 1009, 100003 };
	static struct addresses ours, perf_s;

	write_file("/proc/sys/kernel/perf_event_max_sample_rate", "1000000000");
	write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	for (size_t i = 0; i < ARRAY_SIZE(periods); i++) {
		ours.n = 0;
		perf_s.n = 0;
		take_ours(periods[i], &ours);
		take_perf_s(periods[i], &perf_s);
		ck_assert_uint_eq(ours.n, LOOP_INSTRUCTIONS(SHORT_LOOP) / periods[i]);
		ck_assert_uint_eq(perf_s.n, ours.n);
		ck_assert_mem_eq(perf_s.ip, ours.ip, ours.n * sizeof(ours.ip[0]));
	}
}
END_TEST

PROMPT_SUITE(sample_prompt, perf_events_takes_as_many_samples_at_the_same_addresses)
