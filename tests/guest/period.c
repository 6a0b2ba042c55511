// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Events with a period. For every thread the number of ended periods is the count divided by the
 * period, whatever happens to the interrupts. The suite runs where interrupts come at once, and
 * where they are late.
 */
#include "period.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* perfctr.interrupts_per_tick and perfctr.interrupt_percent. */
static void limit_interrupts(const char *per_tick, const char *percent)
{
	write_file("/sys/module/perfctr/parameters/interrupts_per_tick", per_tick);
	write_file("/sys/module/perfctr/parameters/interrupt_percent", percent);
}

void allow_interrupts(void)
{
	limit_interrupts("4294967295", "4294967295");
}

void restore_limits(void)
{
	limit_interrupts("400", "25");
}

struct perfctr_control with_period(struct perfctr_control control, uint64_t period)
{
	for (uint32_t i = 0; i < control.n_events; i++)
		control.event[i].period = period;
	return control;
}

void set_control(int fd, struct perfctr_control control)
{
	ck_assert_msg(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0, "control: %s, reason %u",
		      strerror(errno), control.bad_reason);
}

static struct counted begin(int cpu, const char *name, struct perfctr_control control)
{
	struct counted c = { .pid = stopped_start(cpu, COMMAND(program(name))) };

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	set_control(c.fd, control);
	stopped_go(c.pid);
	return c;
}

struct perfctr_periods periods_of(int fd, uint32_t scope)
{
	struct perfctr_periods periods = { .size = sizeof(periods), .scope = scope };

	ck_assert_msg(ioctl(fd, PERFCTR_IOC_PERIODS, &periods) == 0, "periods: %s",
		      strerror(errno));
	return periods;
}

static struct perfctr_periods finish(struct counted *c, struct perfctr_counts *counts)
{
	struct perfctr_periods periods;
	int status, fd = dup(c->fd);

	*counts = counted_finish(c, &status);
	ck_assert_int_eq(status, 0);
	periods = periods_of(fd, PERFCTR_SCOPE_SELF);
	close(fd);
	return periods;
}

/* The program has n events whose counts are known: each event has the periods that it must have. */
static struct perfctr_periods expect_periods(struct counted *c, uint64_t period,
					     const uint64_t *expected, uint32_t n)
{
	struct perfctr_counts counts;
	struct perfctr_periods periods = finish(c, &counts);

	ck_assert_uint_eq(counts.n_counters, n);
	ck_assert_uint_eq(periods.n_counters, n);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(counts.counter[i], expected[i]);
		ck_assert_msg(periods.over[i] == expected[i] / period,
			      "event %u, period %llu: %llu periods, not %llu", i,
			      (unsigned long long)period, (unsigned long long)periods.over[i],
			      (unsigned long long)(expected[i] / period));
	}
	return periods;
}

uint32_t branches(void)
{
	return pmu_info().pmu == PERFCTR_PMU_AMD ? 0x00c2 : BRANCHES;
}

struct perfctr_periods count_periods(const char *name, struct perfctr_control control,
				     uint64_t period, const uint64_t *expected)
{
	struct counted c = begin(ANY_CPU, name, with_period(control, period));

	return expect_periods(&c, period, expected, control.n_events);
}

static void count_loop(const char *name, uint32_t iterations, uint64_t period)
{
	const uint64_t expected[] = { LOOP_INSTRUCTIONS(iterations), LOOP_BRANCHES(iterations),
				      LOOP_INSTRUCTIONS(iterations) };

	count_periods(name,
		      control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(branches()) },
					{ 2, USER(INSTRUCTIONS) })),
		      period, expected);
}

/* Up to the last instruction and one beyond it: the programs execute 2,004 and 2,000,004. */
static const uint64_t short_periods[] = { 1, 2, 3, 7, 31, 101, 1001, 2003, 2004, 2005 };
static const uint64_t long_periods[] = { 1009,	  100003,   1000003,	2000004,
					 2000005, 1u << 31, 1ull << 47, INT64_MAX };

