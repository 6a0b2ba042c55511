// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The value that RDPMC shows, by the holder of the counters and by the thread that asks. The
 * expected values are the table of docs/security.md itself: its rows are the holders, its columns
 * the threads that ask. The words below say what its cells allow.
 */
#include "marks.h"

#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <perfctr.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TABLE "docs/security.md"
#define HEADING "counters held by"
#define RDPMC_SWITCH "/sys/bus/event_source/devices/cpu/rdpmc"
#define AWAY_US 2000 /* meanwhile others execute a thousand times as much */

enum {
	FAULTS = 1, /* the process gets SIGSEGV */
	REFUSED = 2,
	ANYTHING = 4,
	OWN = 8,      /* on counter 0, the count of its context */
	FIRST = 16,   /* on counter 0, the count of the first thread's context */
	SESSION = 32, /* on the session's counters, what was executed since the switch */
};

static const struct {
	const char *text;
	unsigned int allows;
} words[] = {
	{ "0", 0 },
	{ "SIGSEGV", FAULTS },
	{ "EBUSY from perf_events", REFUSED },
	{ "what perf_events counts", ANYTHING },
	{ "its own count", OWN },
	{ "what the first thread has counted", FIRST },
	{ "what the session has counted since it was switched in", SESSION },
};

/* Something of another user that counts on CPU 0, and the way to end it. */
struct holder {
	const char *row;
	int (*begin)(void);
	void (*end)(int);
	bool (*can_be)(void);
	/*
	 * The count of a thread that has only executed RDPMC since it was switched in, in the modes
	 * of the session.
	 */
	uint64_t (*since_switch)(void);
};

static pid_t busy;

static int hold_nothing(void)
{
	busy = spinner_start(0);
	return -1;
}

static int hold_by_contexts(void)
{
	struct counted foreign = foreign_start(0);

	busy = foreign.pid;
	return foreign.fd;
}

static void end_holder(int fd)
{
	kill_and_wait(busy);
	close(fd);
}

#define SESSION_GENERAL 3
#define SESSION_FIXED (PERFCTR_FIXED + 1)

static int open_counting_session(uint64_t evntsel, uint32_t policy)
{
	int session = session_open(-1, policy);

	session_control(session, SESSION_EVENTS({ { SESSION_GENERAL, evntsel }, 0 },
						{ { SESSION_FIXED, evntsel & ~0xffffull }, 0 }));
	return session;
}

static int hold_by_user_session(void)
{
	busy = spinner_start(0);
	return open_counting_session(USER(INSTRUCTIONS), NOT_PRIVILEGED);
}

static int hold_by_kernel_session(void)
{
	busy = spinner_start(0);
	return open_counting_session(BOTH(INSTRUCTIONS), 0);
}

/* Counts all threads of CPU 0, in both modes. */
static int hold_by_perf(void)
{
	int fd;

	busy = spinner_start(0);
	fd = try_perf(PERF_TYPE_RAW, BRANCHES, -1, 0);
	ck_assert_msg(fd >= 0, "perf_event_open: %s", strerror(errno));
	return fd;
}

static int hold_by_watchdog(void)
{
	write_file(NMI_WATCHDOG, "1");
	return hold_nothing();
}

static void end_watchdog(int fd)
{
	end_holder(fd);
	write_file(NMI_WATCHDOG, "0");
}

static bool can_always_be(void)
{
	return true;
}

/* RDPMC user disable: CPUID.(EAX=23H,ECX=0):EBX[2] (Intel, Architecture Instruction Set Extensions). */
static bool counters_can_be_hidden(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid_count(0x23, 0, &a, &b, &c, &d) && b & 1u << 2;
}

static bool counters_cannot_be_hidden(void)
{
	return !counters_can_be_hidden();
}

static uint64_t nothing_since(void)
{
	return 0;
}

/* Instructions around a read. */
static uint64_t in_user_mode(void)
{
	return 500;
}

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

/* Opens an event of perf_events for the caller's instructions in one mode. */
static int open_perf_of_mode(bool user)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.size = sizeof(attr),
		.config = INSTRUCTIONS,
		.exclude_kernel = user,
		.exclude_user = !user,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

#define TICK_US 4000

/*
 * The way out of the switch, and interrupts. Here perf_events counts what the kernel executes for a
 * thread that sleeps as long and then runs for two ticks: this is more on a kernel that checks
 * itself.
 */
static uint64_t in_both_modes(void)
{
	int fd = open_perf_of_mode(false);
	uint64_t until, before, after;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, &before, sizeof(before)), sizeof(before));
	sleep_us(AWAY_US);
	until = now_us() + 2 * TICK_US;
	while (now_us() < until)
		;
	ck_assert_int_eq(read(fd, &after, sizeof(after)), sizeof(after));
	close(fd);
	return in_user_mode() + after - before;
}

