// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of rings of samples: which callers may have them, and what happens to the rings and to
 * the programs that are sampled.
 */
#include "samples.h"

#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void expect_refused(int fd, struct perfctr_samples_args args, int error)
{
	ck_assert_int_eq(try_samples(fd, &args), -1);
	ck_assert_int_eq(errno, error);
}

START_TEST(samples_that_cannot_be_are_refused)
{
	const struct perfctr_samples_args good = { .room_bytes = 4096 };
	struct perfctr_sampled sampled = { .size = sizeof(sampled) };
	struct perfctr_consume consume = { .size = sizeof(consume) };
	struct perfctr_samples_args args[] = {
		{ .room_bytes = 4095 },
		{ .room_bytes = 0 },
		{ .room_bytes = PERFCTR_MAX_RING_BYTES + 1 },
		{ .room_bytes = UINT32_MAX },
		{ .room_bytes = 4096, .flags = 1u << 2 },
		{ .room_bytes = 4096, .depth = 1 },
		{ .room_bytes = 4096, .flags = PERFCTR_SAMPLES_CHAIN },
		{ .room_bytes = 4096,
		  .flags = PERFCTR_SAMPLES_CHAIN,
		  .depth = PERFCTR_MAX_DEPTH + 1 },
		{ .room_bytes = 4096, .jitter = 101 },
		{ .room_bytes = 4096, .n_cpus = 1 },
		{ .room_bytes = 4096, .ring_bytes = 1 },
	};
	int fd = context_open(0, PERFCTR_OPEN_CREATE), other;
	struct sampler s;

	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		expect_refused(fd, args[i], EINVAL);
	ck_assert(ioctl(fd, PERFCTR_IOC_SAMPLED, &sampled) == -1 && errno == ENOENT);
	ck_assert(ioctl(fd, PERFCTR_IOC_CONSUME, &consume) == -1 && errno == EINVAL);
	ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, PERFCTR_RING_OFFSET),
			 MAP_FAILED);
	/* A descriptor that has not made the context. */
	other = context_open(0, 0);
	expect_refused(other, good, EPERM);
	s = sampler_open(fd, &good);
	expect_refused(fd, good, EBUSY);
	ck_assert(ioctl(other, PERFCTR_IOC_SAMPLED, &sampled) == -1 && errno == EPERM);
	ck_assert(ioctl(other, PERFCTR_IOC_CONSUME, &consume) == -1 && errno == EPERM);
	ck_assert(mmap(NULL, s.ring_bytes, PROT_READ, MAP_SHARED, other, PERFCTR_RING_OFFSET) ==
			  MAP_FAILED &&
		  errno == EPERM);
	/* Nobody may write to a ring, and a ring is only mapped as a whole. */
	ck_assert(mmap(NULL, s.ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		       PERFCTR_RING_OFFSET) == MAP_FAILED &&
		  errno == EPERM);
	ck_assert(mmap(NULL, s.ring_bytes, PROT_READ, MAP_SHARED, fd, PERFCTR_RING_OFFSET + 4096) ==
			  MAP_FAILED &&
		  errno == EINVAL);
	consume.tail = 1;
	ck_assert(ioctl(fd, PERFCTR_IOC_CONSUME, &consume) == -1 && errno == EINVAL);
	consume = (struct perfctr_consume){ .size = sizeof(consume), .cpu = s.n_cpus };
	ck_assert(ioctl(fd, PERFCTR_IOC_CONSUME, &consume) == -1 && errno == EINVAL);
	sampler_close(&s);
	close(other);
	close(fd);
	/* A context that already counts cannot be sampled. */
	fd = tree_open(0);
	expect_refused(fd, good, EBUSY);
	close(fd);
}
END_TEST

/* Starts a child that has samples until it is killed. Returns 0, or the error if it gets none. */
static int start_sampled_child(pid_t *pid)
{
	struct perfctr_samples_args args = { .room_bytes = 65536 };
	int pipe_of[2], error = 0;

	EXPECT(pipe(pipe_of) == 0);
	*pid = fork();
	if (*pid == 0) {
		int fd = try_context_open(0, PERFCTR_OPEN_CREATE);

		error = fd < 0 || try_samples(fd, &args) < 0 ? errno : 0;
		EXPECT(write(pipe_of[1], &error, sizeof(error)) == sizeof(error));
		pause();
	}
	EXPECT(read(pipe_of[0], &error, sizeof(error)) == sizeof(error));
	close(pipe_of[0]);
	close(pipe_of[1]);
	return error;
}

static void open_as_nobody(void *unused)
{
	struct perfctr_samples_args args = { .room_bytes = 65537 };
	int n = 0, error = 0, fd;
	pid_t child[64];

	(void)unused;
	become_nobody();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(try_samples(fd, &args) == -1 && errno == EACCES);
	close(fd);
	while (n < 64 && !error)
		error = start_sampled_child(&child[n++]);
	EXPECT(error == EMFILE && n > 4 && n < 64);
	/* The memory of closed rings can be had again. */
	kill_and_wait(child[n - 1]);
	kill_and_wait(child[n - 2]);
	EXPECT(start_sampled_child(&child[n - 2]) == 0);
	while (--n > 0)
		kill_and_wait(child[n - 1]);
}

