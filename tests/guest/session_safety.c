// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sessions beside contexts, CPUs that go offline and come back, traces: the sums stay right, and
 * others see nothing.
 */
#include "marks.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU1_ONLINE "/sys/devices/system/cpu/cpu1/online"

/* argument: the set-user-id programs. */
static void user_marks_and_executes(void *argument)
{
	const struct set_user_id *programs = argument;
	int mark_fd, session;
	uint64_t counted;

	become_nobody();
	mark_fd = mark_open();
	session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	if (fork() == 0) {
		try_mark(PERFCTR_MARK_SET, PERFCTR_MARK_PROCESS, 0, mark_fd);
		EXPECT(mark_members(mark_fd) == 1);
		execl(programs->loop, "loop", NULL);
	}
	wait(NULL);
	/* All of it was counted before the program began. */
	counted = context_read(session).counter[0];
	EXPECT(counted > 0 && counted < LOOP_INSTRUCTIONS(SHORT_LOOP));
}

/* A thread that changes its ids keeps a mark of root, and loses a mark of a user. */
START_TEST(a_set_user_id_program_loses_a_user_s_mark_and_keeps_root_s)
{
	struct set_user_id programs = set_user_id_programs();
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	uint64_t kept;
	pid_t pid;

	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	pid = fork();
	if (pid == 0) {
		become_nobody();
		ioctl(mark_fd, PERFCTR_IOC_ENTER);
		execl(programs.loop, "loop", NULL);
		_exit(1);
	}
	expect_success(pid);
	kept = context_read(session).counter[0];
	ck_assert_uint_ge(kept, LOOP_INSTRUCTIONS(SHORT_LOOP));
	in_child(user_marks_and_executes, &programs);
	close(session);
	close(mark_fd);
	set_user_id_remove(&programs);
}
END_TEST

static void look_at_a_session_s_counter(uint32_t policy, struct event event)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, policy), fd;
	uint64_t value, most = 0;
	pid_t other;

	session_control(session, SESSION_EVENTS({ event, 0 }));
	pin(0, 0);
	other = marked_start(mark_fd, 0, COMMAND(program("loop-huge")));
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	for (int i = 0; i < 50; i++) {
		uint64_t before = context_read(session).counter[0];

		sched_yield();
		/* The other thread has run since. This one finds at most its own switch. */
		ck_assert(try_rdpmc(3, &value));
		most = value > most ? value : most;
		ck_assert_uint_ge(context_read(session).counter[0], before);
	}
	ck_assert_uint_lt(most, 200000);
	ck_assert_uint_gt(context_read(session).counter[0], 50 * most);
	kill_and_wait(other);
	close(fd);
	close(session);
	close(mark_fd);
}

/* A session of kernel mode: the kernel executes RDPMC for the thread, which has no counter 3. */
START_TEST(rdpmc_shows_nothing_of_what_a_session_counted_for_others)
{
	look_at_a_session_s_counter(0, (struct event){ 3, BOTH(INSTRUCTIONS) });
}
END_TEST

/* The thread executes RDPMC itself. */
START_TEST(rdpmc_shows_nothing_of_what_a_session_of_user_mode_counted_for_others)
{
	look_at_a_session_s_counter(NOT_PRIVILEGED, (struct event){ 3, USER(INSTRUCTIONS) });
}
END_TEST