static const struct holder holders[] = {
	{ "nobody", hold_nothing, end_holder, can_always_be, nothing_since },
	{ "contexts", hold_by_contexts, end_holder, can_always_be, nothing_since },
	{ "a session of user mode", hold_by_user_session, end_holder, can_always_be, in_user_mode },
	{ "a session of kernel mode, where it cannot be hidden", hold_by_kernel_session, end_holder,
	  counters_cannot_be_hidden, in_both_modes },
	{ "a session of kernel mode, where it can be hidden", hold_by_kernel_session, end_holder,
	  counters_can_be_hidden, in_both_modes },
	{ "perf_events", hold_by_perf, end_holder, can_always_be, nothing_since },
	{ "the NMI watchdog", hold_by_watchdog, end_watchdog, can_always_be, nothing_since },
};

/* A thread that asks, in a process of an ordinary user, and what the cell of its row allows. */
struct question {
	const struct holder *holder;
	const char *column;
	unsigned int allows;
	bool counts; /* the first thread: its cell says "its own count" */
	int fd;	     /* its context, or -1 */
	uint64_t since_switch;
};

static _Noreturn void not_allowed(const struct question *q, uint32_t counter, uint64_t value,
				  const char *what)
{
	fprintf(stderr, "%s, %s: counter %#x: %s %llu\n", q->holder->row, q->column, counter, what,
		(unsigned long long)value);
	_exit(1);
}

static uint64_t most_allowed(const struct question *q, uint32_t counter)
{
	if (q->allows & ANYTHING)
		return UINT64_MAX;
	if (q->allows & (OWN | FIRST) && counter == 0)
		return context_read(q->fd).counter[0];
	if (q->allows & SESSION && (counter == SESSION_GENERAL || counter == SESSION_FIXED))
		return q->since_switch;
	return 0;
}

static void expect_allowed(const struct question *q, uint32_t counter)
{
	uint64_t value, most;

	if (!try_rdpmc(counter, &value)) {
		if (!(q->allows & FAULTS))
			not_allowed(q, counter, 0, "SIGSEGV instead of at most");
		return;
	}
	if (q->allows & FAULTS)
		not_allowed(q, counter, value, "SIGSEGV is due, it is");
	most = most_allowed(q, counter);
	if (value > most)
		not_allowed(q, counter, value, "it shows");
}

/* Other threads run on this CPU between two reads. */
static void ask(const struct question *q)
{
	for (unsigned int round = 0; round < test_rounds(10); round++)
		for (unsigned int i = 0; i < N_COUNTERS; i++) {
			sleep_us(AWAY_US);
			expect_allowed(q, counter_index[i]);
		}
}

/*
 * The first thread counts if its row says so. Otherwise it is stopped, as it has to be where others
 * hold the counters.
 */
static const struct perfctr_page *make_first_thread(struct question *q)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

	q->fd = context_open(0, PERFCTR_OPEN_CREATE);
	control.flags = q->counts ? 0 : PERFCTR_CONTROL_STOPPED;
	EXPECT(ioctl(q->fd, PERFCTR_IOC_CONTROL, &control) == 0);
	return context_map(q->fd);
}

static void ask_as_who_counts(struct question *q)
{
	const struct perfctr_page *page = make_first_thread(q);
	uint64_t last = 0;

	ask(q);
	/* Reads stay exact, also where the kernel executes RDPMC. */
	for (int i = 0; i < 100 && q->counts; i++) {
		uint64_t before = context_read(q->fd).counter[0];
		uint64_t now = perfctr_read_pmc(page, 0);

		EXPECT(now > last && now >= before && now <= context_read(q->fd).counter[0]);
		last = now;
	}
}

static void *ask_from_thread(void *question)
{
	ask(question);
	return NULL;
}

static void ask_as_other_thread(struct question *q)
{
	pthread_t thread;

	make_first_thread(q);
	EXPECT(pthread_create(&thread, NULL, ask_from_thread, q) == 0);
	pthread_join(thread, NULL);
}

static void ask_with_page_without_events(struct question *q)
{
	q->fd = context_open(0, PERFCTR_OPEN_CREATE);
	context_control(q->fd, NULL, 0);
	context_map(q->fd);
	ask(q);
}