START_TEST(every_thread_has_as_many_periods_as_its_count_holds)
{
	for (size_t i = 0; i < ARRAY_SIZE(short_periods); i++)
		count_loop("loop-tiny", TINY_LOOP, short_periods[i]);
	for (size_t i = 0; i < ARRAY_SIZE(long_periods); i++)
		count_loop("loop", SHORT_LOOP, long_periods[i]);
}
END_TEST

/*
 * The programs are moved and preempted, beside others on the same counters with other periods or
 * none.
 */
START_TEST(switches_and_moves_lose_no_period)
{
	static const uint64_t periods[] = { 997, 100003, 0, 31013 };
	const uint64_t expected = LOOP_INSTRUCTIONS(LONG_LOOP);
	struct counted c[ARRAY_SIZE(periods)];

	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		c[i] = begin(0, "loop-long",
			     with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })),
					 periods[i]));
	for (int i = 0; i < 10; i++) {
		sleep_us(20000);
		pin(c[i % 3].pid, i % 2);
	}
	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		if (periods[i]) {
			expect_periods(&c[i], periods[i], &expected, 1);
		} else {
			struct perfctr_counts counts;
			struct perfctr_periods none = finish(&c[i], &counts);

			ck_assert_uint_eq(counts.counter[0], expected);
			ck_assert_uint_eq(none.n_counters + none.over[0] + none.late, 0);
		}
	}
}
END_TEST

/* The kernel instructions of the interrupts are counted, too. */
START_TEST(kernel_mode_has_periods_too)
{
	struct counted c = begin(ANY_CPU, "loop",
				 with_period(control_of(EVENTS({ 0, BOTH(INSTRUCTIONS) },
							       { 1, KERNEL(INSTRUCTIONS) })),
					     20011));
	struct perfctr_counts counts;
	struct perfctr_periods told = finish(&c, &counts);

	ck_assert_uint_gt(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	/* Without a common enable, the counters do not stop with the same instruction. */
	if (pmu_info().features & PERFCTR_FEATURE_GLOBAL_ENABLE)
		ck_assert_uint_eq(counts.counter[0],
				  LOOP_INSTRUCTIONS(SHORT_LOOP) + counts.counter[1]);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(told.over[i], counts.counter[i] / 20011);
}
END_TEST

/*
 * A switch reads counters that have overflowed with interrupts off, before their interrupt comes.
 * The same instructions without a period are counted beside them.
 */
START_TEST(a_thread_that_leaves_before_its_interrupt_keeps_its_counts)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, KERNEL(INSTRUCTIONS) }, { 1, KERNEL(INSTRUCTIONS) }));
	pid_t rival = yielder_start(0);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_periods periods;
	struct perfctr_counts counts;

	control.event[0].period = 1009;
	pin(0, 0);
	set_control(fd, control);
	for (int i = 0; i < 1000; i++)
		sched_yield();
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
	counts = context_read(fd);
	periods = periods_of(fd, PERFCTR_SCOPE_SELF);
	ck_assert_uint_gt(counts.switches, 500);
	/* Without one enable for all they are not stopped with one instruction. */
	if (pmu_info().features & PERFCTR_FEATURE_GLOBAL_ENABLE)
		ck_assert_uint_eq(counts.counter[0], counts.counter[1]);
	ck_assert_uint_eq(periods.over[0], counts.counter[0] / 1009);
	ck_assert_uint_eq(counts.flags & PERFCTR_COUNTS_DISTURBED, 0);
	close(fd);
	kill_and_wait(rival);
}
END_TEST

