// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fuzz OPERATIONS SEED [ROUND:wWORKER.OPERATION]: runs this many operations; or those of one worker
 * alone, up to the one that a finding or the kernel's log names.
 */
#include "fuzz.h"

#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUND_OPERATIONS 5000 /* of a worker, without its children */
#define HANG_SECONDS 600      /* of the guest's clock, which runs ahead on a busy host */
#define PROGRESS_SECONDS 15
#define ENOUGH_FINDINGS 50
#define REACHED 100000 /* after so many operations every call has been accepted */

struct replay {
	bool only;
	unsigned int round;
	unsigned int worker;
	uint64_t operation; /* the last operation */
};

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void copy_program(const char *from, const char *name, mode_t mode)
{
	char to[128], buffer[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n;

	snprintf(to, sizeof(to), "%s/%s", shared->directory, name);
	out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	if (in < 0 || out < 0)
		err(2, "cannot copy %s to %s", from, to);
	while ((n = read(in, buffer, sizeof(buffer))) > 0)
		if (write(out, buffer, n) != n)
			err(2, "cannot write %s", to);
	close(in);
	close(out);
	if (chmod(to, mode))
		err(2, "cannot set the mode of %s", to);
}

/* A program for everybody, one that changes ids, and one that only root may read. */
static void make_programs(void)
{
	const char *loop = "build/tests/guest/loop-tiny";

	strcpy(shared->directory, "/tmp/fuzz-XXXXXX");
	if (!mkdtemp(shared->directory) ||
	    mount("tmpfs", shared->directory, "tmpfs", 0, "mode=755"))
		err(2, "cannot make %s", shared->directory);
	copy_program(loop, "loop", 0755);
	copy_program(loop, "loop-root", 04755);
	copy_program(loop, "loop-secret", 0711);
}

static void __attribute__((noreturn)) be_worker(unsigned int worker, uint64_t from, uint64_t to)
{
	bool privileged = worker % 2 == 0;
	struct fuzzer f = {};

	if (setpgid(0, 0) || (!privileged && syscall(SYS_setresuid, NOBODY, NOBODY, NOBODY)))
		_exit(2);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memory_init();
	process_init(worker, privileged);
	snprintf(f.path, sizeof(f.path), "w%u", worker);
	fuzzer_init(&f, mix(mix(shared->seed, shared->round), worker), true);
	run_operations(&f, from, to);
	process_end();
	_exit(0);
}

static pid_t start_worker(unsigned int worker, uint64_t to)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (!pid)
		be_worker(worker, 0, to);
	return pid;
}

static void bring_cpu_back(void)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		warn("cannot bring CPU 1 back");
	close(fd);
}

struct watch {
	pid_t pid;
	bool ended;
	unsigned long operation;
	time_t since;
};

static void end_watch(struct watch *watch, unsigned int worker, int status)
{
	unsigned long operation = atomic_load(&shared->worker[worker].operation);

	watch->ended = true;
	/* Children of the worker may be left, some of them stopped. */
	kill(-watch->pid, SIGKILL);
	if (WIFSIGNALED(status))
		finding(NULL, CHECK_PROGRESS, "w%u.%lu died of signal %d", worker, operation,
			WTERMSIG(status));
	else if (WEXITSTATUS(status))
		finding(NULL, CHECK_PROGRESS, "w%u.%lu exited with %d", worker, operation,
			WEXITSTATUS(status));
}

static void read_line(pid_t pid, const char *name, char *line, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : read(fd, line, size - 1);
	line[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* Prints where the worker's processes are. */
static void print_processes(pid_t group)
{
	char stat[256], where[1024];

	for (pid_t pid = 2; pid < 32768; pid++) {
		if (getpgid(pid) != group)
			continue;
		read_line(pid, "stat", stat, 60);
		read_line(pid, "stack", where, sizeof(where));
		if (!*where)
			read_line(pid, "wchan", where, sizeof(where));
		printf("  %s: %s\n", stat, where);
	}
}

static void check_hang(struct watch *watch, unsigned int worker)
{
	unsigned long operation = atomic_load(&shared->worker[worker].operation);

	if (operation != watch->operation) {
		watch->operation = operation;
		watch->since = now();
	} else if (now() - watch->since > HANG_SECONDS) {
		finding(NULL, CHECK_PROGRESS, "w%u.%lu hangs", worker, operation);
		print_processes(watch->pid);
		kill(watch->pid, SIGKILL);
		watch->since = now();
	}
}

/* Returns when all workers have ended. Orphans come here, too. */
static void watch_workers(struct watch watches[N_WORKERS])
{
	unsigned int running = 1;

	while (running) {
		int status;
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (!pid)
			usleep(5000);
		running = 0;
		for (unsigned int i = 0; i < N_WORKERS; i++) {
			if (pid > 0 && watches[i].pid == pid)
				end_watch(&watches[i], i, status);
			if (!watches[i].pid || watches[i].ended)
				continue;
			running++;
			check_hang(&watches[i], i);
		}
	}
}

/* Processes beside the workers. */
static const struct companion {
	const char *name;
	void (*live)(uint64_t seed);
} companions[] = {
	{ "canary", canary },
	{ "meddler", meddle },
};

static pid_t start_companion(const struct companion *companion)
{
	pid_t pid = fork();

	if (pid < 0)
		err(2, "fork");
	if (!pid) {
		companion->live(mix(shared->seed, ~(uint64_t)shared->round));
		_exit(0);
	}
	return pid;
}

static void end_companion(const struct companion *companion, pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		finding(NULL, CHECK_PROGRESS, "the %s ended with %x", companion->name, status);
}

/* Writes to the kernel's log, where complaints name worker and operation. */
static void tell_kernel(void)
{
	char line[32];
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	/* dprintf() would seek in it, which is not possible. */
	snprintf(line, sizeof(line), "fuzz: round %u\n", shared->round);
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		warn("cannot write to /dev/kmsg");
	close(fd);
}

static void run_round(const struct replay *replay)
{
	struct watch watches[N_WORKERS] = {};
	pid_t company[ARRAY_SIZE(companions)];

	atomic_store(&shared->stop, false);
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++)
		company[i] = start_companion(&companions[i]);
	tell_kernel();
	memset(shared->worker, 0, sizeof(shared->worker));
	for (unsigned int i = 0; i < N_WORKERS; i++)
		if (!replay->only || replay->worker == i)
			watches[i] = (struct watch){
				.pid = start_worker(i, replay->only ? replay->operation + 1
								    : ROUND_OPERATIONS),
				.since = now(),
			};
	watch_workers(watches);
	atomic_store(&shared->stop, true);
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++)
		end_companion(&companions[i], company[i]);
	bring_cpu_back();
	while (waitpid(-1, NULL, 0) > 0)
		;
	check_closed();
}

