// SPDX-License-Identifier: GPL-2.0-or-later
#include "perf_beside.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/klog.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS 2
#define PERIOD 10007
#define RING_PAGES 256
#define RING_BYTES ((1 + RING_PAGES) * 4096ul)
/* Pause between two turns, and after a refusal. */
#define PAUSE_US 200
#define SYSLOG_ACTION_READ_ALL 3

static struct perf_beside *shared;
static pid_t process;
static int process_fd = -1;
static char loop_path[PATH_MAX];

static int open_event(struct perf_event_attr attr, pid_t pid, int cpu, int leader)
{
	attr.size = sizeof(attr);
	attr.exclude_kernel = 1;
	return syscall(SYS_perf_event_open, &attr, pid, cpu, leader, PERF_FLAG_FD_CLOEXEC);
}

/* A sampled event, and its ring until it is closed. */
struct sampled {
	int fd;
	struct perf_event_mmap_page *ring;
	uint64_t tail, samples;
};

static bool sampled_open(struct sampled *s, pid_t pid, int cpu)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ,
		.disabled = 1,
		.enable_on_exec = cpu < 0,
	};

	*s = (struct sampled){ .fd = open_event(attr, pid, cpu, -1) };
	if (s->fd < 0)
		return false;
	s->ring = mmap(NULL, RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	EXPECT(s->ring != MAP_FAILED);
	return true;
}

static void sampled_close(struct sampled *s)
{
	munmap(s->ring, RING_BYTES);
	close(s->fd);
}

static void copy_record(const struct sampled *s, void *to, size_t size)
{
	const char *data = (const char *)s->ring + s->ring->data_offset;
	uint64_t at = s->tail % s->ring->data_size, first = s->ring->data_size - at;

	first = first < size ? first : size;
	memcpy(to, data + at, first);
	memcpy((char *)to + first, data, size - first);
}

/*
 * Linux starts no counter with less than 2 events to its interrupt (x86_perf_event_set_period()). A
 * program that is switched to 1 event before the end of its period is sampled 1 late.
 */
#define LATEST 1

/* Each sample has the count after a whole number of periods, one more than the sample before. */
static void sampled_take(struct sampled *s, pid_t pid)
{
	uint64_t head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t value;
	} record;

	for (; s->tail < head; s->tail += record.header.size) {
		copy_record(s, &record, sizeof(record));
		EXPECT(record.header.type == PERF_RECORD_SAMPLE);
		EXPECT(record.header.size == sizeof(record));
		s->samples++;
		EXPECT(record.value >= s->samples * PERIOD);
		EXPECT(record.value <= s->samples * PERIOD + LATEST);
		EXPECT(pid < 0 || (record.pid == (uint32_t)pid && record.tid == (uint32_t)pid));
	}
	__atomic_store_n(&s->ring->data_tail, s->tail, __ATOMIC_RELEASE);
}

static uint64_t read_count(int fd)
{
	uint64_t count;

	EXPECT(read(fd, &count, sizeof(count)) == sizeof(count));
	return count;
}

/*
 * Everything that a CPU executes in user mode, counted by three counters that must agree, and
 * sampled by a fourth.
 */
#define SAME_EVENTS 3
struct cpu_events {
	int fd[SAME_EVENTS];
	struct sampled sampled;
	uint64_t last;
};

static void cpu_close(struct cpu_events *c, int n)
{
	while (n--)
		close(c->fd[n]);
}

/* Returns false if perfctr has the counters. */
static bool cpu_open(struct cpu_events *c, int cpu)
{
	/* The emulated machine retires one instruction per cycle. */
	static const struct perf_event_attr same[SAME_EVENTS] = {
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS },
		{ .type = PERF_TYPE_RAW, .config = INSTRUCTIONS },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES },
	};

	c->last = 0;
	for (int i = 0; i < SAME_EVENTS; i++) {
		struct perf_event_attr attr = same[i];

		attr.disabled = !i;
		attr.pinned = !i;
		attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				   PERF_FORMAT_TOTAL_TIME_RUNNING;
		c->fd[i] = open_event(attr, -1, cpu, i ? c->fd[0] : -1);
		if (c->fd[i] < 0) {
			cpu_close(c, i);
			return false;
		}
	}
	if (!sampled_open(&c->sampled, -1, cpu)) {
		cpu_close(c, SAME_EVENTS);
		return false;
	}
	EXPECT(ioctl(c->fd[0], PERF_EVENT_IOC_ENABLE, 0) == 0);
	EXPECT(ioctl(c->sampled.fd, PERF_EVENT_IOC_ENABLE, 0) == 0);
	return true;
}

/* The CPU must have executed at least so many instructions since the last call. */
static void cpu_take(struct cpu_events *c, uint64_t least)
{
	struct {
		uint64_t n, enabled, running, value[SAME_EVENTS];
	} group;

	EXPECT(read(c->fd[0], &group, sizeof(group)) == sizeof(group));
	EXPECT(group.n == SAME_EVENTS && group.enabled && group.enabled == group.running);
	for (int i = 1; i < SAME_EVENTS; i++)
		EXPECT(group.value[i] == group.value[0]);
	EXPECT(group.value[0] >= c->last + least);
	c->last = group.value[0];
	sampled_take(&c->sampled, -1);
}

/* Its count is that of its samples, and less than a period. */
static void cpu_end(struct cpu_events *c)
{
	EXPECT(ioctl(c->sampled.fd, PERF_EVENT_IOC_DISABLE, 0) == 0);
	sampled_take(&c->sampled, -1);
	EXPECT(read_count(c->sampled.fd) / PERIOD == c->sampled.samples);
	sampled_close(&c->sampled);
	cpu_close(c, SAME_EVENTS);
}

