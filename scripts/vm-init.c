// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Process 1 of the guest: mounts the host's files, runs one command, passes its output and its
 * status to the host.
 *
 * The file /job holds NUL-terminated strings: directory, uid, gid, rows and columns of the terminal
 * (rows is 0 if there is none), number of arguments, the arguments, the environment. The virtio
 * ports 1 and 2 take stdout and stderr. Port 3 takes "started", then "exited STATUS", "killed
 * SIGNAL" or "late SIGNAL" with the lengths of both outputs, or "failed REASON".
 *
 * If the kernel's command line has vm_files=memory, all files are in memory, and the serial ports 1
 * to 3 take the place of the virtio ports. If there is a terminal, it is the serial port 1. The
 * outputs are kept until the command has ended, so that the host cannot disturb the command. Their
 * lengths are 0 in the report, because they are complete when it comes. vm_seconds limits the
 * command, in seconds of the guest. Then there may also be:
 *
 * vm_archive=ADDRESS,SIZE,ROOM	physical memory beside that of the kernel. In the first ROOM bytes it
 *		has an archive of further files, among them /job. They do not change the instruction at which the command starts:
 *		see vm-init-start.h. When the command has ended, this memory takes what it has written,
 *		and no serial port does. Each output or file begins at the next multiple of 4096 bytes.
 *		Port 3 takes a line "file LENGTH NAME" for each; the outputs are /dev/stdout and
 *		/dev/stderr.
 * vm_send=FILE[,FILE]	each FILE that is there goes to the memory of vm_archive, too
 * vm_end=1	process 1 restarts the machine in the end, with which QEMU ends if it has -no-reboot
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "vm-init-shared.h"
#include "vm-init-start.h"
#include "vm-init-unpack.h"

#define ROOT	"/host"
#define P9	"trans=virtio,version=9p2000.L,msize=262144,access=any"

enum { PAGE = 4096 };

struct job {
	const char	*directory;
	uid_t		uid;
	gid_t		gid;
	struct winsize	terminal;
	char		**argv;
	char		**env;
};

/*
 * One output of the command. It goes from a pipe, which the command may open again by name, to a
 * port or to a file in memory.
 */
struct output {
	int			pipe[2];
	int			port;
	unsigned long long	length;
};

static bool in_memory;
static volatile sig_atomic_t timed_out;
static int control = -1;

static void write_all(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t written = write(fd, data, length);

		if (written < 0 && errno != EINTR && errno != EAGAIN)
			return;
		if (written > 0) {
			data += written;
			length -= written;
		}
	}
}

/* Two of the four serial ports share an interrupt, so only one is open at a time. */
static int open_serial(int number)
{
	struct termios settings;
	char name[16];
	int fd;

	snprintf(name, sizeof(name), "/dev/ttyS%d", number);
	fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || tcgetattr(fd, &settings))
		err(1, "no port to the host: %s", name);
	cfmakeraw(&settings);
	cfsetspeed(&settings, B115200);
	settings.c_cflag |= CLOCAL;
	tcsetattr(fd, TCSANOW, &settings);
	return fd;
}

static void close_serial(int fd)
{
	tcdrain(fd);
	close(fd);
}

static void __attribute__((format(printf, 1, 2))) report(const char *format, ...)
{
	char line[512];
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (in_memory)
		control = open_serial(3);
	write_all(control, line, length < (int)sizeof(line) ? length : (int)sizeof(line) - 1);
	if (in_memory)
		close_serial(control);
}

