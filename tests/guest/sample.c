// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples. Each one has the address, the registers and all counts of one instant, whatever happens
 * to the interrupts. All together account for every event.
 */
#include "samples.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * asm/loop.S: the address after n instructions, with lengths of 5, 2, 2, 5, 2 and 2 bytes, and the
 * iterations that are left. At the end is its last system call.
 */
#define LOOP_START 0x401000

static uint64_t loop_address(uint64_t n, uint32_t iterations)
{
	static const unsigned int behind[] = { 9, 14, 16, 18 };

	if (n == 0)
		return LOOP_START;
	if (n > 2 * (uint64_t)iterations)
		return LOOP_START + behind[n - 2 * (uint64_t)iterations - 1];
	return LOOP_START + (n % 2 ? 5 : 7);
}

static uint64_t loop_branches(uint64_t n, uint32_t iterations)
{
	if (n == LOOP_INSTRUCTIONS(iterations))
		return LOOP_BRANCHES(iterations);
	return n > 2 * (uint64_t)iterations ? iterations : (n - 1) / 2;
}

/* The expected samples of a program, and the sums of those seen. */
struct expected {
	uint32_t iterations;
	uint64_t period;
	pid_t pid;
	bool registers;
	/* Sums: */
	uint64_t samples, periods, weight, told;
	uint64_t last; /* count of the last sample */
};

/* Samples of event 0, instructions. Branches are counted beside it. */
static void check_sample(const struct perfctr_sample *sample, void *argument)
{
	struct expected *e = argument;
	uint64_t n = sample->counter[0];

	ck_assert_uint_eq(sample->type, PERFCTR_SAMPLE_PERIOD);
	ck_assert_int_eq(sample->tgid, e->pid);
	ck_assert_int_eq(sample->tid, e->pid);
	ck_assert_uint_eq(sample->event, 0);
	ck_assert_uint_gt(n, e->last);
	ck_assert_msg(sample->ip == loop_address(n, e->iterations),
		      "after %llu instructions: %llx, not %llx; flags %x", (unsigned long long)n,
		      (unsigned long long)sample->ip,
		      (unsigned long long)loop_address(n, e->iterations), sample->flags);
	ck_assert_uint_eq(sample->counter[1], loop_branches(n, e->iterations));
	ck_assert_uint_eq(sample->weight, sample->periods * e->period);
	ck_assert_uint_eq(sample->late, n % e->period);
	ck_assert_uint_eq(sample->periods, n / e->period - e->last / e->period);
	if (e->registers && n <= 2 * (uint64_t)e->iterations) {
		const struct perfctr_sample_registers *r = registers_of(sample, 2);

		ck_assert_uint_eq(r->ip, sample->ip);
		ck_assert_uint_eq(r->cx, e->iterations - n / 2);
		ck_assert_uint_eq(r->r15, 0);
	}
	e->samples++;
	e->periods += sample->periods;
	e->weight += sample->weight;
	e->told += !(sample->flags & PERFCTR_SAMPLE_FOUND);
	e->last = n;
}

static struct perfctr_control loop_control(uint64_t period)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(branches()) }));

	control.event[0].period = period;
	return control;
}

static struct expected sample_loop(const char *name, uint32_t iterations, uint64_t period)
{
	struct perfctr_samples_args args = { .flags = PERFCTR_SAMPLES_REGISTERS,
					     .room_bytes = 1 << 22 };
	struct counted c = { .pid = stopped_start(1, COMMAND(program(name))) };
	struct expected e = {
		.iterations = iterations, .period = period, .pid = c.pid, .registers = true
	};
	struct perfctr_sampled totals;
	struct sampler s;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	set_control(c.fd, loop_control(period));
	stopped_go(c.pid);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	/* The program has been waited for, so that all of its samples are there. */
	totals = sampler_totals(&s);
	ck_assert_uint_eq(sampler_take(&s, check_sample, &e), totals.samples);
	ck_assert_uint_eq(totals.lost, 0);
	ck_assert_uint_eq(totals.flags, 0);
	ck_assert_uint_eq(e.periods, LOOP_INSTRUCTIONS(iterations) / period);
	ck_assert_uint_eq(e.weight, LOOP_INSTRUCTIONS(iterations) / period * period);
	ck_assert_uint_eq(context_read(c.fd).counter[0], LOOP_INSTRUCTIONS(iterations));
	ck_assert_uint_eq(periods_of(c.fd, PERFCTR_SCOPE_SELF).over[0], e.periods);
	ck_assert_uint_le(e.samples - e.told, periods_of(c.fd, PERFCTR_SCOPE_SELF).late);
	sampler_close(&s);
	close(c.fd);
	return e;
}

