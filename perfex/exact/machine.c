// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs the emulated machine.  All that perfex and the emulator exchange is in memory, so that
 * nothing is left on disk, however perfex ends.
 */
#define _GNU_SOURCE
#include "../textfile.h"
#include "exact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

/* scripts/build-machine makes these files.  The loader is there because the host may have none. */
#define EMULATOR "qemu-system-x86_64"
#define LOADER "lib/ld-linux-x86-64.so.2"

/* The kernel's addresses and those of programs are fixed. */
#define KERNEL_ARGUMENTS                                                                           \
	"console=ttyS0 loglevel=5 oops=panic panic=-1 mitigations=off no_timer_check "             \
	"nmi_watchdog=0 nosoftlockup nokaslr norandmaps rdinit=/init vm_files=memory "             \
	"vm_send=" MACHINE_COUNTS "," MACHINE_REGIONS " vm_end=1 "

enum { LOG, CONTROL, N_PORTS };

enum { NAMES_COLUMN = 8 };

static char *read_link_of_perfex(void)
{
	static char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	path[length > 0 ? length : 0] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	return path;
}

char *machine_file(const struct machine *machine, const char *name)
{
	return text_print("%s/%s", machine->directory, name);
}

static bool has_machine(const char *directory)
{
	const struct machine machine = { .directory = (char *)directory };
	char *path = machine_file(&machine, "processors");
	bool found = access(path, R_OK) == 0;

	free(path);
	return found;
}

static char *find_directory(void)
{
	static const char *const places[] = { "../machine", "../lib/perfctr/machine",
					      "/usr/local/lib/perfctr/machine",
					      "/usr/lib/perfctr/machine" };
	const char *named = getenv("PERFCTR_MACHINE"), *perfex = read_link_of_perfex();
	char *directory;

	if (named && !has_machine(named))
		fail("PERFCTR_MACHINE=%s: there is no machine of perfctr", named);
	if (named)
		return text_print("%s", named);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		directory = text_print("%s%s%s", *places[i] == '/' ? "" : perfex,
				       *places[i] == '/' ? "" : "/", places[i]);
		if (has_machine(directory))
			return directory;
		free(directory);
	}
	fail("perfex exact needs the machine of perfctr, which is neither beside perfex (%s/../machine) "
	     "nor installed; the Debian package perfctr-machine has it, make machine in perfctr's "
	     "sources builds it, make install-machine installs it, and "
	     "PERFCTR_MACHINE=DIRECTORY names another place",
	     perfex);
}

/* Copies one column of the line, which tabs separate, and moves to the next one. */
static void take_column(char **line, char *column, size_t size)
{
	char *text = strsep(line, "\t");

	if (!text || strlen(text) >= size)
		fail("the table of the machine's processors is damaged; make machine makes it anew");
	strcpy(column, text);
}

