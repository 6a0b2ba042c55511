// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stress FIRST N: random trees of processes, marks, sessions and contexts that compete, for N seeds
 * from FIRST on. All counts must be what the model says, to the instruction.
 */
#include "../guest/marks.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define WORKER "/tmp/worker" /* a copy, because files of the host take long to execute */
#define MAX_PROGRAMS 4
#define MAX_EVENTS 3
#define MAX_COMPETITORS 3

/* A program, the context that counts it or -1, and the counts that it must find. */
struct program {
	uint32_t first;
	int mark, fd;
	pid_t pid;
	struct event event[MAX_EVENTS];
	size_t n_events;
	uint64_t seen[MAX_EVENTS]; /* of the tree, until now */
	struct model model;
};

static int seed;

#define EXPECT_COUNT(got, expected, ...) expect_count(got, expected, __LINE__, __VA_ARGS__)

static void expect_count(uint64_t got, uint64_t expected, int line, const char *what, int number)
{
	ck_assert_msg(got == expected,
		      "%s %d: %llu counted, %llu executed (line %d); again: tests/stress/run %d 1",
		      what, number, (unsigned long long)got, (unsigned long long)expected, line,
		      seed);
}

/* Counters that sessions never take, with some events that count the same, in any order. */
static size_t choose_events(struct generator *g, struct event event[MAX_EVENTS])
{
	static const uint32_t counters[] = { 0, 1, PERFCTR_FIXED };
	size_t n = 1 + random_below(g, MAX_EVENTS), begin = random_below(g, MAX_EVENTS);

	for (size_t i = 0; i < n; i++) {
		uint32_t counter = counters[(begin + i) % MAX_EVENTS];
		bool branches = !(counter & PERFCTR_FIXED) && random_below(g, 2);

		event[i].counter = counter;
		event[i].evntsel = USER(counter & PERFCTR_FIXED ? FIXED
					: branches		? BRANCHES
								: INSTRUCTIONS);
	}
	return n;
}

static uint64_t expected_of(const struct event *event, struct executed executed)
{
	return event->evntsel == USER(BRANCHES) ? executed.branches : executed.instructions;
}

static void program_start(struct program *p, const int mark_fd[N_MARKS])
{
	struct perfctr_control control = control_of(p->event, p->n_events);
	char first[8];

	name_step(p->first, first);
	p->pid = stopped_start(ANY_CPU, COMMAND(WORKER, first));
	p->fd = -1;
	if (p->n_events) {
		control.flags = PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_EXIT_RECORDS;
		p->fd = context_open(p->pid, PERFCTR_OPEN_CREATE);
		ck_assert_int_eq(ioctl(p->fd, PERFCTR_IOC_CONTROL, &control), 0);
	}
	if (p->mark != NO_MARK)
		mark(p->pid, mark_fd[p->mark]);
	stopped_go(p->pid);
}

static void read_growing_tree(struct program *p)
{
	struct perfctr_counts counts = context_read_scope(p->fd, PERFCTR_SCOPE_TREE);

	for (size_t i = 0; i < p->n_events; i++) {
		ck_assert_uint_ge(counts.counter[i], p->seen[i]);
		p->seen[i] = counts.counter[i];
	}
}

/* The process may be gone. */
static void move_somewhere(struct generator *g, pid_t pid)
{
	cpu_set_t set;

	memset(&set, 0, sizeof(set));
	*(unsigned char *)&set = 1 + random_below(g, 3);
	sched_setaffinity(pid, sizeof(set), &set);
}

/* Disturbs the programs until the last worker has closed its end of the pipe. */
static void disturb(struct generator *g, struct program *program, uint32_t n, int session, int life)
{
	struct pollfd poller = { .fd = life, .events = POLLIN };

	while (poll(&poller, 1, random_below(g, 3)) == 0) {
		struct program *p = &program[random_below(g, n)];

		if (random_below(g, 2))
			move_somewhere(g, p->pid);
		else if (p->fd >= 0)
			read_growing_tree(p);
		else
			context_read(session);
	}
}