START_TEST(a_user_has_as_much_memory_for_samples_as_is_allowed)
{
	write_file("/sys/module/perfctr/parameters/user_kb", "512");
	in_child(open_as_nobody, NULL);
	write_file("/sys/module/perfctr/parameters/user_kb", "2048");
}
END_TEST

static struct perfctr_control kernel_control(void)
{
	struct perfctr_control control =
		control_of(EVENTS({ 1, USER(BRANCHES) }, { 0, BOTH(INSTRUCTIONS) }));

	control.event[1].period = 100003;
	return control;
}

/*
 * A caller that may not see kernel mode cannot have the rings of one that may. Its own rings do not
 * show kernel mode.
 */
static void map_as_nobody(void *descriptor)
{
	const int *fd = descriptor;
	struct perfctr_sampled sampled = { .size = sizeof(sampled) };

	become_nobody();
	EXPECT(mmap(NULL, 8192, PROT_READ, MAP_SHARED, *fd, PERFCTR_RING_OFFSET) == MAP_FAILED &&
	       errno == EACCES);
	EXPECT(ioctl(*fd, PERFCTR_IOC_SAMPLED, &sampled) == -1 && errno == EACCES);
}

static void open_for_root(void *context)
{
	struct perfctr_samples_args args = { .room_bytes = 4096 };
	const int *fd = context;

	become_nobody();
	EXPECT(try_samples(*fd, &args) == 0);
}

START_TEST(rings_show_the_kernel_to_those_alone_who_may_see_it)
{
	struct perfctr_samples_args args = { .room_bytes = 4096 };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_control control = kernel_control();
	struct sampler s = sampler_open(fd, &args);

	in_child(map_as_nobody, &fd);
	set_control(fd, kernel_control());
	sampler_close(&s);
	close(fd);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	in_child(open_for_root, &fd);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EACCES);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_PRIVILEGE);
	ck_assert_uint_eq(control.bad_event, 1);
	set_control(fd, with_period(tree_control(0), 1009));
	close(fd);
}
END_TEST

static void add_last(const struct perfctr_sample *sample, void *argument)
{
	*(struct perfctr_sample *)argument = *sample;
}

/* On a busy host most interrupts of a tick may be put off. */
static void spin_until_sampled(const struct sampler *s, uint64_t samples)
{
	for (int i = 0; i < 100 && sampler_totals(s).samples <= samples; i++)
		spin(1000000);
	ck_assert_uint_gt(sampler_totals(s).samples, samples);
}

START_TEST(another_control_begins_with_empty_rings)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sampler s = sampler_open(fd, NULL);
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(branches()) }));
	struct perfctr_sample last = { 0 };
	uint32_t bytes;

	set_control(fd, with_period(tree_control(PERFCTR_CONTROL_INHERIT), 1009));
	spin_until_sampled(&s, 100);
	bytes = s.ring[0]->record_bytes;
	control.flags = PERFCTR_CONTROL_STOPPED;
	set_control(fd, with_period(control, 1009));
	ck_assert_uint_eq(sampler_totals(&s).samples, 0);
	ck_assert_uint_eq(sampler_take(&s, add_last, &last), 0);
	ck_assert_uint_eq(s.ring[0]->record_bytes, bytes + sizeof(uint64_t));
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	spin_until_sampled(&s, 100);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	ck_assert_uint_eq(sampler_take(&s, add_last, &last), sampler_totals(&s).samples);
	/* Without periods there are no samples. */
	set_control(fd, tree_control(0));
	spin(100000);
	ck_assert_uint_eq(sampler_totals(&s).samples, 0);
	sampler_close(&s);
	close(fd);
}
END_TEST

/* Meanwhile the program runs, forks and interrupts on the other CPU. */
START_TEST(rings_can_be_closed_while_they_are_written)
{
	unsigned int rounds = 3 * test_rounds(10);

	for (unsigned int i = 0; i < rounds; i++) {
		struct counted c = { .pid = stopped_start(1, COMMAND(program("loop-huge"))) };
		struct sampler s;

		c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
		s = sampler_open(c.fd, NULL);
		set_control(c.fd, with_period(tree_control(PERFCTR_CONTROL_INHERIT), 101));
		stopped_go(c.pid);
		sleep_us(10000 + 30000 * i / rounds);
		if (i % 3 == 0)
			sampler_close(&s);
		close(c.fd);
		if (i % 3 == 1)
			sampler_close(&s);
		/* munmap() closes the third kind, while the program still runs. */
		if (i % 3 == 2)
			for (uint32_t k = s.n_cpus; k--;)
				munmap((void *)s.ring[k], s.ring_bytes);
		kill_and_wait(c.pid);
	}
}
END_TEST