static bool find_processor(FILE *file, struct processor *processor, const char *name, FILE *names)
{
	char *line = NULL, *rest;
	bool found = false;
	size_t size = 0;

	while (!found && getline(&line, &size, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		rest = line;
		take_column(&rest, processor->name, sizeof(processor->name));
		take_column(&rest, processor->cpu, sizeof(processor->cpu));
		take_column(&rest, processor->board, sizeof(processor->board));
		take_column(&rest, processor->kernel, sizeof(processor->kernel));
		found = strcmp(processor->name, name) == 0;
		fprintf(names, " %s", processor->name);
	}
	free(line);
	return found;
}

/* The board's column may say that each core has several CPUs, such as "q35,smp.threads=2". */
static unsigned int cpus_of_core(const char *board)
{
	static const char option[] = ",smp.threads=";
	const char *found = strstr(board, option);

	return found ? (unsigned int)strtoul(found + strlen(option), NULL, 10) : 1;
}

/* The emulator has whole cores only. */
static void choose_cpus(struct machine *machine)
{
	const unsigned int core = cpus_of_core(machine->processor.board);
	struct text numbers;

	if (!machine->cpus)
		machine->cpus = core;
	if (machine->cpus % core == 0)
		return;
	text_open(&numbers);
	fprintf(numbers.file, "%u", core);
	for (unsigned int n = 2 * core; n <= MACHINE_MAX_CPUS; n += core)
		fprintf(numbers.file, "%s%u", n + core > MACHINE_MAX_CPUS ? " or " : ", ", n);
	fail("--cpus=%u: each core of the processor %s has %u CPUs; give %s", machine->cpus,
	     machine->processor.name, core, text_close(&numbers));
}

void machine_find(struct machine *machine, const char *processor)
{
	struct text names;
	char *path;
	FILE *file;

	machine->directory = find_directory();
	path = machine_file(machine, "processors");
	file = fopen(path, "re");
	if (!file)
		fail("cannot read %s: %m", path);
	text_open(&names);
	if (!find_processor(file, &machine->processor, processor, names.file)) {
		complain("--processor=%s: there is no such processor; there are:", processor);
		text_close(&names);
		write_words(stderr, names.text, names.size, 0, NAMES_COLUMN);
		exit(EXIT_PERFEX);
	}
	free(text_close(&names));
	fclose(file);
	free(path);
	choose_cpus(machine);
}

bool machine_has_counters(const struct machine *machine)
{
	return strstr(machine->processor.cpu, ",pmu=on");
}

size_t machine_files_size(const struct machine *machine)
{
	return (size_t)machine->memory_mb * 1024 * 1024 / 4;
}

/*
 * The files are in a memory module that the kernel does not use, so that they change nothing of how
 * it boots.  In the end it takes what COMMAND has written.  Its address is above all other memory,
 * some of which may begin at 4 GB.
 */
static const uint64_t high_memory = 4ull << 30;

/* Until the end the machine keeps all that it sends, so that this is enough. */
static uint64_t module_size(const struct machine *machine)
{
	return (uint64_t)machine->memory_mb << 20;
}

static uint64_t module_address(const struct machine *machine)
{
	return high_memory + ((uint64_t)(machine->memory_mb + 1023) / 1024 << 30);
}

/* Returns the size of all memory, in bytes, if modules begin at high_memory or later. */
static uint64_t largest_memory(const struct machine *machine)
{
	return module_size(machine) + module_address(machine) - high_memory +
	       ((uint64_t)machine->memory_mb << 20);
}

void machine_add(struct archive *archive, const struct machine *machine, const char *file,
		 const char *name)
{
	char *path = machine_file(machine, file);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		fail("cannot read %s: %m", path);
	status.st_mtime = 0;
	if (!archive_copy(archive, name, &status, fd))
		fail("cannot read %s: %m", path);
	close(fd);
	free(path);
}

/* The kernel boots with the same files each time: process 1, and the directories for its mounts. */
static void make_boot_archive(struct archive *archive, const struct machine *machine)
{
	static const char *const directories[] = { "/dev", "/proc", "/sys" };

	archive_begin(archive, machine_files_size(machine));
	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		archive_directory(archive, directories[i], 0755);
	machine_add(archive, machine, "init", "/init");
}

/* Execution keeps the descriptor. */
static int keep_open(int fd)
{
	fcntl(fd, F_SETFD, 0);
	return fd;
}

static char **make_command(const struct machine *machine, int boot, int files, const int *ports)
{
	const uint64_t size = module_size(machine), address = module_address(machine);
	char *command[] = {
		machine_file(machine, LOADER),
		"--library-path",
		machine_file(machine, "lib"),
		machine_file(machine, EMULATOR),
		/* No configuration of the host's, and no device but the serial ports. */
		"-nodefaults",
		"-no-user-config",
		"-display",
		"none",
		"-no-reboot",
		"-L",
		machine_file(machine, "firmware"),
		/* Time is the number of instructions, at 2 ns each. */
		"-accel",
		"tcg,thread=single,tb-size=256,slices=1:1000:20000",
		"-icount",
		text_print("shift=1,sleep=%s,align=off", machine->has_terminal ? "on" : "off"),
		"-rtc",
		"base=2026-01-01,clock=vm",
		"-seed",
		"1",
		"-smp",
		text_print("%u", machine->cpus),
		"-machine",
		text_print("%s", machine->processor.board),
		"-cpu",
		text_print("%s%s", machine->processor.cpu,
			   machine_has_counters(machine) ? ",pmu-syscalls=on" : ""),
		"-m",
		text_print("%u,slots=1,maxmem=%" PRIu64, machine->memory_mb,
			   largest_memory(machine)),
		"-object",
		text_print("memory-backend-file,id=files,share=on,mem-path=/proc/self/fd/%d,"
			   "size=%" PRIu64,
			   keep_open(files), size),
		"-device",
		text_print("pc-dimm,memdev=files,addr=%" PRIu64, address),
		"-kernel",
		machine_file(machine, "kernel"),
		"-initrd",
		text_print("/proc/self/fd/%d", keep_open(boot)),
		"-append",
		text_print("%svm_archive=%#" PRIx64 ",%#" PRIx64 ",%#zx %s", KERNEL_ARGUMENTS,
			   address, size, machine_files_size(machine), machine->processor.kernel),
		"-serial",
		text_print("file:/proc/self/fd/%d", ports[LOG]),
		"-chardev",
		machine->has_terminal ? "stdio,id=terminal,signal=off" : "null,id=terminal",
		"-serial",
		"chardev:terminal",
		"-serial",
		"null",
		"-serial",
		text_print("file:/proc/self/fd/%d", ports[CONTROL]),
		NULL,
	};
	char **copy = allocate(sizeof(command) / sizeof(command[0]), sizeof(char *));

	memcpy(copy, command, sizeof(command));
	return copy;
}

/*
 * The machine ends its lines by a carriage return, to which the terminal must not add another one.
 * The emulator sets OPOST, and keeps the other flags of output: OPOST alone changes nothing.
 */
static void pass_output_unchanged(void)
{
	struct termios settings;

	if (tcgetattr(STDIN_FILENO, &settings) < 0)
		return;
	settings.c_oflag = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

static void __attribute__((noreturn))
become_emulator(const struct machine *machine, int boot, int files, const int *ports,
		const sigset_t *mask)
{
	char **command = make_command(machine, boot, files, ports);
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	/*
	 * No signal of the terminal ends the emulator: perfex ends it.  If the terminal is the
	 * machine's, it sends none.
	 */
	if (!machine->has_terminal)
		setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	for (int i = 0; i < N_PORTS; i++)
		keep_open(ports[i]);
	if (machine->has_terminal) {
		pass_output_unchanged();
	} else {
		dup2(nowhere, STDIN_FILENO);
		dup2(nowhere, STDOUT_FILENO);
	}
	/* The emulator's own messages join those of the kernel. */
	dup2(ports[LOG], STDERR_FILENO);
	execv(command[0], command);
	dprintf(STDERR_FILENO, "cannot execute %s: %m\n", command[0]);
	_exit(EXIT_PERFEX);
}

/* Returns size bytes of a file in memory at offset, for free(); fewer if the file is shorter. */
static struct machine_text take_contents(int fd, uint64_t offset, size_t size)
{
	struct machine_text taken = { .text = allocate(size, 1) };

	while (taken.size < size) {
		ssize_t n = pread(fd, taken.text + taken.size, size - taken.size,
				  (off_t)(offset + taken.size));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		taken.size += (size_t)n;
	}
	return taken;
}

static struct machine_text take_port(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);

	return take_contents(fd, 0, size > 0 ? (size_t)size : 0);
}

/*
 * Waits for the emulator, or ends it at a signal that ends perfex.  Returns the number of the
 * signal, or 0.
 */
static int wait_for_emulator(pid_t emulator, const sigset_t *waited)
{
	int signal = 0;

	while (waitpid(emulator, NULL, WNOHANG) == 0) {
		int got = sigwaitinfo(waited, NULL);

		if (got <= 0 || got == SIGCHLD)
			continue;
		signal = got;
		kill(emulator, SIGKILL);
	}
	return signal;
}

/* The terminal as perfex has found it.  The flags are of standard input and output. */
struct terminal {
	struct termios settings;
	int flags[2];
};

static void remember_terminal(struct terminal *terminal)
{
	if (tcgetattr(STDIN_FILENO, &terminal->settings) < 0)
		fail("standard input is no terminal: %m");
	for (int i = STDIN_FILENO; i <= STDOUT_FILENO; i++)
		terminal->flags[i] = fcntl(i, F_GETFL);
}

/* An emulator that is killed leaves the terminal as it has set it, and O_NONBLOCK on. */
static void restore_terminal(const struct terminal *terminal)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal->settings);
	for (int i = STDIN_FILENO; i <= STDOUT_FILENO; i++)
		if (terminal->flags[i] >= 0)
			fcntl(i, F_SETFL, terminal->flags[i]);
}