static bool machine_open(struct cpu_events machine[CPUS])
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		if (cpu_open(&machine[cpu], cpu))
			continue;
		EXPECT(errno == EBUSY);
		/* A single event keeps perfctr out of all counters. */
		EXPECT(cpu == 0);
		return false;
	}
	return true;
}

static void machine_end(struct cpu_events machine[CPUS])
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		cpu_end(&machine[cpu]);
}

/* The child executes the loop when it reads from the pipe. */
static pid_t start_loop(int cpu, int *go)
{
	int pipe_fd[2];
	char byte;
	pid_t pid;

	EXPECT(pipe(pipe_fd) == 0);
	pid = fork();
	EXPECT(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(0, cpu);
		close(pipe_fd[1]);
		EXPECT(read(pipe_fd[0], &byte, 1) == 1);
		close(pipe_fd[0]);
		execl(loop_path, loop_path, NULL);
		EXPECT(!"the loop was executed");
	}
	close(pipe_fd[0]);
	*go = pipe_fd[1];
	return pid;
}

/* Counts the loop from its first instruction to its last. */
static void count_loop(int cpu)
{
	struct sampled s;
	int status, go;
	pid_t pid = start_loop(cpu, &go);

	EXPECT(sampled_open(&s, pid, -1));
	EXPECT(write(go, "", 1) == 1);
	close(go);
	EXPECT(wait_for(pid, &status) == pid && status == 0);
	sampled_take(&s, pid);
	EXPECT(read_count(s.fd) == LOOP_INSTRUCTIONS(SHORT_LOOP));
	EXPECT(s.samples == LOOP_INSTRUCTIONS(SHORT_LOOP) / PERIOD);
	sampled_close(&s);
}

static void do_round(struct cpu_events machine[CPUS])
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		count_loop(cpu);
		cpu_take(&machine[cpu], LOOP_INSTRUCTIONS(SHORT_LOOP));
	}
	__atomic_add_fetch(&shared->rounds, 1, __ATOMIC_RELEASE);
}

static bool goes_on(uint32_t mode)
{
	return __atomic_load_n(&shared->mode, __ATOMIC_ACQUIRE) == mode &&
	       !__atomic_load_n(&shared->end, __ATOMIC_ACQUIRE);
}

static void take_turn(void)
{
	uint32_t mode = __atomic_load_n(&shared->mode, __ATOMIC_ACQUIRE);
	struct cpu_events machine[CPUS];

	if (!machine_open(machine)) {
		__atomic_add_fetch(&shared->refused, 1, __ATOMIC_RELEASE);
		return;
	}
	do {
		__atomic_store_n(&shared->holds, mode == PERF_ALL_THE_TIME, __ATOMIC_RELEASE);
		do_round(machine);
	} while (mode == PERF_ALL_THE_TIME && goes_on(mode));
	__atomic_store_n(&shared->holds, false, __ATOMIC_RELEASE);
	machine_end(machine);
}

static void count_without_end(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!__atomic_load_n(&shared->end, __ATOMIC_ACQUIRE)) {
		take_turn();
		sleep_us(PAUSE_US);
	}
	_exit(0);
}

/* The kernel must not make interrupts rarer, however much time they take. */
static void keep_period(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_cpu_time_max_percent", "w");

	EXPECT(f && fputs("0", f) >= 0 && fclose(f) == 0);
}

static void find_loop(void)
{
	ssize_t length = readlink("/proc/self/exe", loop_path, PATH_MAX - 1);

	EXPECT(length > 0);
	loop_path[length] = '\0';
	strcpy(strrchr(loop_path, '/') + 1, "loop");
}

void perf_beside_start(void)
{
	if (!getenv("PERF_BESIDE"))
		return;
	keep_period();
	find_loop();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	EXPECT(shared != MAP_FAILED);
	process = fork();
	EXPECT(process >= 0);
	if (!process)
		count_without_end();
	process_fd = syscall(SYS_pidfd_open, process, 0);
	EXPECT(process_fd >= 0);
}

/* "Uhhuh. NMI received for unknown reason": a counter interrupted, and nobody expected it. */
static bool has_unknown_nmi(void)
{
	static char text[1 << 20];
	int n = klogctl(SYSLOG_ACTION_READ_ALL, text, sizeof(text) - 1);

	EXPECT(n >= 0);
	text[n] = '\0';
	return strstr(text, "NMI received for unknown reason");
}

bool perf_beside_finish(void)
{
	int status;

	if (!shared)
		return true;
	__atomic_store_n(&shared->end, 1, __ATOMIC_RELEASE);
	EXPECT(wait_for(process, &status) == process);
	printf("perf_events beside the suites: %u rounds, %u times refused, status %#x\n",
	       shared->rounds, shared->refused, status);
	if (has_unknown_nmi())
		puts("an NMI came for which there was no reason");
	return status == 0 && shared->rounds && !has_unknown_nmi();
}

const volatile struct perf_beside *perf_beside(void)
{
	struct pollfd fd = { .fd = process_fd, .events = POLLIN };

	ck_assert_msg(shared, "PERF_BESIDE is not in the environment");
	ck_assert_msg(poll(&fd, 1, 0) == 0, "perf_events beside the tests has ended");
	return shared;
}

void perf_beside_set(enum perf_beside_mode mode)
{
	perf_beside();
	__atomic_store_n(&shared->mode, mode, __ATOMIC_RELEASE);
	while (perf_beside()->holds != (mode == PERF_ALL_THE_TIME))
		sleep_us(PAUSE_US);
}

void perf_beside_wait(unsigned int n)
{
	uint32_t rounds = perf_beside()->rounds + n + 1;

	while ((int32_t)(perf_beside()->rounds - rounds) < 0)
		sleep_us(PAUSE_US);
}