static void check_reach(void)
{
	if (atomic_load(&shared->operations) < REACHED)
		return;
	for (unsigned int i = 0; i < n_commands; i++) {
		bool accepted = atomic_load(&shared->call[i].accepted);

		if (accepted != command_is_possible(i))
			finding(NULL, CHECK_REACH, "%s was %s accepted", command_name(i),
				accepted ? "impossible and" : "never");
	}
	if (!atomic_load(&shared->canaries))
		finding(NULL, CHECK_REACH, "no canary counted");
	if (!atomic_load(&shared->failed_births))
		finding(NULL, CHECK_REACH, "every birth succeeded");
	if (!atomic_load(&shared->perf_events))
		finding(NULL, CHECK_REACH, "perf_events never counted");
	if (!atomic_load(&shared->changes))
		finding(NULL, CHECK_REACH, "no setting was changed");
}

static void print_progress(time_t start)
{
	printf("%lu operations, round %u, %lu canaries, %lu findings, %ld s\n",
	       atomic_load(&shared->operations), shared->round, atomic_load(&shared->canaries),
	       all_findings(), (long)(now() - start));
}

static void print_log(time_t start)
{
	unsigned long accepted = 0, refused = 0;
	struct utsname name;

	uname(&name);
	for (unsigned int i = 0; i < n_commands; i++) {
		accepted += atomic_load(&shared->call[i].accepted);
		refused += atomic_load(&shared->call[i].refused);
	}
	printf("log: %lu operations, seed %llu, Linux %s, %lu calls accepted, %lu refused, "
	       "%lu canaries, %lu births failed, %lu perf events, %lu settings, %lu findings, %ld s\n",
	       atomic_load(&shared->operations), (unsigned long long)shared->seed, name.release,
	       accepted, refused, atomic_load(&shared->canaries),
	       atomic_load(&shared->failed_births), atomic_load(&shared->perf_events),
	       atomic_load(&shared->changes), all_findings(), (long)(now() - start));
}

static void run_all(uint64_t operations, const struct replay *replay)
{
	time_t start = now(), printed = start;

	while (atomic_load(&shared->operations) < operations && all_findings() < ENOUGH_FINDINGS) {
		run_round(replay);
		if (now() - printed >= PROGRESS_SECONDS) {
			print_progress(start);
			printed = now();
		}
		if (replay->only)
			break;
		shared->round++;
	}
	check_reach();
	print_calls();
	print_checks();
	print_log(start);
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);

	if (!*text || *end || strchr(text, '-'))
		errx(2, "'%s' is not a number", text);
	return value;
}

static struct replay parse_replay(const char *text)
{
	struct replay replay = { .only = true };
	unsigned long long operation;

	/* The text after the operation belongs to a child or thread that the worker made. */
	if (sscanf(text, "%u:w%u.%llu", &replay.round, &replay.worker, &operation) != 3 ||
	    replay.worker >= N_WORKERS)
		errx(2, "replay what? ROUND:wWORKER.OPERATION, such as 3:w1.1234, not '%s'", text);
	replay.operation = operation;
	return replay;
}

int main(int argc, char **argv)
{
	struct replay replay = {};

	if (argc != 3 && argc != 4)
		errx(2, "usage: fuzz OPERATIONS SEED [ROUND:wWORKER.OPERATION]");
	if (argc == 4)
		replay = parse_replay(argv[3]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	shared_init();
	shared->seed = number(argv[2]);
	shared->round = replay.round;
	shared->supervisor = getpid();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	signal(SIGPIPE, SIG_IGN);
	make_programs();
	settings_init();
	closed_init();
	run_all(number(argv[1]), &replay);
	umount(shared->directory);
	rmdir(shared->directory);
	return all_findings() ? 1 : 0;
}