START_TEST(a_session_is_exact_while_a_cpu_goes_and_comes)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	pid_t child[4];

	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	for (int i = 0; i < 4; i++)
		child[i] = marked_start(mark_fd, i & 1, COMMAND(program("loop-long")));
	for (int i = 0; i < 4; i++) {
		write_file(CPU1_ONLINE, "0");
		sleep_us(5000);
		write_file(CPU1_ONLINE, "1");
		pin(child[i], 1);
		sleep_us(5000);
	}
	for (int i = 0; i < 4; i++)
		expect_success(child[i]);
	ck_assert_uint_eq(context_read(session).counter[0], 4 * LOOP_INSTRUCTIONS(LONG_LOOP));
	/* A session that begins while a CPU is offline counts there when the CPU comes back. */
	write_file(CPU1_ONLINE, "0");
	session_control(session, SESSION_EVENTS({ { 1, USER(INSTRUCTIONS) }, 0 }));
	write_file(CPU1_ONLINE, "1");
	expect_success(marked_start(mark_fd, 1, COMMAND(program("loop"))));
	write_file(CPU1_ONLINE, "0");
	ck_assert_uint_eq(context_read(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	write_file(CPU1_ONLINE, "1");
	close(session);
	close(mark_fd);
}
END_TEST

#define HOLE_PAGE 4096

/* The last bytes, zero, before a page that is not there. */
static void *before_hole(size_t bytes)
{
	char *memory = mmap(NULL, 2 * HOLE_PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(memory != MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + HOLE_PAGE, HOLE_PAGE, PROT_NONE), 0);
	return memory + HOLE_PAGE - bytes;
}

START_TEST(one_cpu_alone_can_be_counted)
{
	uint64_t cpus = 1 << 1, beyond = cpus | 1ull << 40;
	struct perfctr_session_args open = session_of(-1, NOT_PRIVILEGED);
	int session;

	pin(0, 0);
	open.cpus = (uintptr_t)&beyond;
	open.cpus_bytes = sizeof(beyond);
	ck_assert_int_eq(try_session(&open), -1);
	ck_assert_int_eq(errno, EINVAL);
	/* The memory after the last CPU must be there, too. */
	open.cpus = (uintptr_t)before_hole(sizeof(cpus));
	open.cpus_bytes = 2 * sizeof(cpus);
	ck_assert_int_eq(try_session(&open), -1);
	ck_assert_int_eq(errno, EFAULT);
	open.cpus = (uintptr_t)&cpus;
	open.cpus_bytes = sizeof(cpus);
	session = try_session(&open);
	ck_assert_int_ge(session, 0);
	session_control(session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	expect_success(marked_start(-1, 0, COMMAND(program("loop"))));
	ck_assert_uint_lt(context_read(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	expect_success(marked_start(-1, 1, COMMAND(program("loop"))));
	ck_assert_uint_ge(context_read(session).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	close(session);
}
END_TEST

#define MAX_CPUS 8

/* The mapped trace of all CPUs. */
struct trace {
	int session;
	uint32_t cpus;
	const struct perfctr_ring *ring[MAX_CPUS];
};

static struct trace trace_open(int mark_fd, uint32_t policy, uint32_t bytes, uint32_t ticks)
{
	struct perfctr_session_args open = session_of(mark_fd, policy);
	struct trace trace;

	open.trace_bytes = bytes;
	open.trace_ticks = ticks;
	trace.session = try_session(&open);
	ck_assert_msg(trace.session >= 0, "session: %s", strerror(errno));
	trace.cpus = open.n_cpus;
	ck_assert_uint_le(trace.cpus, MAX_CPUS);
	for (uint32_t i = 0; i < trace.cpus; i++) {
		trace.ring[i] = mmap(NULL, open.ring_bytes, PROT_READ, MAP_SHARED, trace.session,
				     (off_t)PERFCTR_RING_OFFSET + i * (off_t)open.ring_bytes);
		ck_assert_ptr_ne(trace.ring[i], MAP_FAILED);
	}
	return trace;
}

struct per_thread {
	uint64_t records, lost, marked, others;
};

/* Counts between two records belong to the thread that the first one names. */
static void add_up(const struct trace *trace, struct per_thread *sum)
{
	for (uint32_t i = 0; i < trace->cpus; i++) {
		const struct perfctr_ring *ring = trace->ring[i];
		const struct perfctr_trace_record *last = NULL;

		for (uint64_t n = ring->tail; n < ring->head; n++) {
			const struct perfctr_trace_record *r = ring_record(ring, n);

			if (last && last->tid)
				sum->marked += r->counter[0] - last->counter[0];
			else if (last)
				sum->others += r->counter[0] - last->counter[0];
			sum->lost += r->lost;
			sum->records++;
			last = r;
		}
	}
}

/* Both counters count instructions of kernel mode, so they run while the driver writes a record. */
START_TEST(each_record_of_a_trace_is_of_one_instruction)
{
	int mark_fd = mark_open();
	struct trace trace = trace_open(mark_fd, 0, 1 << 16, 1);
	pid_t marked = yielder_start(1), unmarked = yielder_start(1);
	const struct perfctr_ring *ring = trace.ring[1];

	mark(marked, mark_fd);
	session_control(trace.session, SESSION_EVENTS({ { 0, KERNEL(INSTRUCTIONS) }, 0 },
						      { { 2, KERNEL(INSTRUCTIONS) }, 0 }));
	sleep_us(300000);
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_STOP), 0);
	kill_and_wait(marked);
	kill_and_wait(unmarked);
	ck_assert_uint_gt(ring->head - ring->tail, 100);
	for (uint64_t n = ring->tail; n < ring->head; n++) {
		const struct perfctr_trace_record *r = ring_record(ring, n);

		ck_assert_uint_eq(r->counter[0], r->counter[1]);
	}
	close(trace.session);
	close(mark_fd);
}
END_TEST

static uint64_t lost(const struct trace *trace)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < trace->cpus; i++)
		sum += trace->ring[i]->lost;
	return sum;
}

START_TEST(a_trace_adds_up_to_the_totals)
{
	int mark_fd = mark_open();
	struct trace trace = trace_open(mark_fd, NOT_PRIVILEGED, 1 << 20, 1);
	struct per_thread sum = { 0 };
	pid_t child[4];

	session_control(trace.session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 },
						      { { 1, USER(BRANCHES) }, 0 }));
	for (int i = 0; i < 4; i++)
		child[i] = marked_start(mark_fd, i & 1, COMMAND(program("loop-long")));
	for (int i = 0; i < 4; i++)
		expect_success(child[i]);
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_STOP), 0);
	add_up(&trace, &sum);
	ck_assert_uint_eq(sum.marked, 4 * LOOP_INSTRUCTIONS(LONG_LOOP));
	ck_assert_uint_eq(sum.marked + sum.others, context_read(trace.session).counter[0]);
	ck_assert_uint_eq(lost(&trace), 0);
	ck_assert_uint_gt(sum.records, 20);
	close(trace.session);
	close(mark_fd);
}
END_TEST