/* A worker closes its files before it has ended. */
static void wait_for_all(const struct program *program, uint32_t n, const int mark_fd[N_MARKS])
{
	for (uint32_t i = 0; i < n; i++)
		while (program[i].fd >= 0 &&
		       context_read_scope(program[i].fd, PERFCTR_SCOPE_TREE).members)
			sleep_us(1000);
	for (int i = 0; i < N_MARKS; i++)
		while (mark_members(mark_fd[i]))
			sleep_us(1000);
}

static int compare(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(uint64_t[MAX_EVENTS]));
}

/* There is a record for each thread, in any order. */
static void expect_records(const struct program *p, int number)
{
	uint64_t expected[MAX_THREADS][MAX_EVENTS] = { 0 }, got[MAX_THREADS][MAX_EVENTS] = { 0 };
	struct perfctr_exit_record record = { .size = sizeof(record) };
	uint32_t n = 0;

	while (ioctl(p->fd, PERFCTR_IOC_EXIT_RECORD, &record) == 0) {
		EXPECT_COUNT(record.lost, 0, "records lost of tree", number);
		ck_assert_uint_lt(n, MAX_THREADS);
		memcpy(got[n++], record.counts.counter, p->n_events * sizeof(uint64_t));
	}
	ck_assert_int_eq(errno, EAGAIN);
	EXPECT_COUNT(n, p->model.threads, "records of tree", number);
	for (uint32_t i = 0; i < n; i++)
		for (size_t k = 0; k < p->n_events; k++)
			expected[i][k] = expected_of(&p->event[k], p->model.thread[i]);
	qsort(expected, n, sizeof(expected[0]), compare);
	qsort(got, n, sizeof(got[0]), compare);
	for (uint32_t i = 0; i < n; i++)
		for (size_t k = 0; k < p->n_events; k++)
			EXPECT_COUNT(got[i][k], expected[i][k], "a record of tree", number);
}

static void expect_tree(const struct program *p, int number)
{
	struct perfctr_counts self = context_read(p->fd);
	struct perfctr_counts children = context_read_scope(p->fd, PERFCTR_SCOPE_CHILDREN);
	struct perfctr_counts tree = context_read_scope(p->fd, PERFCTR_SCOPE_TREE);

	EXPECT_COUNT(tree.flags, PERFCTR_COUNTS_EXITED + PERFCTR_COUNTS_CONSISTENT, "flags of tree",
		     number);
	for (size_t i = 0; i < p->n_events; i++) {
		const struct event *event = &p->event[i];
		uint64_t first = expected_of(event, p->model.thread[0]);
		uint64_t sum = expected_of(event, p->model.sum);

		EXPECT_COUNT(self.counter[i], first, "first thread of tree", number);
		EXPECT_COUNT(children.counter[i], sum - first, "children of tree", number);
		EXPECT_COUNT(tree.counter[i], sum, "tree", number);
	}
	expect_records(p, number);
}

static struct image *open_image(void)
{
	int fd = memfd_create("image", 0);
	struct image *image;

	ck_assert_int_eq(ftruncate(fd, IMAGE_BYTES), 0);
	image = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(image, MAP_FAILED);
	ck_assert_int_eq(dup2(fd, IMAGE_FD), IMAGE_FD);
	close(fd);
	return image;
}

/*
 * Makes the descriptors that workers inherit. Returns the reading end of the pipe that they hold.
 */
static int share_descriptors(const int mark_fd[N_MARKS])
{
	int life[2];

	for (int i = 0; i < N_MARKS; i++)
		ck_assert_int_eq(dup2(mark_fd[i], MARK_FD + i), MARK_FD + i);
	ck_assert_int_eq(pipe2(life, O_CLOEXEC), 0);
	ck_assert_int_eq(dup2(life[1], LIFE_FD), LIFE_FD);
	close(life[1]);
	return life[0];
}

