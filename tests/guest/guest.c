// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

const uint32_t counter_index[N_COUNTERS] = {
	0, 1, 2, 3, PERFCTR_FIXED + 0, PERFCTR_FIXED + 1, PERFCTR_FIXED + 2,
};

/* More descriptors than a test process has when it begins. */
#define LOWEST_DESCRIPTORS 64

static double rounds_factor = 1;

/* A decimal number: strtod() alone also takes hexadecimal numbers, signs and blanks. */
void read_test_rounds(void)
{
	const char *text = getenv("TEST_ROUNDS");
	char *end;

	if (!text)
		return;
	rounds_factor = strtod(text, &end);
	if (end == text || text[strspn(text, "0123456789.")] || *end || rounds_factor < 0.1 ||
	    rounds_factor > 100) {
		fprintf(stderr,
			"guest-tests: TEST_ROUNDS must be a decimal number from 0.1 to 100, not \"%s\"\n",
			text);
		exit(EXIT_FAILURE);
	}
}

unsigned int test_rounds(unsigned int n)
{
	unsigned int rounds = n * rounds_factor + 0.5;

	return rounds ? rounds : 1;
}

int device_open(void)
{
	int fd = open("/dev/perfctr", O_RDWR | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "/dev/perfctr: %s", strerror(errno));
	return fd;
}

int try_context_open(pid_t tid, unsigned int flags)
{
	struct perfctr_open_args request = { .size = sizeof(request), .flags = flags, .tid = tid };
	int device = open("/dev/perfctr", O_RDWR | O_CLOEXEC);
	int fd, error;

	if (device < 0)
		return -1;
	fd = ioctl(device, PERFCTR_IOC_OPEN, &request);
	error = errno;
	close(device);
	errno = error;
	return fd;
}

int context_open(pid_t tid, unsigned int flags)
{
	int fd = try_context_open(tid, flags);

	ck_assert_msg(fd >= 0, "opening the context of thread %d: %s", tid, strerror(errno));
	return fd;
}

struct perfctr_control control_of(const struct event *events, size_t n)
{
	struct perfctr_control control = { .size = sizeof(control), .n_events = n };

	for (size_t i = 0; i < n; i++) {
		control.event[i].counter = events[i].counter;
		control.event[i].evntsel = events[i].evntsel;
	}
	return control;
}

int try_context_control(int fd, const struct event *events, size_t n)
{
	struct perfctr_control control = control_of(events, n);

	return ioctl(fd, PERFCTR_IOC_CONTROL, &control);
}

void context_control(int fd, const struct event *events, size_t n)
{
	ck_assert_msg(try_context_control(fd, events, n) == 0, "control: %s", strerror(errno));
}

struct perfctr_counts context_read_scope(int fd, uint32_t scope)
{
	struct perfctr_counts counts = { .size = sizeof(counts), .scope = scope };

	ck_assert_msg(ioctl(fd, PERFCTR_IOC_READ, &counts) == 0, "read: %s", strerror(errno));
	return counts;
}

struct perfctr_counts context_read(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_SELF);
}

struct perfctr_control tree_control(uint32_t flags)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

	control.flags = PERFCTR_CONTROL_INHERIT | flags;
	return control;
}

int tree_open(uint32_t flags)
{
	struct perfctr_control control = tree_control(flags);
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	ck_assert_msg(ioctl(fd, PERFCTR_IOC_CONTROL, &control) == 0, "control: %s",
		      strerror(errno));
	return fd;
}

bool next_record(int fd, struct perfctr_exit_record *record)
{
	memset(record, 0, sizeof(*record));
	record->size = sizeof(*record);
	if (ioctl(fd, PERFCTR_IOC_EXIT_RECORD, record) == 0)
		return true;
	ck_assert_int_eq(errno, EAGAIN);
	return false;
}

void loops_start(pid_t child[LOOPS])
{
	for (int i = 0; i < LOOPS; i++) {
		child[i] = spawn(COMMAND(program("loop-long")));
		pin(child[i], i & 1);
	}
}

bool loops_run(int fd)
{
	return context_read_scope(fd, PERFCTR_SCOPE_TREE).members > 1;
}

void expect_exact_loops(int fd, const pid_t child[LOOPS])
{
	int status;

	for (int i = 0; i < LOOPS; i++) {
		ck_assert_int_eq(wait_for(child[i], &status), child[i]);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(context_read_scope(fd, PERFCTR_SCOPE_CHILDREN).counter[0],
			  LOOPS * (SPAWN_INSTRUCTIONS + LOOP_INSTRUCTIONS(LONG_LOOP)));
}

const struct perfctr_page *context_map(int fd)
{
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);

	ck_assert_msg(page != MAP_FAILED, "mapping the state page: %s", strerror(errno));
	return page;
}