/* perf_events also allows RDPMC, but it has no counters while perfctr holds them. */
static void ask_with_page_of_perf(struct question *q)
{
	int fd = open_perf_of_mode(true);

	if (q->allows & REFUSED) {
		EXPECT(fd == -1 && errno == EBUSY);
		return;
	}
	EXPECT(fd >= 0);
	EXPECT(mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
	ask(q);
}

static void ask_without_page(struct question *q)
{
	ask(q);
}

static const struct runner {
	const char *column;
	void (*ask)(struct question *q);
	const char *rdpmc_switch;
} runners[] = {
	{ "thread that counts, with its page mapped", ask_as_who_counts, "1" },
	{ "other thread of its process", ask_as_other_thread, "1" },
	{ "other process that has mapped a page", ask_with_page_without_events, "1" },
	{ "process with a page of perf_events", ask_with_page_of_perf, "1" },
	{ "process without a page", ask_without_page, "1" },
	{ "process without a page, where root allows RDPMC to all", ask_without_page, "2" },
};
#define COLUMNS ARRAY_SIZE(runners)

/* Splits a line of the table at its bars. Returns false if the line is none. */
static bool split_line(char *line, char *cell[COLUMNS + 1])
{
	size_t n = 0;

	if (strncmp(line, "| ", 2))
		return false;
	for (char *at = line + 2, *bar; (bar = strstr(at, " |")); at = bar + 3) {
		*bar = '\0';
		ck_assert_msg(n <= COLUMNS, "%s: too many columns: %s", TABLE, at);
		cell[n++] = at;
	}
	return n == COLUMNS + 1;
}

static unsigned int allowed_by(const char *cell)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(cell, words[i].text))
			return words[i].allows;
	ck_abort_msg("%s: a cell says \"%s\", which no test knows", TABLE, cell);
}

struct row {
	const struct holder *holder;
	unsigned int allows[COLUMNS];
};

/* A cell with two phrases allows both. */
static unsigned int parse_cell(char *cell)
{
	char *and = strstr(cell, ", and ");

	if (!and)
		return allowed_by(cell);
	*and = '\0';
	return allowed_by(cell) | allowed_by(and+strlen(", and "));
}

static void parse_row(struct row *row, char *cell[COLUMNS + 1])
{
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
		if (!strcmp(cell[0], holders[i].row))
			row->holder = &holders[i];
	ck_assert_msg(row->holder != NULL, "%s: no test holds the counters by \"%s\"", TABLE,
		      cell[0]);
	for (size_t i = 0; i < COLUMNS; i++)
		row->allows[i] = parse_cell(cell[1 + i]);
}

/* Reads the table. Its heading names the runners in their order. Returns the number of its rows. */
static size_t read_table(struct row rows[ARRAY_SIZE(holders)])
{
	FILE *file = fopen(TABLE, "re");
	char line[2000], *cell[COLUMNS + 1];
	bool inside = false;
	size_t n = 0;

	ck_assert_msg(file != NULL, "%s: %s", TABLE, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		if (!inside) {
			inside = !strncmp(line, "| " HEADING " |", strlen("| " HEADING " |"));
			if (!inside)
				continue;
			ck_assert(split_line(line, cell));
			for (size_t i = 0; i < COLUMNS; i++)
				ck_assert_str_eq(cell[1 + i], runners[i].column);
		} else if (split_line(line, cell)) {
			ck_assert_uint_lt(n, ARRAY_SIZE(holders));
			parse_row(&rows[n++], cell);
		} else if (line[0] != '|') {
			break;
		}
	}
	fclose(file);
	return n;
}

static struct question question;

static void answer(void *runner)
{
	pin(0, 0);
	become_nobody();
	((const struct runner *)runner)->ask(&question);
}

/* Asks in a new process: nothing of the former question is left. */
static void ask_one(const struct row *row, size_t column)
{
	const struct runner *runner = &runners[column];
	uint64_t since_switch = row->holder->since_switch();
	int fd = row->holder->begin();

	question = (struct question){
		.holder = row->holder,
		.column = runner->column,
		.allows = row->allows[column],
		.counts = row->allows[0] & OWN,
		.fd = -1,
		.since_switch = since_switch,
	};
	write_file(RDPMC_SWITCH, runner->rdpmc_switch);
	in_child(answer, (void *)runner);
	write_file(RDPMC_SWITCH, "1");
	row->holder->end(fd);
}

/* For the suites after this one, even if this one has failed. */
static void allow_rdpmc_as_booted(void)
{
	write_file(RDPMC_SWITCH, "1");
}

START_TEST(rdpmc_shows_what_the_table_says)
{
	struct row rows[ARRAY_SIZE(holders)] = { 0 };

	ck_assert_uint_eq(read_table(rows), ARRAY_SIZE(holders));
	for (size_t i = 0; i < ARRAY_SIZE(holders); i++)
		for (size_t column = 0; column < COLUMNS && rows[i].holder->can_be(); column++)
			ask_one(&rows[i], column);
}
END_TEST

SUITE_BETWEEN(allow_rdpmc_as_booted, allow_rdpmc_as_booted, rdpmc_table,
	      rdpmc_shows_what_the_table_says)