START_TEST(each_sample_tells_the_next_instruction_the_registers_and_the_counts)
{
	static const uint64_t short_periods[] = { 1, 2, 3, 7, 31, 101, 1001, 2003, 2004, 2005 };
	static const uint64_t long_periods[] = { 1009, 100003, 1000003, 2000004, 2000005 };

	for (size_t i = 0; i < ARRAY_SIZE(short_periods); i++)
		sample_loop("loop-tiny", TINY_LOOP, short_periods[i]);
	for (size_t i = 0; i < ARRAY_SIZE(long_periods); i++)
		sample_loop("loop", SHORT_LOOP, long_periods[i]);
}
END_TEST

/* Each program has a ring of its own, though both run on one CPU. */
START_TEST(two_programs_by_turns_have_their_own_samples)
{
	static const uint64_t periods[] = { 100003, 31013 };
	struct expected e[2];
	struct counted c[2];
	struct sampler s[2];

	for (int i = 0; i < 2; i++) {
		c[i].pid = stopped_start(0, COMMAND(program("loop-long")));
		c[i].fd = context_open(c[i].pid, PERFCTR_OPEN_CREATE);
		s[i] = sampler_open(c[i].fd, NULL);
		set_control(c[i].fd, loop_control(periods[i]));
		e[i] = (struct expected){ .iterations = LONG_LOOP,
					  .period = periods[i],
					  .pid = c[i].pid };
		stopped_go(c[i].pid);
	}
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(wait_for(c[i].pid, NULL), c[i].pid);
		sampler_take(&s[i], check_sample, &e[i]);
		ck_assert_uint_eq(e[i].periods, LOOP_INSTRUCTIONS(LONG_LOOP) / periods[i]);
		sampler_close(&s[i]);
		close(c[i].fd);
	}
}
END_TEST

/* Sums with a reader that is too slow. */
struct losses {
	uint64_t samples, weight, lost;
};

static void add_losses(const struct perfctr_sample *sample, void *argument)
{
	struct losses *sum = argument;

	ck_assert_uint_eq(sample->counter[1], loop_branches(sample->counter[0], LONG_LOOP));
	ck_assert_uint_eq(sample->ip, loop_address(sample->counter[0], LONG_LOOP));
	sum->samples++;
	sum->weight += sample->weight;
	sum->lost += sample->lost;
}

START_TEST(what_a_slow_reader_loses_is_told_to_the_event)
{
	struct perfctr_samples_args args = { .room_bytes = 4096 };
	struct counted c = { .pid = stopped_start(1, COMMAND(program("loop-long"))) };
	struct losses sum = { 0 };
	struct perfctr_sampled totals;
	struct sampler s;

	allow_interrupts();
	pin(0, 0);
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	set_control(c.fd, loop_control(10007));
	stopped_go(c.pid);
	for (int i = 0; i < 30; i++) {
		sleep_us(20000);
		sampler_take(&s, add_losses, &sum);
	}
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	totals = sampler_totals(&s);
	sampler_take(&s, add_losses, &sum);
	ck_assert_uint_gt(totals.lost, 1000);
	ck_assert_uint_eq(totals.samples, sum.samples);
	ck_assert_uint_eq(totals.n_counters, 2);
	ck_assert_uint_eq(totals.lost_weight[1], 0);
	ck_assert_uint_eq(sum.weight + totals.lost_weight[0],
			  LOOP_INSTRUCTIONS(LONG_LOOP) / 10007 * 10007);
	/*
	 * A sample tells how many were lost before it. None tells of those lost after the last one.
	 */
	ck_assert_uint_le(sum.lost, totals.lost);
	ck_assert_uint_gt(sum.lost, 0);
	sampler_close(&s);
	close(c.fd);
	restore_limits();
}
END_TEST