struct told {
	pid_t pid;
	uint64_t weight, samples;
};

static void add_weight(const struct perfctr_sample *sample, void *argument)
{
	struct told *t = argument;

	ck_assert_int_eq(sample->tgid, t->pid);
	t->weight += sample->weight;
	t->samples++;
}

/* The program runs to its end. Samples account for all its periods, whatever has happened. */
static void expect_all_told(struct counted *c, struct sampler *s, uint64_t instructions)
{
	struct told t = { .pid = c->pid };

	ck_assert_int_eq(wait_for(c->pid, NULL), c->pid);
	sampler_take(s, add_weight, &t);
	ck_assert_uint_eq(sampler_totals(s).lost, 0);
	ck_assert_uint_eq(context_read(c->fd).counter[0], instructions);
	ck_assert_uint_eq(t.weight, instructions / 100003 * 100003);
	sampler_close(s);
	close(c->fd);
}

static struct counted start_sampled(const char *name, struct sampler *s)
{
	struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program(name))) };

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	*s = sampler_open(c.fd, NULL);
	set_control(c.fd, with_period(tree_control(0), 100003));
	stopped_go(c.pid);
	return c;
}

START_TEST(samples_go_on_while_the_cpu_goes_and_comes)
{
	struct sampler s;
	struct counted c = start_sampled("loop-long", &s);

	pin(c.pid, 1);
	for (int i = 0; i < 3; i++) {
		write_file("/sys/devices/system/cpu/cpu1/online", "0");
		write_file("/sys/devices/system/cpu/cpu1/online", "1");
		pin(c.pid, 1);
	}
	expect_all_told(&c, &s, LOOP_INSTRUCTIONS(LONG_LOOP));
}
END_TEST

START_TEST(stops_starts_reads_and_moves_lose_no_sample)
{
	struct sampler s;
	struct counted c = start_sampled("loop-huge", &s);
	struct told t = { .pid = c.pid };

	/*
	 * Goes on until the program has executed enough, however little that is between two stops.
	 */
	for (int i = 0; i < 100 || context_read(c.fd).counter[0] < 20 * 100003; i++) {
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_STOP), 0);
		pin(c.pid, i % 2);
		context_read(c.fd);
		ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), 0);
		context_read(c.fd);
	}
	kill_and_wait(c.pid);
	sampler_take(&s, add_weight, &t);
	ck_assert_uint_gt(t.samples, 10);
	ck_assert_uint_eq(t.weight, context_read(c.fd).counter[0] / 100003 * 100003);
	sampler_close(&s);
	close(c.fd);
}
END_TEST

START_TEST(who_is_taken_away_or_stopped_for_others_leaves_its_last_samples)
{
	struct sampler s;
	struct counted c = start_sampled("loop-huge", &s);
	struct told t = { .pid = c.pid };
	int device = device_open(), other;

	wait_for_count(c.fd, 10 * 100003);
	ck_assert_int_eq(ioctl(device, PERFCTR_IOC_REVOKE), 0);
	sampler_take(&s, add_weight, &t);
	ck_assert_uint_eq(t.weight, context_read(c.fd).counter[0] / 100003 * 100003);
	close(device);
	ck_assert_int_eq(ioctl(c.fd, PERFCTR_IOC_START), 0);
	wait_for_count(c.fd, context_read(c.fd).counter[0] + 10 * 100003);
	other = context_open(c.pid, PERFCTR_OPEN_CREATE | PERFCTR_OPEN_TAKE);
	sampler_take(&s, add_weight, &t);
	ck_assert_uint_eq(t.weight, context_read(c.fd).counter[0] / 100003 * 100003);
	ck_assert_uint_gt(t.samples, 10);
	close(other);
	kill_and_wait(c.pid);
	sampler_close(&s);
	close(c.fd);
}
END_TEST

START_TEST(the_phase_is_told_with_the_control)
{
	struct perfctr_control control =
		with_period(tree_control(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_PHASE), 1009);
	struct perfctr_control told = { .size = sizeof(told) };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	set_control(fd, control);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &told), 0);
	ck_assert_uint_eq(told.flags, PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_PHASE);
	control = tree_control(PERFCTR_CONTROL_TOTALS | PERFCTR_CONTROL_PHASE);
	ck_assert(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == -1 && errno == EINVAL);
	close(fd);
}
END_TEST

SUITE(sample_life, samples_that_cannot_be_are_refused,
      a_user_has_as_much_memory_for_samples_as_is_allowed,
      rings_show_the_kernel_to_those_alone_who_may_see_it, another_control_begins_with_empty_rings,
      rings_can_be_closed_while_they_are_written, samples_go_on_while_the_cpu_goes_and_comes,
      stops_starts_reads_and_moves_lose_no_sample,
      who_is_taken_away_or_stopped_for_others_leaves_its_last_samples,
      the_phase_is_told_with_the_control)