/* The host ends the machine as soon as it has read the last report, unless process 1 has to. */
static void __attribute__((noreturn)) wait_for_the_end(void)
{
	if (getenv("vm_end"))
		reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

static void __attribute__((noreturn)) fail(const char *what, const char *object)
{
	report("failed cannot %s %s: %s\n", what, object, strerror(errno));
	wait_for_the_end();
}

static void make_directory(const char *path, mode_t mode)
{
	if (mkdir(path, mode) && errno != EEXIST)
		fail("make the directory", path);
	if (chmod(path, mode))
		fail("set the mode of", path);
}

static void make_directories(char *path)
{
	char *slash = path;

	while ((slash = strchr(slash + 1, '/'))) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
}

static void mount_on(const char *target, const char *type, const char *source, unsigned long flags,
		     const char *options)
{
	if (mount(source, target, type, flags, options))
		fail("mount", target);
}

/* Not every kernel has this file system. If it is missing, its directory is, too. */
static void mount_if_known(const char *target, const char *type, const char *options)
{
	if (!access(target, F_OK))
		mount_on(target, type, type, 0, options);
}

/*
 * Loads the modules that the kernel needs to speak to the host, if they were not built into it, in
 * the order of their names.
 */
static void load_modules(void)
{
	struct dirent **names;
	int n = scandir("/modules", &names, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		char path[300];
		int fd;

		if (names[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/modules/%s", names[i]->d_name);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || syscall(SYS_finit_module, fd, "", 0))
			err(1, "cannot load %s", path);
		close(fd);
	}
}

/* The ports appear some time after the start: the host names them in a message to the driver. */
static int open_port(int number)
{
	struct timespec pause_time = { .tv_nsec = 1000000 };
	char name[32];

	snprintf(name, sizeof(name), "/dev/vport0p%d", number);
	for (int tries = 0; tries < 10000; tries++) {
		int fd = open(name, O_RDWR | O_CLOEXEC);

		if (fd >= 0)
			return fd;
		nanosleep(&pause_time, NULL);
	}
	return -1;
}

static char *next_string(char **position, char *end)
{
	char *string = *position;

	if (string >= end) {
		errno = EINVAL;
		fail("read", "/job: it is too short");
	}
	*position += strlen(string) + 1;
	return string;
}

static void read_job(struct job *job)
{
	int fd = open("/job", O_RDONLY | O_CLOEXEC);
	struct stat status;
	char *text, *position, *end;
	size_t length = 0, count, entries = 0;

	if (fd < 0 || fstat(fd, &status))
		fail("open", "/job");
	text = calloc(status.st_size + 1, 1);
	if (!text)
		fail("calloc", "/job");
	while (length < (size_t)status.st_size) {
		ssize_t n = read(fd, text + length, status.st_size - length);

		if (n <= 0)
			fail("read", "/job");
		length += n;
	}
	close(fd);
	for (size_t i = 0; i < length; i++)
		entries += !text[i];
	position = text;
	end = text + length;
	job->directory = next_string(&position, end);
	job->uid = strtoul(next_string(&position, end), NULL, 10);
	job->gid = strtoul(next_string(&position, end), NULL, 10);
	job->terminal.ws_row = strtoul(next_string(&position, end), NULL, 10);
	job->terminal.ws_col = strtoul(next_string(&position, end), NULL, 10);
	count = strtoul(next_string(&position, end), NULL, 10);
	job->argv = calloc(count + 1, sizeof(char *));
	job->env = calloc(entries + 1, sizeof(char *));
	if (!job->argv || !job->env)
		fail("allocate memory for", "/job");
	for (size_t i = 0; i < count; i++)
		job->argv[i] = next_string(&position, end);
	for (size_t i = 0; position < end; i++)
		job->env[i] = next_string(&position, end);
}

/*
 * Makes the directory writable without a change to the host: the host's files lie below, changes
 * are in memory.
 */
static void mount_overlay(const char *name, const char *target)
{
	char base[64], lower[80], upper[80], work[80], options[320];
	struct stat host;

	snprintf(base, sizeof(base), "/scratch/%s", name);
	snprintf(lower, sizeof(lower), "%s/lower", base);
	snprintf(upper, sizeof(upper), "%s/upper", base);
	snprintf(work, sizeof(work), "%s/work", base);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", lower, upper, work);
	if (stat(target, &host))
		fail("look at", target);
	make_directory(base, 0755);
	make_directory(lower, 0755);
	make_directory(work, 0755);
	make_directory(upper, host.st_mode & 07777);
	if (chown(upper, host.st_uid, host.st_gid))
		fail("set the owner of", upper);
	/* By another name: that of the host could contain separators of mount options. */
	mount_on(lower, NULL, target, MS_BIND, NULL);
	mount_on(target, "overlay", "overlay", 0, options);
}

/*
 * Many programs write to the user's home directory. A clone of the project may lie there, and all
 * users of the guest must find it. There is no other user in the machine, so the directory need not
 * be closed to any.
 */
static void mount_home(char **env)
{
	char target[4200];
	struct stat host;

	while (*env && strncmp(*env, "HOME=/", 6))
		env++;
	if (!*env || !(*env)[6])
		return;
	snprintf(target, sizeof(target), ROOT "%s", *env + 5);
	if (stat(target, &host) || !S_ISDIR(host.st_mode) || !access(target, W_OK) || errno != EROFS)
		return;
	mount_overlay("home", target);
	if (chmod(target, (host.st_mode & 07777) | 0111))
		fail("set the mode of", target);
}

/* Mounts the file systems of the kernel below the current directory. */
static void mount_kernels_own(void)
{
	/* In memory, /run may have files already. */
	if (!in_memory)
		mount_on("run", "tmpfs", "tmpfs", 0, "mode=755");
	mount_on("proc", "proc", "proc", 0, NULL);
	mount_on("sys", "sysfs", "sysfs", 0, NULL);
	mount_on("sys/kernel/debug", "debugfs", "debugfs", 0, NULL);
	mount_if_known("sys/kernel/tracing", "tracefs", NULL);
	mount_if_known("sys/fs/bpf", "bpf", "mode=755");
	mount_if_known("sys/fs/cgroup", "cgroup2", NULL);
	make_directory("dev/pts", 0755);
	mount_on("dev/pts", "devpts", "devpts", 0, "mode=620,gid=5,ptmxmode=666");
	make_directory("dev/shm", 01777);
	mount_on("dev/shm", "tmpfs", "tmpfs", 0, "mode=1777");
	if (symlink("/proc/self/fd", "dev/fd") || symlink("fd/0", "dev/stdin") || symlink("fd/1", "dev/stdout") ||
	    symlink("fd/2", "dev/stderr"))
		fail("make the links in", "/dev");
}

static void mount_hosts_files(const struct job *job)
{
	char target[4200];

	make_directory("/scratch", 0755);
	mount_on("/scratch", "tmpfs", "tmpfs", 0, NULL);
	make_directory(ROOT, 0755);
	mount_on(ROOT, "9p", "root", MS_RDONLY, P9 ",cache=loose");
	mount_overlay("tmp", ROOT "/tmp");
	mount_overlay("var-tmp", ROOT "/var/tmp");
	mount_home(job->env);
	if (chdir(ROOT))
		fail("enter", ROOT);
	mount_on("dev", "devtmpfs", "devtmpfs", 0, "mode=755");
	mount_kernels_own();

	/* "/" stays read-only, even if it is the directory of the command. */
	if (strcmp(job->directory, "/")) {
		snprintf(target, sizeof(target), ROOT "%s", job->directory);
		make_directories(target);
		mount_on(target, "9p", "directory", 0, P9 ",cache=mmap");
	}
	/* chroot() alone is not enough: inside of it nobody may make a user namespace. */
	if (mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		fail("enter", ROOT);
}

/* Lets programs talk to themselves over the network. */
static void start_loopback(void)
{
	struct ifreq request = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request))
		fail("start the network interface", "lo");
	close(fd);
}

static void open_terminal(const struct winsize *size)
{
	int fd = open(in_memory ? "/dev/ttyS1" : "/dev/hvc0", O_RDWR);
	struct termios settings;

	if (fd < 0 || ioctl(fd, TIOCSCTTY, 0) || ioctl(fd, TIOCSWINSZ, size) || tcgetattr(fd, &settings))
		err(125, "cannot open the terminal");
	/* Backspace erases a character, and not one byte of it. */
	settings.c_iflag |= IUTF8;
	tcsetattr(fd, TCSANOW, &settings);
	for (int i = 0; i <= 2; i++)
		dup2(fd, i);
	if (fd > 2)
		close(fd);
}

static void __attribute__((noreturn)) become_command(const struct job *job, struct output *outputs)
{
	sigset_t none;

	setsid();
	if (job->terminal.ws_row) {
		open_terminal(&job->terminal);
	} else {
		dup2(outputs[0].pipe[1], 1);
		dup2(outputs[1].pipe[1], 2);
		dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), 0);
	}
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Before the privilege is dropped that this may need. */
	if (chdir(job->directory))
		err(125, "cannot enter %s", job->directory);
	if (setgroups(0, NULL) || setgid(job->gid) || setuid(job->uid))
		err(125, "cannot become user %u", job->uid);
	environ = job->env;
	execvp(job->argv[0], job->argv);
	if (errno == ENOEXEC && sizeof(long) == 4)
		errx(126, "cannot execute %s: this kernel executes 32-bit programs only", job->argv[0]);
	err(errno == ENOENT ? 127 : 126, "cannot execute %s", job->argv[0]);
}