struct places {
	uint64_t samples, skidded, kernel;
};

/* The end of user addresses on x86-64. */
#define USER_END (1ull << 47)

static void expect_user_s(const struct perfctr_sample *sample, void *argument)
{
	const struct perfctr_sample_registers *r = registers_of(sample, 1);
	const uint64_t *chain = (const uint64_t *)(r + 1);
	struct places *p = argument;

	EXPECT(sample->ip < USER_END && r->ip < USER_END && r->sp < USER_END);
	EXPECT(!(sample->flags & PERFCTR_SAMPLE_KERNEL) && chain[0] <= 16);
	for (uint64_t i = 0; i < chain[0]; i++)
		EXPECT(chain[1 + i] < USER_END);
	p->samples++;
	p->skidded += !!(sample->flags & PERFCTR_SAMPLE_SKIDDED);
}

static void sample_system_calls(void *unused)
{
	struct perfctr_samples_args args = { .flags = PERFCTR_SAMPLES_REGISTERS |
						      PERFCTR_SAMPLES_CHAIN,
					     .room_bytes = 65536,
					     .depth = 16 };
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	struct places p = { 0 };
	struct sampler s;
	int fd;

	(void)unused;
	become_nobody();
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	s = sampler_open(fd, &args);
	control.event[0].period = 7;
	set_control(fd, control);
	for (int i = 0; i < 200; i++) {
		for (int k = 0; k < 50; k++)
			syscall(SYS_getppid);
		sampler_take(&s, expect_user_s, &p);
	}
	EXPECT(p.samples > 1000);
	EXPECT(p.skidded > 0);
}

START_TEST(samples_of_user_mode_tell_nothing_of_the_kernel)
{
	allow_interrupts();
	in_child(sample_system_calls, NULL);
	restore_limits();
}
END_TEST

static void count_kernel_s(const struct perfctr_sample *sample, void *argument)
{
	const struct perfctr_sample_registers *r = registers_of(sample, 1);
	struct places *p = argument;
	bool kernel = sample->flags & PERFCTR_SAMPLE_KERNEL;

	/*
	 * The address is in the kernel's half. The registers are those of user mode all the same.
	 */
	ck_assert(kernel == (sample->ip >> 63));
	ck_assert_uint_lt(r->ip, USER_END);
	ck_assert(!(sample->flags & PERFCTR_SAMPLE_SKIDDED));
	p->samples++;
	p->kernel += kernel;
}