/*
 * A session for each mark. Another one counts everything on one counter, and everything but the
 * threads that bear the first mark on another: the difference is those threads.
 */
#define EVERYTHING 0
#define EVERYTHING_BUT 1

static void sessions_start(int session[N_MARKS + 1], const int mark_fd[N_MARKS])
{
	for (int i = 0; i < N_MARKS; i++) {
		session[i] = session_open(mark_fd[i], NOT_PRIVILEGED | MARKED);
		session_control(session[i], SESSION_EVENTS({ { 2 + i, BOTH(INSTRUCTIONS) }, 0 }));
	}
	session[N_MARKS] = session_open(mark_fd[0], NOT_PRIVILEGED);
	session_control(session[N_MARKS], SESSION_EVENTS({ { PERFCTR_FIXED + 1, BOTH(FIXED) }, 0 },
							 { { PERFCTR_FIXED + 2, BOTH(FIXED) },
							   POLICY(NOT_PRIVILEGED | UNMARKED) }));
}

static void expect_sessions(const int session[N_MARKS + 1], const struct program *program,
			    uint32_t n)
{
	uint64_t marked[N_MARKS] = { 0 };
	struct perfctr_counts counts;

	for (uint32_t i = 0; i < n; i++)
		for (int k = 0; k < N_MARKS; k++)
			marked[k] += program[i].model.marked[k].instructions;
	for (int k = 0; k < N_MARKS; k++)
		EXPECT_COUNT(context_read(session[k]).counter[0], marked[k], "mark", k);
	counts = context_read(session[N_MARKS]);
	EXPECT_COUNT(counts.counter[EVERYTHING] - counts.counter[EVERYTHING_BUT], marked[0],
		     "everything but what does not bear mark", 0);
}

static void choose_programs(struct generator *g, struct program *program, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct program *p = &program[i];

		p->mark = (int)random_below(g, N_MARKS + 1) - 1;
		/* Only sessions count some of the programs. */
		if (random_below(g, 6))
			p->n_events = choose_events(g, p->event);
		p->first = generate(g, p->mark);
		model_add(&p->model, g->image, p->first, p->mark);
	}
}

START_TEST(every_count_is_what_the_model_says)
{
	static struct program programs[MAX_PROGRAMS];
	struct generator g = { .seed = (uint64_t)_i, .image = open_image() };
	int mark_fd[N_MARKS] = { mark_open(), mark_open() }, session[N_MARKS + 1], life;
	uint32_t n = 2 + random_below(&g, MAX_PROGRAMS - 1);

	seed = _i;
	if (access(WORKER, X_OK) < 0)
		copy_file(program("worker"), WORKER, 0755);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	choose_programs(&g, programs, n);
	competitors_start(random_below(&g, MAX_COMPETITORS + 1));
	life = share_descriptors(mark_fd);
	sessions_start(session, mark_fd);
	for (uint32_t i = 0; i < n; i++)
		program_start(&programs[i], mark_fd);
	close(LIFE_FD);

	disturb(&g, programs, n, session[0], life);
	wait_for_all(programs, n, mark_fd);
	for (uint32_t i = 0; i < n; i++)
		if (programs[i].fd >= 0)
			expect_tree(&programs[i], (int)i);
	expect_sessions(session, programs, n);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("stress");
	TCase *tcase = tcase_create("stress");
	SRunner *runner = srunner_create(suite);
	int first, n, failed;

	if (argc != 3 || (first = atoi(argv[1])) < 0 || (n = atoi(argv[2])) <= 0) {
		fputs("usage: stress FIRST N: the seeds from FIRST on, N of them\n", stderr);
		return EXIT_FAILURE;
	}
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, every_count_is_what_the_model_says, first, first + n);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