#define FOLDS 300

void expect_equal_sums(const volatile struct perfctr_page *page, int other)
{
	uint64_t last = 0;
	int folds = 0;

	while (folds < FOLDS) {
		uint32_t seq = page->seq;
		uint64_t first = page->counter[0].sum, final = page->counter[other].sum;

		if (seq & 1 || page->seq != seq)
			continue;
		if (first != final)
			ck_abort_msg("%llu and %llu", (unsigned long long)first,
				     (unsigned long long)final);
		folds += first != last;
		last = first;
	}
}

const void *ring_record(const struct perfctr_ring *ring, uint64_t n)
{
	return (const char *)ring + ring->records + (n & (ring->n_records - 1)) * ring->record_bytes;
}

bool driver_is_module(void)
{
	return access("/sys/module/perfctr/initstate", F_OK) == 0;
}

struct perfctr_pmu_info pmu_info(void)
{
	struct perfctr_pmu_info info = { .size = sizeof(info), .holder = PERFCTR_HOLDER_ASK };
	int device = device_open();

	ck_assert_msg(ioctl(device, PERFCTR_IOC_INFO, &info) == 0, "info: %s", strerror(errno));
	close(device);
	return info;
}

void expect_holder(uint32_t holder)
{
	struct perfctr_pmu_info info = pmu_info();

	for (int i = 0; i < 300 && info.features & PERFCTR_FEATURE_MODULE && info.holder != holder;
	     i++) {
		sleep_us(10000);
		info = pmu_info();
	}
	ck_assert_uint_eq(info.holder, holder);
}

const char *program(const char *name)
{
	static char paths[8][PATH_MAX];
	static unsigned int turn;
	char *path = paths[turn++ % ARRAY_SIZE(paths)];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	ck_assert(length > 0);
	path[length] = '\0';
	snprintf(strrchr(path, '/') + 1, NAME_MAX, "%s", name);
	return path;
}

pid_t wait_for(pid_t pid, int *status)
{
	pid_t got;

	do
		got = waitpid(pid, status, 0);
	while (got < 0 && errno == EINTR);
	return got;
}

void kill_and_wait(pid_t pid)
{
	EXPECT(kill(pid, SIGKILL) == 0);
	EXPECT(wait_for(pid, NULL) == pid);
}