START_TEST(samples_of_the_kernel_s_events_tell_where_it_was)
{
	struct perfctr_samples_args args = { .flags = PERFCTR_SAMPLES_REGISTERS,
					     .room_bytes = 1 << 20 };
	struct perfctr_control control = control_of(EVENTS({ 0, BOTH(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sampler s = sampler_open(fd, &args);
	struct places p = { 0 };

	allow_interrupts();
	/* On kernels that watch their locks an interrupt takes more than 2,000 instructions. */
	control.event[0].period = 100003;
	set_control(fd, control);
	for (int i = 0; i < 50000; i++)
		syscall(SYS_getppid);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	sampler_take(&s, count_kernel_s, &p);
	ck_assert_uint_gt(p.samples, 100);
	ck_assert_uint_gt(p.kernel, 50);
	sampler_close(&s);
	close(fd);
	restore_limits();
}
END_TEST

/* Sums of the samples, by thread. */
struct tellers {
	struct {
		pid_t tid;
		uint64_t periods, samples;
	} of[64];
	size_t n;
};

static void add_teller(const struct perfctr_sample *sample, void *argument)
{
	struct tellers *t = argument;
	size_t i = 0;

	while (i < t->n && t->of[i].tid != sample->tid)
		i++;
	if (i == t->n) {
		ck_assert_uint_lt(t->n, ARRAY_SIZE(t->of));
		t->of[t->n++].tid = sample->tid;
	}
	ck_assert_uint_eq(sample->weight, sample->periods * 100003);
	t->of[i].periods += sample->periods;
	t->of[i].samples++;
}

static uint64_t periods_told_of(const struct tellers *t, pid_t tid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->of[i].tid == tid)
			return t->of[i].periods;
	return 0;
}

START_TEST(each_member_of_a_tree_has_its_own_samples)
{
	struct perfctr_samples_args args = { .room_bytes = 1 << 22 };
	struct perfctr_control control = tree_control(PERFCTR_CONTROL_EXIT_RECORDS);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sampler s = sampler_open(fd, &args);
	struct tellers told = { 0 };
	struct perfctr_exit_record record;
	pid_t child[LOOPS];

	set_control(fd, with_period(control, 100003));
	loops_start(child);
	for (int i = 0; i < LOOPS; i++)
		ck_assert_int_gt(wait_for(child[i], NULL), 0);
	sampler_take(&s, add_teller, &told);
	ck_assert_uint_eq(sampler_totals(&s).lost, 0);
	for (int i = 0; i < LOOPS; i++) {
		ck_assert(next_record(fd, &record));
		ck_assert_uint_eq(periods_told_of(&told, record.tid),
				  record.counts.counter[0] / 100003);
	}
	sampler_close(&s);
	close(fd);
}
END_TEST

#define SHORT_LIVES 400
#define TINY "/tmp/loop-tiny"

static uint64_t periods_of_short_lives(uint32_t flags, uint64_t period, uint64_t seed)
{
	struct perfctr_samples_args args = { .room_bytes = 65536, .seed = seed };
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sampler s = sampler_open(fd, &args);
	uint64_t over;

	set_control(fd, with_period(tree_control(flags), period));
	for (int i = 0; i < SHORT_LIVES; i++)
		ck_assert_int_gt(wait_for(spawn(COMMAND(TINY)), NULL), 0);
	over = periods_of(fd, PERFCTR_SCOPE_CHILDREN).over[0];
	sampler_close(&s);
	close(fd);
	return over;
}

/*
 * Each life counts 2008 events, less than a period of 10007, and has the end of a period with a
 * probability of 0.2. In 400 lives there are 80.3 such ends, and 8.0 is a standard deviation. The
 * program is a copy, because files of the host take long to execute.
 */
START_TEST(short_lives_have_their_share_by_a_random_phase)
{
	uint64_t over;

	copy_file(program("loop-tiny"), TINY, 0755);
	over = periods_of_short_lives(PERFCTR_CONTROL_PHASE, 10007, 1);
	ck_assert_uint_eq(periods_of_short_lives(0, 10007, 1), 0);
	ck_assert_uint_ge(over, 80 - 32);
	ck_assert_uint_le(over, 80 + 32);
	/* The same seed gives the same number; then another seed. */
	ck_assert_uint_eq(periods_of_short_lives(PERFCTR_CONTROL_PHASE, 10007, 1), over);
	over = periods_of_short_lives(PERFCTR_CONTROL_PHASE, 10007, 0);
	ck_assert_uint_ge(over, 80 - 32);
	ck_assert_uint_le(over, 80 + 32);
}
END_TEST

struct ends {
	uint64_t period, spread; /* of the end that is due after n periods */
	uint64_t n, weight, least, most;
};

static void add_end(const struct perfctr_sample *sample, void *argument)
{
	uint64_t end = sample->counter[0] - sample->late;
	struct ends *e = argument;

	e->weight += sample->weight;
	e->n += sample->periods;
	ck_assert_uint_eq(e->weight, end);
	ck_assert_uint_ge(end, e->n * e->period);
	ck_assert_uint_lt(end, e->n * e->period + e->spread);
	if (end - e->n * e->period < e->least)
		e->least = end - e->n * e->period;
	if (end - e->n * e->period > e->most)
		e->most = end - e->n * e->period;
}

START_TEST(jitter_varies_where_periods_end_and_loses_no_event)
{
	struct perfctr_samples_args args = { .room_bytes = 1 << 20, .jitter = 50, .seed = 7 };
	struct counted c = { .pid = stopped_start(1, COMMAND(program("loop"))) };
	struct ends e = { .period = 1009, .spread = 504, .least = UINT64_MAX };
	struct sampler s;

	allow_interrupts();
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	set_control(c.fd, loop_control(1009));
	stopped_go(c.pid);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	sampler_take(&s, add_end, &e);
	ck_assert_uint_ge(e.n + 1, LOOP_INSTRUCTIONS(SHORT_LOOP) / 1009);
	ck_assert_uint_le(e.n, LOOP_INSTRUCTIONS(SHORT_LOOP) / 1009);
	/*
	 * Of 1982 draws the least is 20 or more, or the most 484 or less, not more often than once
	 * in 10^30.
	 */
	ck_assert_uint_lt(e.least, 20);
	ck_assert_uint_gt(e.most, 484);
	sampler_close(&s);
	close(c.fd);
	restore_limits();
}
END_TEST

/*
 * Frames made by hand: call_chain() calls an outer function with the frame pointer that it gets.
 * The outer function calls an inner one, which loops.
 */
__asm__(".text\n"
	"call_chain:	push	%rbp\n"
	"	mov	%rdi, %rbp\n"
	"	call	chain_outer\n"
	"chain_call:	pop	%rbp\n"
	"	ret\n"
	"chain_outer:	push	%rbp\n"
	"	mov	%rsp, %rbp\n"
	"	call	chain_inner\n"
	"chain_back:	pop	%rbp\n"
	"	ret\n"
	"chain_inner:	push	%rbp\n"
	"	mov	%rsp, %rbp\n"
	"	mov	$1000000, %ecx\n"
	"chain_loop:	dec	%ecx\n"
	"	jnz	chain_loop\n"
	"chain_end:	pop	%rbp\n"
	"	ret\n");
void call_chain(uint64_t frame_pointer);
extern const char chain_call[], chain_back[], chain_loop[], chain_end[];

struct chains {
	uint64_t samples, inside, depth;
};

static void check_chain(const struct perfctr_sample *sample, void *argument)
{
	const __u64 *chain = &sample->counter[1];
	struct chains *c = argument;

	c->samples++;
	if (sample->flags & PERFCTR_SAMPLE_FOUND || sample->ip < (uint64_t)chain_loop ||
	    sample->ip >= (uint64_t)chain_end)
		return;
	c->inside++;
	ck_assert_uint_eq(chain[0], c->depth);
	ck_assert_uint_eq(chain[1], (uint64_t)chain_back);
	if (c->depth > 1)
		ck_assert_uint_eq(chain[2], (uint64_t)chain_call);
}

static void sample_chain(uint64_t base, uint32_t depth, uint64_t expected)
{
	struct perfctr_samples_args args = { .flags = PERFCTR_SAMPLES_CHAIN,
					     .depth = depth,
					     .room_bytes = 1 << 20 };
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct sampler s = sampler_open(fd, &args);
	struct chains c = { .depth = expected };

	control.event[0].period = 10007;
	set_control(fd, control);
	call_chain(base);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	sampler_take(&s, check_chain, &c);
	ck_assert_uint_gt(c.inside, 50);
	sampler_close(&s);
	close(fd);
}

/* The last frame pointers lead to the kernel, nowhere, to an odd address, and to itself. */
START_TEST(a_chain_has_the_callers_as_far_as_frame_pointers_lead)
{
	uint64_t self[2] = { (uint64_t)self, 0x1234 };

	allow_interrupts();
	sample_chain(0, PERFCTR_MAX_DEPTH, 2);
	sample_chain(0, 1, 1);
	sample_chain(0xffffffff81000000, 8, 2);
	sample_chain(0x7ffffffff000, 8, 2);
	sample_chain((uint64_t)self + 1, 8, 2);
	sample_chain((uint64_t)self, 8, 3);
	restore_limits();
}
END_TEST

static void add_nothing(const struct perfctr_sample *sample, void *argument)
{
	(void)sample;
	(void)argument;
}

START_TEST(the_most_samples_end_them_and_not_the_counting)
{
	struct perfctr_samples_args args = { .room_bytes = 65536, .max_samples = 10 };
	struct counted c = { .pid = stopped_start(1, COMMAND(program("loop"))) };
	struct sampler s;
	struct pollfd p;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	p = (struct pollfd){ .fd = c.fd, .events = POLLIN };
	set_control(c.fd, loop_control(1009));
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	stopped_go(c.pid);
	ck_assert_int_eq(poll(&p, 1, 30000), 1);
	ck_assert_int_eq(p.revents, POLLHUP);
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	ck_assert_uint_eq(sampler_totals(&s).samples, 10);
	ck_assert_uint_eq(sampler_totals(&s).lost, 0);
	ck_assert_uint_eq(sampler_totals(&s).flags, PERFCTR_SAMPLED_ENDED);
	ck_assert_uint_eq(context_read(c.fd).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_uint_eq(sampler_take(&s, add_nothing, NULL), 10);
	sampler_close(&s);
	close(c.fd);
}
END_TEST

/* A process with so many callers that its samples take long to write. */
static pid_t deep_start(int cpu)
{
	static uint64_t frames[2 * PERFCTR_MAX_DEPTH];
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	pin(0, cpu);
	for (size_t i = 0; i + 2 < ARRAY_SIZE(frames); i += 2) {
		frames[i] = (uint64_t)&frames[i + 2];
		frames[i + 1] = 1;
	}
	for (;;)
		call_chain((uint64_t)frames);
}

START_TEST(the_end_is_told_when_all_samples_can_be_seen)
{
	struct perfctr_samples_args args = { .flags = PERFCTR_SAMPLES_CHAIN,
					     .depth = PERFCTR_MAX_DEPTH,
					     .room_bytes = 65536,
					     .max_samples = 2 };
	struct counted c = { .pid = deep_start(1) };
	struct perfctr_sampled told;
	struct sampler s;

	pin(0, 0);
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	for (int i = 0; i < 100; i++) {
		set_control(c.fd, loop_control(10007));
		do {
			told = sampler_totals(&s);
		} while (!(told.flags & PERFCTR_SAMPLED_ENDED));
		ck_assert_uint_eq(told.samples, 2);
	}
	kill_and_wait(c.pid);
	sampler_close(&s);
	close(c.fd);
}
END_TEST

START_TEST(poll_tells_of_as_many_samples_as_the_watermark)
{
	struct perfctr_samples_args args = { .room_bytes = 65536, .watermark = 100 };
	struct counted c = { .pid = stopped_start(1, COMMAND(program("loop-long"))) };
	struct sampler s;
	struct pollfd p;

	pin(0, 0);
	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	s = sampler_open(c.fd, &args);
	p = (struct pollfd){ .fd = c.fd, .events = POLLIN };
	set_control(c.fd, loop_control(100003));
	stopped_go(c.pid);
	for (int i = 0; i < 5; i++) {
		ck_assert_int_eq(poll(&p, 1, 60000), 1);
		ck_assert_int_eq(p.revents, POLLIN);
		ck_assert_uint_ge(sampler_take(&s, add_nothing, NULL), 100);
	}
	ck_assert_int_eq(wait_for(c.pid, NULL), c.pid);
	sampler_close(&s);
	close(c.fd);
}
END_TEST

/* The rings are made only if their sizes can be told. */
START_TEST(samples_that_cannot_be_told_of_can_be_asked_for_again)
{
	struct perfctr_samples_args args = { .size = sizeof(args), .room_bytes = 1 << 12 };
	struct perfctr_samples_args *fixed = read_only_copy(&args, sizeof(args));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_SAMPLES, fixed), -1);
	ck_assert_int_eq(errno, EFAULT);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_SAMPLES, &args), 0);
	munmap(fixed, sizeof(*fixed));
	close(fd);
}
END_TEST

SUITE(sample, each_sample_tells_the_next_instruction_the_registers_and_the_counts,
      two_programs_by_turns_have_their_own_samples, what_a_slow_reader_loses_is_told_to_the_event,
      samples_of_user_mode_tell_nothing_of_the_kernel,
      samples_of_the_kernel_s_events_tell_where_it_was, each_member_of_a_tree_has_its_own_samples,
      short_lives_have_their_share_by_a_random_phase,
      jitter_varies_where_periods_end_and_loses_no_event,
      a_chain_has_the_callers_as_far_as_frame_pointers_lead,
      the_most_samples_end_them_and_not_the_counting, the_end_is_told_when_all_samples_can_be_seen,
      poll_tells_of_as_many_samples_as_the_watermark,
      samples_that_cannot_be_told_of_can_be_asked_for_again)