static void switch_often(int mark_fd, int switches)
{
	int to[2], from[2];
	char byte = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(to) | pipe(from), 0);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1 && write(from[1], &byte, 1) == 1)
			;
		_exit(0);
	}
	mark(pid, mark_fd);
	mark(0, mark_fd);
	pin(pid, 0);
	pin(0, 0);
	for (int i = 0; i < switches / 2; i++)
		ck_assert(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1);
	close(to[1]);
	expect_success(pid);
	ioctl(mark_fd, PERFCTR_IOC_LEAVE);
}

START_TEST(a_hundred_thousand_switches_are_traced_and_a_reader_in_time_loses_none)
{
	int mark_fd = mark_open();
	struct trace trace = trace_open(mark_fd, NOT_PRIVILEGED | MARKED, 1 << 20, 0);
	struct perfctr_consume consume = { .size = sizeof(consume) };
	uint64_t records = 0;

	session_control(trace.session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	for (int i = 0; i < 10; i++) {
		switch_often(mark_fd, 10000);
		for (consume.cpu = 0; consume.cpu < trace.cpus; consume.cpu++) {
			const struct perfctr_ring *ring = trace.ring[consume.cpu];

			records += ring->head - ring->tail;
			consume.tail = ring->head;
			ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_CONSUME, &consume), 0);
		}
	}
	ck_assert_uint_ge(records, 100000);
	ck_assert_uint_eq(lost(&trace), 0);
	consume.cpu = 0;
	consume.tail = trace.ring[0]->head + 1;
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_CONSUME, &consume), -1);
	ck_assert_int_eq(errno, EINVAL);
	consume.tail = 0;
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_CONSUME, &consume), -1);
	close(trace.session);
	close(mark_fd);
}
END_TEST

START_TEST(what_finds_no_room_in_the_ring_is_counted)
{
	int mark_fd = mark_open();
	struct trace trace = trace_open(mark_fd, NOT_PRIVILEGED | MARKED, 4096, 0);
	struct perfctr_consume consume = { .size = sizeof(consume) };
	struct per_thread sum = { 0 };

	session_control(trace.session, SESSION_EVENTS({ { 0, USER(INSTRUCTIONS) }, 0 }));
	switch_often(mark_fd, 10000);
	ck_assert_uint_eq(trace.ring[0]->head, trace.ring[0]->n_records);
	ck_assert_uint_gt(trace.ring[0]->lost, 9000);
	consume.tail = trace.ring[0]->head;
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_CONSUME, &consume), 0);
	ck_assert_int_eq(ioctl(trace.session, PERFCTR_IOC_STOP), 0);
	/* The next record tells how many were lost. */
	add_up(&trace, &sum);
	ck_assert_uint_ge(sum.records, 1);
	ck_assert_uint_eq(sum.lost, lost(&trace));
	close(trace.session);
	close(mark_fd);
}
END_TEST