void wait_until_sleeping(pid_t pid)
{
	char path[32], state;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	do {
		sleep_us(1000);
		file = fopen(path, "r");
		ck_assert(file && fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
		fclose(file);
	} while (state != 'S');
}

pid_t stopped_start(int cpu, const char *const command[])
{
	pid_t pid = fork();
	int status;

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (cpu != ANY_CPU)
			pin(0, cpu);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		EXPECT(execv(command[0], (char *const *)command) == 0);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(WIFSTOPPED(status), "%s did not start", command[0]);
	return pid;
}

void stopped_go(pid_t pid)
{
	ck_assert_int_eq(ptrace(PTRACE_DETACH, pid, NULL, NULL), 0);
}

static struct counted start(int cpu, const char *const command[], struct perfctr_control control)
{
	struct counted c = { .pid = stopped_start(cpu, command) };

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	ck_assert_msg(ioctl(c.fd, PERFCTR_IOC_CONTROL, &control) == 0, "control: %s",
		      strerror(errno));
	stopped_go(c.pid);
	return c;
}

struct counted counted_start(int cpu, const char *const command[],
			     const struct event *events, size_t n)
{
	return start(cpu, command, control_of(events, n));
}

struct counted tree_start(const char *const command[], uint32_t flags)
{
	return start(ANY_CPU, command, tree_control(flags));
}

pid_t spawn(const char *const command[])
{
	long pid = SYS_vfork;

	__asm__ volatile("syscall\n\t"
			 "test	%%eax, %%eax\n\t"	/* 1 of the child */
			 "jnz	1f\n\t"			/* 1 */
			 "mov	%[execve], %%eax\n\t"	/* 1 */
			 "syscall\n\t"			/* 1 */
			 "ud2\n"
			 "1:"
			 : "+a"(pid)
			 : "D"(command[0]), "S"(command), "d"(NULL), [execve] "i"(SYS_execve)
			 : "rcx", "r11", "memory", "cc");
	ck_assert_int_gt(pid, 0);
	return pid;
}

pid_t spawn_sleeper(int semaphore)
{
	static uint64_t one;
	long pid = SYS_fork;

	__asm__ volatile("syscall\n\t"
			 "test	%%eax, %%eax\n\t"	/* 1 of the child */
			 "jnz	1f\n\t"			/* 1 */
			 "xor	%%eax, %%eax\n\t"	/* 1, read */
			 "syscall\n\t"			/* 1 */
			 "xor	%%edi, %%edi\n\t"	/* 1 */
			 "mov	%[exit], %%eax\n\t"	/* 1 */
			 "syscall\n"			/* 1 */
			 "1:"
			 : "+a"(pid)
			 : "D"(semaphore), "S"(&one), "d"(sizeof(one)), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory", "cc");
	ck_assert_int_gt(pid, 0);
	return pid;
}

struct perfctr_counts counted_finish(struct counted *c, int *status)
{
	struct perfctr_counts counts;

	ck_assert_int_eq(wait_for(c->pid, status), c->pid);
	counts = context_read(c->fd);
	close(c->fd);
	ck_assert_msg(counts.flags & PERFCTR_COUNTS_EXITED, "sums of a dead thread are not final");
	return counts;
}

uint64_t count_program(const char *name, struct event event)
{
	struct counted c = counted_start(ANY_CPU, COMMAND(program(name)), &event, 1);
	int status;
	struct perfctr_counts counts = counted_finish(&c, &status);

	ck_assert_msg(status == 0, "%s: wait status %#x", name, status);
	return counts.counter[0];
}

static void read_back(FILE *file, char *text, size_t size)
{
	rewind(file);
	text[fread(text, 1, size - 1, file)] = '\0';
	ck_assert_msg(fgetc(file) == EOF, "more than %zu bytes of output", size - 1);
	fclose(file);
}

void run(struct run *r, const char *const command[])
{
	FILE *out = tmpfile(), *err = tmpfile();
	pid_t pid;

	ck_assert(out && err);
	pid = fork();
	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		execvp(command[0], (char *const *)command);
		_exit(127);
	}
	ck_assert_int_eq(wait_for(pid, &r->status), pid);
	read_back(out, r->out, sizeof(r->out));
	read_back(err, r->err, sizeof(r->err));
}

uint64_t printed_count(const char *text, const char *what)
{
	size_t length = strlen(what);
	const char *line = text;

	while (line && *line) {
		if (strncmp(line, what, length) == 0 && strchr(" \t", line[length]))
			return strtoull(line + length, NULL, 10);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	ck_abort_msg("no line \"%s\" in:\n%s", what, text);
}

void copy_file(const char *from, const char *to, mode_t mode)
{
	struct run r;

	RUN(&r, "cp", from, to);
	ck_assert_msg(r.status == 0, "cp: %s", r.err);
	ck_assert_int_eq(chmod(to, mode), 0);
}

void in_child(void (*fn)(void *), void *argument)
{
	pid_t pid = fork();
	int status;

	ck_assert(pid >= 0);
	if (pid == 0) {
		fn(argument);
		_exit(0);
	}
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_msg(status == 0, "the child process ended with wait status %#x", status);
}

void expectation_failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: does not hold: %s (errno: %s)\n", file, line, condition,
		strerror(errno));
	_exit(1);
}

void pin(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(tid, sizeof(set), &set) < 0)
		expectation_failed(__FILE__, __LINE__, "sched_setaffinity");
}

void unpin(pid_t tid)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	if (sched_setaffinity(tid, sizeof(set), &set) < 0)
		expectation_failed(__FILE__, __LINE__, "sched_setaffinity");
}

/*
 * A child that outlives the test must keep no session or context open: the next test would find it.
 */
static void close_inherited(void)
{
	EXPECT(close_range(3, ~0u, 0) == 0);
}

pid_t spinner_start(int cpu)
{
	pid_t pid = fork();

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_inherited();
		for (;;)
			__asm__ volatile("");
	}
	if (cpu != ANY_CPU)
		pin(pid, cpu);
	return pid;
}

void competitors_start(unsigned int n)
{
	while (n--)
		spinner_start(ANY_CPU);
}

pid_t yielder_start(int cpu)
{
	pid_t pid = fork();

	ck_assert(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_inherited();
		pin(0, cpu);
		for (;;)
			sched_yield();
	}
	return pid;
}

void wait_for_count(int fd, uint64_t n)
{
	while (context_read(fd).counter[0] < n)
		sleep_us(1000);
}

void spin(uint64_t n)
{
	while (n--)
		__asm__ volatile("");
}

void sleep_us(unsigned int us)
{
	const struct timespec time = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L };

	nanosleep(&time, NULL);
}