/* A signal that perfex ignores since its start stays ignored. */
static void choose_signals(sigset_t *waited)
{
	*waited = ending_signals();
	sigaddset(waited, SIGCHLD);
	if (!signal_is_ignored(SIGQUIT))
		sigaddset(waited, SIGQUIT);
}

/* Takes a report such as "exited 3 0 0" as the status of wait(2).  Returns false for others. */
static bool take_status(const char *line, int *wait_status)
{
	unsigned int number;

	if (sscanf(line, "exited %u ", &number) == 1)
		*wait_status = W_EXITCODE((int)number, 0);
	else if (sscanf(line, "killed %u ", &number) == 1)
		*wait_status = W_EXITCODE(0, (int)number);
	else
		return false;
	return true;
}

/* Returns the place of a file that the machine sends; NULL if perfex knows no such file. */
static struct machine_text *find_file(struct machine_result *result, const char *line)
{
	const struct {
		const char *name;
		struct machine_text *file;
	} files[] = {
		{ "/dev/stdout", &result->output },
		{ "/dev/stderr", &result->error },
		{ MACHINE_COUNTS, &result->counts },
		{ MACHINE_REGIONS, &result->regions },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		size_t length = strlen(files[i].name);

		if (strncmp(line, files[i].name, length) == 0 && line[length] == '\n')
			return files[i].file;
	}
	return NULL;
}