/* Each member has its own counts and periods. The sums are those of all members. */
START_TEST(members_have_their_own_periods)
{
	struct perfctr_control control =
		with_period(tree_control(PERFCTR_CONTROL_EXIT_RECORDS), 1009);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	uint64_t expected = 0, own;
	struct perfctr_periods told;
	struct perfctr_exit_record record;
	pid_t child[LOOPS];

	set_control(fd, control);
	loops_start(child);
	for (int i = 0; i < LOOPS; i++)
		ck_assert_int_gt(wait_for(child[i], NULL), 0);
	while (next_record(fd, &record))
		expected += record.counts.counter[0] / 1009;
	ck_assert_uint_gt(expected, LOOPS * (LOOP_INSTRUCTIONS(LONG_LOOP) / 1009) - 1);
	told = periods_of(fd, PERFCTR_SCOPE_CHILDREN);
	ck_assert_uint_eq(told.over[0], expected);
	ck_assert_uint_le(told.late, expected);
	own = periods_of(fd, PERFCTR_SCOPE_SELF).over[0];
	ck_assert_uint_gt(own, 0);
	ck_assert_uint_ge(periods_of(fd, PERFCTR_SCOPE_TREE).over[0], expected + own);
	/* Another control begins at 0. */
	set_control(fd, with_period(tree_control(0), INT64_MAX));
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_TREE).over[0], 0);
	close(fd);
}
END_TEST

static void write_msr(uint32_t msr, uint64_t value)
{
	int fd = open("/dev/cpu/0/msr", O_WRONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "/dev/cpu/0/msr: %s", strerror(errno));
	ck_assert_int_eq(pwrite(fd, &value, sizeof(value), msr), sizeof(value));
	close(fd);
}

static uint64_t read_msr(uint32_t msr)
{
	int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	uint64_t value;

	ck_assert_msg(fd >= 0, "/dev/cpu/0/msr: %s", strerror(errno));
	ck_assert_int_eq(pread(fd, &value, sizeof(value), msr), sizeof(value));
	close(fd);
	return value;
}

/* The register of general counter 1 with all its 48 bits. */
static uint32_t counter_1(void)
{
	return pmu_info().pmu == PERFCTR_PMU_AMD ? 0xc0010203 : 0x4c2;
}

/* Counter 1 is not preset. Like any other, it must be set back before it wraps. */
START_TEST(a_counter_beside_one_with_a_period_does_not_wrap)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, USER(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	struct perfctr_counts before, after;

	pin(0, 0);
	control.event[0].period = 100003;
	set_control(fd, control);
	/* As if the counter had counted for days. */
	write_msr(counter_1(), (1ull << 48) - 1000000);
	before = context_read(fd);
	spin(5000000);
	after = context_read(fd);
	ck_assert_uint_gt(after.counter[0], before.counter[0] + 5000000);
	ck_assert_uint_eq(after.counter[0] - before.counter[0],
			  after.counter[1] - before.counter[1]);
	close(fd);
}
END_TEST

/* A cleared counter looks like one that has overflowed. */
START_TEST(a_counter_that_somebody_clears_ends_no_period)
{
	struct counted c =
		begin(0, "loop-huge",
		      with_period(control_of(EVENTS({ 1, USER(INSTRUCTIONS) })), 1ull << 40));
	struct perfctr_counts counts;

	pin(0, 1);
	wait_for_count(c.fd, 1000000);
	ck_assert(!(context_read(c.fd).flags & PERFCTR_COUNTS_DISTURBED));
	write_msr(counter_1(), 0);
	counts = context_read(c.fd);
	ck_assert_uint_lt(counts.counter[0], 1ull << 39);
	ck_assert(counts.flags & PERFCTR_COUNTS_DISTURBED);
	ck_assert_uint_eq(periods_of(c.fd, PERFCTR_SCOPE_SELF).over[0], 0);
	kill_and_wait(c.pid);
	close(c.fd);
}
END_TEST

/* The other thread runs on another CPU. */
START_TEST(a_read_from_afar_finds_periods_and_disturbs_none)
{
	struct counted c = begin(1, "loop-long",
				 with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 10007));
	const uint64_t expected = LOOP_INSTRUCTIONS(LONG_LOOP);

	for (int i = 0; i < 1000; i++) {
		uint64_t before = context_read(c.fd).counter[0];
		uint64_t over = periods_of(c.fd, PERFCTR_SCOPE_SELF).over[0];

		ck_assert_uint_ge(over, before / 10007);
		ck_assert_uint_le(over, context_read(c.fd).counter[0] / 10007);
	}
	expect_periods(&c, 10007, &expected, 1);
}
END_TEST