/* Returns false at the end of the output. */
static bool pass_on(struct output *output)
{
	static char buffer[65536];
	ssize_t n = read(output->pipe[0], buffer, sizeof(buffer));

	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0)
		return false;
	write_all(output->port, buffer, n);
	output->length += n;
	return true;
}

static void on_child(int signal)
{
	(void)signal;
}

static void on_time_out(int signal)
{
	(void)signal;
	timed_out = true;
	kill(-1, SIGKILL);
}

/*
 * Reaps whatever ends. Returns true if the command was among it. Then nothing else may run on,
 * because the outputs have to end.
 */
static bool reap(pid_t command, int *status)
{
	bool ended = false;
	pid_t pid;
	int any;

	while ((pid = waitpid(-1, &any, WNOHANG)) > 0) {
		if (pid != command)
			continue;
		*status = any;
		ended = true;
		kill(-1, SIGKILL);
	}
	return ended;
}

static int run(const struct job *job, struct output *outputs)
{
	struct sigaction action = { .sa_handler = on_child };
	struct pollfd polled[2];
	sigset_t child, none;
	bool ended = false;
	int status = 0, open_outputs = 2;
	pid_t pid;

	sigemptyset(&none);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	sigaction(SIGCHLD, &action, NULL);
	signal(SIGALRM, on_time_out);
	for (int i = 0; i < 2; i++) {
		if (pipe2(outputs[i].pipe, O_CLOEXEC))
			fail("make", "a pipe");
		/* Lets the user of the command open /dev/stdout. */
		if (fchown(outputs[i].pipe[1], job->uid, job->gid))
			fail("give away", "a pipe");
		polled[i] = (struct pollfd){ .fd = outputs[i].pipe[0], .events = POLLIN };
	}
	report("started\n");
	pid = fork();
	if (pid < 0)
		fail("fork", "the command");
	if (!pid)
		become_command(job, outputs);
	if (in_memory)
		alarm(strtoul(getenv("vm_seconds") ?: "0", NULL, 10));
	for (int i = 0; i < 2; i++)
		close(outputs[i].pipe[1]);
	while (open_outputs || !ended) {
		if (ppoll(polled, 2, NULL, &none) > 0) {
			for (int i = 0; i < 2; i++) {
				if (polled[i].revents && !pass_on(&outputs[i])) {
					polled[i].fd = -1;
					polled[i].revents = 0;
					open_outputs--;
				}
			}
		}
		if (!ended)
			ended = reap(pid, &status);
		else
			reap(-1, &status);
	}
	return status;
}