static void expect_read_only(int fd, size_t length, off_t offset)
{
	void *memory;

	errno = 0;
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
	ck_assert(memory == MAP_FAILED && errno == EPERM);
	memory = mmap(NULL, length, PROT_READ, MAP_SHARED, fd, offset);
	ck_assert(memory != MAP_FAILED);
	errno = 0;
	ck_assert(mprotect(memory, length, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
}

START_TEST(totals_and_rings_can_not_be_written)
{
	struct perfctr_session_args open = session_of(-1, 0);
	int session;

	open.trace_bytes = 4096;
	session = try_session(&open);
	ck_assert_int_ge(session, 0);
	expect_read_only(session, open.pages_bytes, 0);
	expect_read_only(session, open.ring_bytes, PERFCTR_RING_OFFSET + (off_t)open.ring_bytes);
	close(session);
}
END_TEST

/* A process on CPU 0 that counts with counter 0, may execute RDPMC, and is switched often. */
static pid_t restless_start(void)
{
	pid_t pid = fork();
	int fd;

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	pin(0, 0);
	fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(fd, EVENTS({ 0, USER(INSTRUCTIONS) }));
	context_map(fd);
	for (;;)
		sleep_us(1000);
}

START_TEST(a_session_s_counter_is_not_cleared_for_a_context_that_had_it_before)
{
	int mark_fd = mark_open(), session, keeper = context_open(0, PERFCTR_OPEN_CREATE);
	struct counted former;
	pid_t child, other;

	/* This context keeps the driver from giving the counters back. */
	pin(0, 1);
	context_control(keeper, EVENTS({ 0, USER(INSTRUCTIONS) }));
	former = counted_start(0, COMMAND(program("loop")), EVENTS({ 2, USER(INSTRUCTIONS) }));
	counted_finish(&former, NULL);
	session = session_open(mark_fd, NOT_PRIVILEGED | MARKED);
	session_control(session, SESSION_EVENTS({ { 2, USER(INSTRUCTIONS) }, 0 }));
	child = marked_start(mark_fd, 0, COMMAND(program("loop-long")));
	sleep_us(50000);
	other = restless_start();
	expect_success(child);
	ck_assert_uint_eq(context_read(session).counter[0], LOOP_INSTRUCTIONS(LONG_LOOP));
	kill_and_wait(other);
	close(session);
	close(mark_fd);
	close(keeper);
}
END_TEST

/* A sleeping child, whose control counts instructions on counter n. */
static int sleeper_with(uint32_t n, uint32_t flags, pid_t *pid)
{
	struct perfctr_control control = control_of(EVENTS({ n, USER(INSTRUCTIONS) }));
	int fd;

	*pid = spawn_sleeper(eventfd(0, EFD_CLOEXEC));
	fd = context_open(*pid, PERFCTR_OPEN_CREATE);
	control.flags = flags;
	ck_assert_int_eq(ioctl(fd, PERFCTR_IOC_CONTROL, &control), 0);
	return fd;
}

static void expect_loop_counted(void)
{
	struct counted c =
		counted_start(0, COMMAND(program("loop")), EVENTS({ 0, USER(INSTRUCTIONS) }));
	int status;

	ck_assert_uint_eq(counted_finish(&c, &status).counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_int_eq(status, 0);
}

/*
 * One sleeper keeps the counters held. The other one keeps the control that counts the loop. So CPU
 * 0 goes on remembering both.
 */
START_TEST(a_context_counts_its_event_after_a_session_has_had_the_counter)
{
	pid_t holder, keeper;
	int session, status;

	sleeper_with(1, 0, &holder);
	sleeper_with(0, PERFCTR_CONTROL_STOPPED, &keeper);
	expect_loop_counted();
	session = session_open(-1, 0);
	session_control(session, SESSION_EVENTS({ { 0, USER(BRANCHES) }, 0 }));
	close(session);
	expect_loop_counted();
	kill(holder, SIGKILL);
	kill(keeper, SIGKILL);
	while (wait_for(-1, &status) > 0)
		;
}
END_TEST

SUITE(session_safety, a_set_user_id_program_loses_a_user_s_mark_and_keeps_root_s,
      rdpmc_shows_nothing_of_what_a_session_counted_for_others,
      rdpmc_shows_nothing_of_what_a_session_of_user_mode_counted_for_others,
      a_session_is_exact_while_a_cpu_goes_and_comes, one_cpu_alone_can_be_counted,
      a_trace_adds_up_to_the_totals, each_record_of_a_trace_is_of_one_instruction,
      a_hundred_thousand_switches_are_traced_and_a_reader_in_time_loses_none,
      what_finds_no_room_in_the_ring_is_counted, totals_and_rings_can_not_be_written,
      a_session_s_counter_is_not_cleared_for_a_context_that_had_it_before,
      a_context_counts_its_event_after_a_session_has_had_the_counter)