START_TEST(periods_stay_while_the_cpu_goes_and_comes)
{
	struct counted c = begin(ANY_CPU, "loop-long",
				 with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 10007));
	const uint64_t expected = LOOP_INSTRUCTIONS(LONG_LOOP);

	pin(c.pid, 1);
	write_file("/sys/devices/system/cpu/cpu1/online", "0");
	write_file("/sys/devices/system/cpu/cpu1/online", "1");
	pin(c.pid, 1);
	expect_periods(&c, 10007, &expected, 1);
}
END_TEST

/*
 * Older programs read the sums of the last switch, tick or interrupt, and do not wait for newer
 * ones.
 */
START_TEST(a_thread_does_not_read_such_counters_itself)
{
	int fd = context_open(0, PERFCTR_OPEN_CREATE);
	const struct perfctr_page *page = context_map(fd);
	uint64_t last = 0;

	set_control(fd, with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) },
						      { 1, USER(BRANCHES) })),
				    1009));
	ck_assert_uint_eq(page->flags, 0);
	for (int i = 0; i < 100000; i++) {
		uint64_t sum = page->counter[0].sum;

		for (int j = 0; j < 2; j++)
			ck_assert_uint_ne(page->counter[j].ticket, page->counter[j].recheck);
		ck_assert_uint_eq(page->tsc.ticket, page->tsc.recheck);
		ck_assert_uint_ge(sum, last);
		last = sum;
	}
	ck_assert_uint_ge(last, 100000);
	set_control(fd, control_of(EVENTS({ 0, USER(INSTRUCTIONS) })));
	ck_assert_uint_eq(page->flags, PERFCTR_PAGE_STARTED | PERFCTR_PAGE_RDPMC);
	ck_assert_uint_eq(page->counter[0].ticket, page->counter[0].recheck);
	ck_assert_uint_eq(periods_of(fd, PERFCTR_SCOPE_SELF).n_counters, 0);
	close(fd);
}
END_TEST

START_TEST(periods_are_told_as_they_were_set)
{
	struct perfctr_control told = { .size = sizeof(told) },
			       control = control_of(EVENTS({ 1, USER(INSTRUCTIONS) },
							   { 2, USER(branches()) },
							   { 0, USER(INSTRUCTIONS) }));
	int fd = context_open(0, PERFCTR_OPEN_CREATE), other;

	control.event[0].period = 1009;
	control.event[1].period = INT64_MAX;
	set_control(fd, control);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_GET_CONTROL, &told), 0);
	ck_assert_mem_eq(&told, &control, sizeof(told));
	/* A descriptor that may not change the control can read it, too. */
	other = context_open(0, 0);
	ck_assert_int_eq(ioctl(other, PERFCTR_IOC_GET_CONTROL, &told), 0);
	ck_assert_mem_eq(&told, &control, sizeof(told));
	close(other);
	close(fd);
}
END_TEST

static void expect_bad_period(int fd, struct perfctr_control control)
{
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(control.bad_reason, PERFCTR_BAD_PERIOD);
}

START_TEST(periods_that_cannot_be_are_refused)
{
	struct perfctr_session_args args = { .size = sizeof(args), .mark = -1 };
	struct perfctr_control control = tree_control(0);
	int device = device_open(), session = ioctl(device, PERFCTR_IOC_SESSION, &args);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_int_ge(session, 0);
	expect_bad_period(fd, with_period(control, 1ull << 63));
	expect_bad_period(fd, with_period(control, UINT64_MAX));
	control.flags = 0;
	expect_bad_period(session, with_period(control, 1000));
}
END_TEST

/* Interrupts beyond the limit of a tick are put off. No period is lost, and others get the CPU. */
START_TEST(a_storm_is_counted_and_bounded)
{
	const uint64_t expected = LOOP_INSTRUCTIONS(SHORT_LOOP);
	struct counted c;

	limit_interrupts("2", "25");
	c = begin(0, "loop", with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 1));
	/* Without a limit every second or third period is reported in time. */
	ck_assert_uint_gt(expect_periods(&c, 1, &expected, 1).late, expected - expected / 100);
	restore_limits();
}
END_TEST