void raise_descriptors(unsigned int n)
{
	const struct rlimit limit = { n, n };

	EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
}

void *read_only_copy(const void *content, size_t bytes)
{
	void *copy = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(copy, MAP_FAILED);
	memcpy(copy, content, bytes);
	ck_assert_int_eq(mprotect(copy, bytes, PROT_READ), 0);
	return copy;
}

void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	ck_assert_msg(write(fd, text, strlen(text)) == (ssize_t)strlen(text), "%s: %s", path,
		      strerror(errno));
	close(fd);
}

uint64_t interrupts(const char *row, int cpu)
{
	FILE *file = fopen("/proc/interrupts", "r");
	uint64_t number = 0;
	bool found = false;
	char line[1024], *at;

	EXPECT(file);
	while (!found && fgets(line, sizeof(line), file)) {
		at = line + strspn(line, " ");
		found = strncmp(at, row, strlen(row)) == 0 && at[strlen(row)] == ':';
	}
	fclose(file);
	EXPECT(found);
	at += strlen(row) + 1;
	for (int i = 0; i <= cpu; i++)
		number = strtoull(at, &at, 10);
	return number;
}

uint64_t read_number(const char *path)
{
	unsigned long long number;
	FILE *file = fopen(path, "r");

	ck_assert_msg(file, "%s: %s", path, strerror(errno));
	ck_assert_msg(fscanf(file, "%llu", &number) == 1, "%s: no number", path);
	fclose(file);
	return number;
}

static __thread sigjmp_buf rdpmc_fault;
static __thread volatile sig_atomic_t rdpmc_tried;

static void on_rdpmc_fault(int number)
{
	if (rdpmc_tried)
		siglongjmp(rdpmc_fault, 1);
	/* The fault has another cause: the test fails by it. */
	signal(number, SIG_DFL);
	raise(number);
}

bool try_rdpmc(uint32_t index, uint64_t *value)
{
	struct sigaction action = { .sa_handler = on_rdpmc_fault };

	if (sigsetjmp(rdpmc_fault, 1)) {
		rdpmc_tried = 0;
		return false;
	}
	sigaction(SIGSEGV, &action, NULL);
	rdpmc_tried = 1;
	*value = rdpmc(index);
	rdpmc_tried = 0;
	return true;
}

size_t all_counters(struct event events[N_COUNTERS])
{
	for (unsigned int i = 0; i < N_COUNTERS; i++) {
		events[i].counter = counter_index[i];
		events[i].evntsel = USER(counter_index[i] < PERFCTR_FIXED ? INSTRUCTIONS : FIXED);
	}
	return N_COUNTERS;
}

struct counted foreign_start(int cpu)
{
	struct event events[N_COUNTERS];
	struct counted foreign;

	foreign.pid = spinner_start(cpu);
	foreign.fd = context_open(foreign.pid, PERFCTR_OPEN_CREATE);
	context_control(foreign.fd, events, all_counters(events));
	foreign_wait(&foreign, 10000000);
	return foreign;
}

void foreign_wait(const struct counted *foreign, uint64_t n)
{
	uint64_t start = context_read(foreign->fd).counter[0];

	while (context_read(foreign->fd).counter[0] < start + n)
		sleep_us(500);
}

/*
 * All test processes and their children write libcheck's messages to one file at one offset.
 * libcheck sets the offset to 0 before it reads the messages. A child that is being killed may
 * write after that: it must not overwrite the test's messages.
 */
static void append_messages(void)
{
	struct stat file;

	for (int fd = 0; fd < LOWEST_DESCRIPTORS; fd++)
		if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_nlink == 0)
			ck_assert_int_eq(fcntl(fd, F_SETFL, O_APPEND), 0);
}

Suite *make_suite(SFun setup, SFun teardown, const char *name, const TTest *const tests[],
		  size_t n)
{
	Suite *suite = suite_create(name);
	bool by_the_clock = false;

	/* A case for each test, so that CK_RUN_CASE=test runs it alone. */
	for (size_t i = 0; i < n; i++) {
		TCase *tcase;

		if (tests[i] == BY_THE_CLOCK) {
			by_the_clock = true;
			continue;
		}
		tcase = tcase_create(tests[i]->name);
		if (by_the_clock)
			tcase_set_tags(tcase, "clock");
		if (setup)
			tcase_add_unchecked_fixture(tcase, setup, teardown);
		tcase_add_checked_fixture(tcase, append_messages, NULL);
		tcase_add_test(tcase, tests[i]);
		suite_add_tcase(suite, tcase);
	}
	return suite;
}