/*
 * The reports are lines.  "file LENGTH NAME" says that the module has a file, behind those of
 * earlier lines.  COMMAND can forge a line, so no length is trusted.  Returns false unless a status
 * is there.
 */
static bool take_reports(const struct machine_text *reports, int module, uint64_t module_size,
			 struct machine_result *result)
{
	const char *line = reports->text, *end = line + reports->size, *next;
	struct machine_text *file;
	uint64_t offset = 0;
	size_t length;
	int name;

	for (; (next = memchr(line, '\n', (size_t)(end - line))); line = next) {
		next++;
		if (take_status(line, &result->wait_status))
			return true;
		if (strncmp(line, "failed ", 7) == 0)
			complain("in the machine: %.*s", (int)(next - line - 8), line + 7);
		if (sscanf(line, "file %zu %n", &length, &name) != 1)
			continue;
		file = find_file(result, line + name);
		if (!file || offset > module_size || length > module_size - offset)
			return false;
		free(file->text);
		*file = take_contents(module, offset, length);
		offset += (length + MACHINE_PAGE - 1) / MACHINE_PAGE * MACHINE_PAGE;
	}
	return false;
}

/* The last lines of what the kernel and the emulator have said show what went wrong. */
static void complain_of_machine(const struct machine_text *log)
{
	const char *end = log->text + log->size, *start = end;

	for (int lines = 0; start > log->text && lines <= 8; start--)
		lines += start[-1] == '\n';
	complain("the machine ended before COMMAND did; its last messages are:");
	write_all(STDERR_FILENO, start, (size_t)(end - start));
}

static bool take_results(const struct machine *machine, const int *ports, int module,
			 struct machine_result *result)
{
	struct machine_text log = take_port(ports[LOG]), reports = take_port(ports[CONTROL]);
	bool ended;

	result->out_of_memory = memmem(log.text, log.size, "Out of memory:", 14);
	ended = take_reports(&reports, module, module_size(machine), result);
	if (!ended)
		complain_of_machine(&log);
	free(reports.text);
	free(log.text);
	return ended;
}

bool machine_run(const struct machine *machine, int files, struct machine_result *result,
		 int *ended_by)
{
	sigset_t waited, mask;
	int ports[N_PORTS];
	struct archive boot;
	struct terminal terminal;
	pid_t emulator;
	bool ended;

	if (machine->has_terminal)
		remember_terminal(&terminal);
	*result = (struct machine_result){ 0 };
	for (int i = 0; i < N_PORTS; i++) {
		ports[i] = memfd_create("perfctr-port", MFD_CLOEXEC);
		if (ports[i] < 0)
			fail("no memory is left for the machine's messages: %m");
	}
	/* An ignored SIGCHLD would never come. */
	signal(SIGCHLD, SIG_DFL);
	choose_signals(&waited);
	sigprocmask(SIG_BLOCK, &waited, &mask);
	if (ftruncate(files, (off_t)module_size(machine)) < 0)
		fail("no memory is left for the files of the machine: %m");
	make_boot_archive(&boot, machine);
	emulator = fork();
	if (emulator < 0)
		fail("cannot start the machine: %m");
	if (!emulator)
		become_emulator(machine, archive_end(&boot), files, ports, &mask);
	fclose(boot.file);
	*ended_by = wait_for_emulator(emulator, &waited);
	if (machine->has_terminal)
		restore_terminal(&terminal);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	ended = !*ended_by && take_results(machine, ports, files, result);
	for (int i = 0; i < N_PORTS; i++)
		close(ports[i]);
	return ended;
}

void machine_result_free(struct machine_result *result)
{
	free(result->output.text);
	free(result->error.text);
	free(result->counts.text);
	free(result->regions.text);
}