/* The instructions of each interrupt begin the next period. The program gets on all the same. */
START_TEST(a_storm_of_the_kernel_s_own_leaves_time_for_the_program)
{
	struct counted c = begin(0, "loop-tiny",
				 with_period(control_of(EVENTS({ 0, BOTH(INSTRUCTIONS) })), 1));
	struct perfctr_counts counts;
	struct perfctr_periods told = finish(&c, &counts);

	ck_assert_uint_gt(counts.counter[0], LOOP_INSTRUCTIONS(TINY_LOOP));
	ck_assert_uint_eq(told.over[0], counts.counter[0]);
}
END_TEST

/*
 * The instructions of an interrupt end the next period at once, as where an interrupt takes longer
 * than it may. Its vector precedes the timer's, and another CPU counts the time. Here interrupts
 * may take all of it.
 */
START_TEST(a_storm_of_the_kernel_s_own_leaves_the_cpu_its_tick)
{
	struct perfctr_control control =
		control_of(EVENTS({ 0, BOTH(INSTRUCTIONS) }, { 1, USER(INSTRUCTIONS) }));
	uint64_t ticks, before;
	struct counted c;

	pin(0, 0);
	limit_interrupts("4294967295", "100");
	control.event[0].period = 1;
	c = begin(1, "loop-huge", control);
	ticks = interrupts("LOC", 1);
	before = context_read(c.fd).counter[1];
	sleep_us(1000000);
	ck_assert_uint_ge(interrupts("LOC", 1), ticks + 10);
	ck_assert_uint_ge(context_read(c.fd).counter[1], before + 10000);
	restore_limits();
	kill_and_wait(c.pid);
	close(c.fd);
}
END_TEST

/* Opens an event of perf_events that samples the caller's user instructions. */
static int sample(uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
		.exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
}

/* The NMI is perf_events' own again. perf_events does not throttle so few samples. */
START_TEST(perf_events_gets_its_interrupt_back)
{
	uint64_t before;
	int fd;

	pin(0, 0);
	count_loop("loop", SHORT_LOOP, 1009);
	before = interrupts("PMI", 0);
	fd = sample(1000003);
	ck_assert_int_ge(fd, 0);
	spin(10000000);
	close(fd);
	ck_assert_uint_ge(interrupts("PMI", 0), before + 9);
}
END_TEST

/* The performance counters' entry of the local APIC (SDM volume 3, 11.5.1): delivery mode and mask. */
#define IA32_APIC_BASE 0x1b
#define X2APIC_ENABLED (1u << 10)
#define X2APIC_LVTPC 0x834
#define APIC_ADDRESS 0xfee00000
#define APIC_LVTPC 0x340
#define LVT_MODE 0x10700u
#define LVT_NMI 0x00400u

/* Of CPU 0, where the test runs. */
static uint32_t read_lvtpc(void)
{
	const volatile uint32_t *apic;
	uint32_t value;
	int fd;

	if (read_msr(IA32_APIC_BASE) & X2APIC_ENABLED)
		return read_msr(X2APIC_LVTPC);
	fd = open("/dev/mem", O_RDONLY | O_SYNC | O_CLOEXEC);
	ck_assert_msg(fd >= 0, "/dev/mem: %s", strerror(errno));
	apic = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, APIC_ADDRESS);
	ck_assert_msg(apic != MAP_FAILED, "local APIC: %s", strerror(errno));
	value = apic[APIC_LVTPC / sizeof(*apic)];
	munmap((void *)apic, 4096);
	close(fd);
	return value;
}