static void open_ports(struct output *outputs)
{
	control = open_port(3);
	if (control < 0)
		errx(1, "no port to the host");
	outputs[0] = (struct output){ .port = open_port(1) };
	outputs[1] = (struct output){ .port = open_port(2) };
	if (outputs[0].port < 0 || outputs[1].port < 0)
		fail("open", "the ports of the outputs");
}

static void keep_outputs(struct output *outputs)
{
	for (int i = 0; i < 2; i++) {
		outputs[i] = (struct output){ .port = memfd_create("output", MFD_CLOEXEC) };
		if (outputs[i].port < 0)
			fail("make", "a file in memory");
	}
}

static void send_by_port(int number, int file)
{
	static char buffer[65536];
	int serial = open_serial(number);
	ssize_t n;

	lseek(file, 0, SEEK_SET);
	while ((n = read(file, buffer, sizeof(buffer))) > 0)
		write_all(serial, buffer, n);
	close_serial(serial);
}

/* A file that cannot be sent is told, and the others are. */
static void send_by_memory(const struct shared *shared, const char *name, int file)
{
	static size_t offset;
	struct stat status;

	if (fstat(file, &status) || shared_copy(shared, offset, file, status.st_size)) {
		report("failed cannot send %s: %s\n", name, strerror(errno));
		return;
	}
	report("file %llu %s\n", (unsigned long long)status.st_size, name);
	offset += (status.st_size + PAGE - 1) / PAGE * PAGE;
}