/* While nobody has a period, interrupts of others come by this entry. */
START_TEST(who_counts_without_periods_has_not_the_interrupt)
{
	struct counted holder =
		begin(1, "loop-huge", control_of(EVENTS({ 2, USER(INSTRUCTIONS) })));
	struct counted c;

	pin(0, 0);
	ck_assert_uint_eq(read_lvtpc() & LVT_MODE, LVT_NMI);
	c = begin(0, "loop-huge",
		  with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 100003));
	wait_for_count(c.fd, 1000000);
	ck_assert_uint_eq(read_lvtpc() & LVT_MODE, 0);
	kill_and_wait(c.pid);
	close(c.fd);
	ck_assert_uint_eq(read_lvtpc() & LVT_MODE, LVT_NMI);
	kill_and_wait(holder.pid);
	close(holder.fd);
}
END_TEST

/* A process of the lowest priority: busy threads of its CPU keep it from running for long. */
static pid_t idle_starter_start(void)
{
	struct perfctr_control control =
		with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 1009);
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, 0);
	EXPECT(sched_setscheduler(0, SCHED_IDLE, &(struct sched_param){ 0 }) == 0);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	EXPECT(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0);
	for (;;) {
		EXPECT(ioctl(fd, PERFCTR_IOC_START) == 0);
		spin(5000);
		EXPECT(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	}
}

#define BUSY_THREADS	4
#define STARTS		100
#define LONGEST_US	20000

START_TEST(who_waits_for_the_last_interrupt_of_a_period_keeps_nobody_waiting)
{
	pid_t busy[BUSY_THREADS], idle = idle_starter_start();
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	context_control(fd, EVENTS({ 1, USER(BRANCHES) }));
	pin(0, 1);
	sleep_us(20000);
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
		busy[i] = spinner_start(0);
	for (int i = 0; i < STARTS; i++) {
		uint64_t before = rdtsc(), ticks;

		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
		ticks = rdtsc() - before;
		ck_assert_uint_lt(ticks, (uint64_t)pmu_info().tsc_khz * LONGEST_US / 1000);
		sleep_us(1000);
	}
	close(fd);
	for (size_t i = 0; i < ARRAY_SIZE(busy); i++)
		kill_and_wait(busy[i]);
	kill_and_wait(idle);
}
END_TEST

/* The interrupts of the other program come all the time, and go on after the stop. */
START_TEST(a_stop_waits_for_no_interrupt_of_others)
{
	struct perfctr_control control =
		with_period(control_of(EVENTS({ 0, USER(INSTRUCTIONS) })), 1009);
	struct counted other =
		begin(1, "loop-huge", with_period(control_of(EVENTS({ 1, USER(INSTRUCTIONS) })), 101));
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	pin(0, 0);
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	for (int i = 0; i < STARTS; i++) {
		uint64_t before;

		spin(5000);
		before = rdtsc();
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_STOP), 0);
		ck_assert_uint_lt(rdtsc() - before, (uint64_t)pmu_info().tsc_khz * LONGEST_US / 1000);
		ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_START), 0);
	}
	close(fd);
	kill_and_wait(other.pid);
	close(other.fd);
}
END_TEST

SUITE(period, every_thread_has_as_many_periods_as_its_count_holds,
      switches_and_moves_lose_no_period, kernel_mode_has_periods_too,
      a_thread_that_leaves_before_its_interrupt_keeps_its_counts,
      members_have_their_own_periods, a_counter_beside_one_with_a_period_does_not_wrap,
      a_counter_that_somebody_clears_ends_no_period,
      a_read_from_afar_finds_periods_and_disturbs_none, periods_stay_while_the_cpu_goes_and_comes,
      a_thread_does_not_read_such_counters_itself, periods_are_told_as_they_were_set,
      periods_that_cannot_be_are_refused, a_storm_is_counted_and_bounded,
      a_storm_of_the_kernel_s_own_leaves_time_for_the_program,
      perf_events_gets_its_interrupt_back, who_counts_without_periods_has_not_the_interrupt,
      BY_THE_CLOCK, a_storm_of_the_kernel_s_own_leaves_the_cpu_its_tick,
      who_waits_for_the_last_interrupt_of_a_period_keeps_nobody_waiting,
      a_stop_waits_for_no_interrupt_of_others)