static void send_named_files(const struct shared *shared)
{
	char *names = getenv("vm_send"), *name;

	while ((name = strsep(&names, ","))) {
		int file = open(name, O_RDONLY | O_CLOEXEC);

		if (file < 0)
			continue;
		send_by_memory(shared, name, file);
		close(file);
	}
}

static void send_kept(const struct shared *shared, const struct output *outputs)
{
	static const char *const names[] = { "/dev/stdout", "/dev/stderr" };

	for (int i = 0; i < 2; i++) {
		if (shared->size)
			send_by_memory(shared, names[i], outputs[i].port);
		else
			send_by_port(i + 1, outputs[i].port);
	}
	if (shared->size)
		send_named_files(shared);
}

/* place: ADDRESS,SIZE,ROOM, or NULL for none */
static struct shared read_place(const char *place)
{
	struct shared shared = { 0 };
	char *end;

	if (place) {
		shared.address = strtoull(place, &end, 16);
		shared.size = strtoull(end + strspn(end, ","), &end, 16);
		shared.archive_room = strtoull(end + strspn(end, ","), NULL, 16);
	}
	return shared;
}

static void unpack_files(const struct shared *shared)
{
	const char *unmade = unpack(shared);

	if (unmade)
		fail("make the file", unmade);
}

/* Two machines that did the same end at the same instruction. The kernel's log shows it. */
static void tell_time(void)
{
	FILE *log = fopen("/dev/kmsg", "w");

	if (!log)
		fail("open", "/dev/kmsg");
	fprintf(log, "vm: the command ended at time stamp %llu\n", __builtin_ia32_rdtsc());
	fclose(log);
}

int main(void)
{
	struct shared shared = read_place(getenv("vm_archive"));
	struct output outputs[2];
	struct start start;
	struct job job;
	int status, driver;

	program_invocation_short_name = "vm";
	in_memory = !strcmp(getenv("vm_files") ?: "", "memory");
	mkdir("/dev", 0755);
	if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) && errno != EBUSY)
		err(1, "cannot mount /dev");
	load_modules();
	driver = open("/driver", O_RDONLY | O_CLOEXEC);
	if (in_memory)
		keep_outputs(outputs);
	else
		open_ports(outputs);
	if (in_memory) {
		mount_kernels_own();
	} else {
		read_job(&job);
		mount_hosts_files(&job);
	}
	/* The driver needs to see /proc and /sys. */
	if (driver >= 0 && syscall(SYS_finit_module, driver, "", 0))
		fail("load", "the driver");
	if (driver >= 0)
		close(driver);
	start_loopback();
	if (sethostname("vm", 2))
		fail("set", "the host name");
	if (shared.size && start_before_files(&start))
		fail("prepare", "the start");
	if (shared.size)
		unpack_files(&shared);
	if (in_memory)
		read_job(&job);
	if (shared.size ? start_after_files(&start) : in_memory ? seed_random_numbers(512) : 0)
		fail("seed", "the random numbers");
	status = run(&job, outputs);
	/* Time leaps while the host takes the outputs. */
	alarm(0);
	sync();
	if (in_memory) {
		tell_time();
		send_kept(&shared, outputs);
	}
	report("%s %d %llu %llu\n", timed_out ? "late" : WIFSIGNALED(status) ? "killed" : "exited",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
	       in_memory ? 0 : outputs[0].length, in_memory ? 0 : outputs[1].length);
	wait_for_the_end();
}
