// SPDX-License-Identifier: GPL-2.0-or-later
/* perfctr-bpfd: counts of threads on a kernel without the patch. */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_SLOTS 1024

static void print_usage(FILE *to)
{
	fputs("usage: perfctr-bpfd start [--slots N] [--user-slots N] [--event SPEC]..\n"
	      "                          [--foreground] [--verbose]\n"
	      "       perfctr-bpfd stop | status\n"
	      "  start         load the BPF programs by which libperfctr counts on this kernel\n"
	      "  stop          remove them, and all contexts\n"
	      "  status        what is loaded and used\n"
	      "  --slots N     contexts and marks at a time, 4 KiB each (default 1024)\n"
	      "  --user-slots N  that one user other than root can take (default: a quarter)\n"
	      "  --event SPEC  count this event of the processor too, up to 4 (experimental)\n"
	      "  --foreground  do not go into the background\n"
	      "  --verbose     show what libbpf says\n",
	      to);
}

/* The service needs no capabilities from now on. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &header, none) < 0)
		return complain("cannot give up capabilities (%s)", strerror(errno));
	return 0;
}

static volatile sig_atomic_t ending;

static void end_service(int signal)
{
	(void)signal;
	ending = 1;
}

/* Makes this process the service.  -1 after a complaint. */
static int become_service(const struct pinned *pinned, struct perfctr_bpf_info *info)
{
	const struct sigaction action = { .sa_handler = end_service };
	struct perfctr_bpf_kept service = {
		.action = PERFCTR_BPF_KEEP_SERVICE,
		.pid = (__u32)getpid(),
		.pid_start = start_of((__u32)getpid()),
	};

	if (read_info(pinned->info, info) < 0)
		return complain("cannot read " PERFCTR_BPF_DIRECTORY "/info (%s)", strerror(errno));
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	if (change_info(pinned->keep, &service) < 0)
		return complain("cannot write " PERFCTR_BPF_DIRECTORY "/info (%s)",
				strerror(errno));
	return drop_capabilities();
}

/* Renews the clock, and reads info with it. */
static void renew_clock(const struct pinned *pinned, struct perfctr_bpf_info *info)
{
	struct perfctr_bpf_kept to = {
		.action = PERFCTR_BPF_KEEP_CLOCK,
		.clock = next_clock(info),
	};

	change_info(pinned->keep, &to);
	read_info(pinned->info, info);
}

/* Waits a second, or until something is removed. */
static void await_change(int watch)
{
	struct pollfd change = { .fd = watch, .events = POLLIN };
	char events[4096];

	if (poll(&change, 1, 1000) > 0)
		while (read(watch, events, sizeof(events)) > 0)
			;
}

/* Keeps the clock right until the pins are gone or a signal comes.  Then removes the pins. */
static void __attribute__((noreturn))
keep_clock(const struct pinned *pinned, struct perfctr_bpf_info *info)
{
	int watch = watch_directory(pinned->directory), result;
	__u32 undo = 0;

	notify("READY=1");
	while (!ending && is_pinned(pinned->directory, PIN_INFO)) {
		renew_clock(pinned, info);
		await_change(watch);
	}
	notify("STOPPING=1");
	/*
	 * By descriptor, because another service may have pinned its own by now, under the same
	 * names.
	 */
	result = end_all(pinned, &undo);
	remove_directory(pinned->directory);
	undo_changes(undo);
	_exit(result < 0 ? 1 : 0);
}

/* Programs of another build are left alone: only perfctr-bpfd stop ends them. */
static int check_build(const struct pinned *pinned, struct perfctr_bpf_info *info)
{
	if (read_info(pinned->info, info) < 0)
		return complain("another version of it is loaded, or what it says is out of range; "
				"perfctr-bpfd stop removes it");
	if (!is_of_this_build(info))
		return complain("programs of another build are loaded; perfctr-bpfd stop, then "
				"start");
	return 0;
}

/* Takes over pins without a service, if a start with these options would pin the same. */
static int take_over(const struct perfctr_bpf_info *info, const struct options *options)
{
	if (options->n_events)
		return complain(
			"events can be named when nothing is loaded; perfctr-bpfd stop, then "
			"start");
	if ((options->slots && options->slots != info->slots) ||
	    (options->user_slots && options->user_slots != info->user_slots))
		return complain("what is loaded has %u slots, %u for one user; perfctr-bpfd stop, "
				"then start",
				info->slots, info->user_slots);
	return 0;
}

static int load_new(struct pinned *pinned, const struct options *options, __u32 undo)
{
	struct options complete = *options;

	if (!complete.slots)
		complete.slots = DEFAULT_SLOTS;
	/*
	 * A start or stop that was killed has left pins that are incomplete, or ended: they are of
	 * no use.
	 */
	if (end_all(pinned, &undo) < 0)
		return -1;
	close_info(pinned);
	if (load_and_pin(pinned->directory, &complete, undo) < 0) {
		remove_pins(pinned->directory);
		remove_directory(pinned->directory);
		return -1;
	}
	open_info(pinned);
	pinned->is_new = true;
	return 0;
}

static int complain_of_lock(struct pinned *pinned)
{
	struct perfctr_bpf_info info = { 0 };
	int error = errno;

	open_info(pinned);
	if (pinned->info >= 0 && read_info(pinned->info, &info) < 0)
		info.pid = 0;
	close_info(pinned);
	if (error != EWOULDBLOCK)
		return complain("cannot lock " PERFCTR_BPF_DIRECTORY " (%s)", strerror(error));
	if (!running_service(&info))
		return complain("another perfctr-bpfd is about to start or stop it");
	return complain("it runs already, as process %u; perfctr-bpfd status tells more", info.pid);
}

/* Locks the directory.  Takes over its pins, or loads the programs and pins them. */
static int take_over_or_load(struct pinned *pinned, const struct options *options, __u32 undo)
{
	struct perfctr_bpf_info info;

	if (lock_directory(pinned->directory) < 0)
		return complain_of_lock(pinned);
	open_info(pinned);
	if (pinned->info >= 0 && check_build(pinned, &info) < 0)
		return -1;
	if (pinned->info >= 0 && !info.ended && are_all_pinned(pinned->directory))
		return take_over(&info, options);
	return load_new(pinned, options, undo);
}

/*
 * Only the process with the directory's lock starts the service.  It keeps the lock as long as the
 * service runs.
 */
static int load_service(const struct options *options, struct pinned *pinned)
{
	__u32 undo;

	if (check_system() < 0)
		return -1;
	pinned->directory = make_directory(&undo);
	if (pinned->directory < 0)
		return -1;
	if (take_over_or_load(pinned, options, undo) == 0)
		return 0;
	close_info(pinned);
	close(pinned->directory);
	undo_changes(undo);
	return -1;
}

/* Makes this process the service, in the background.  -1 after a complaint. */
static int enter_background(const struct pinned *pinned, struct perfctr_bpf_info *info)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), result = -1;

	setsid();
	/* The parent, which reads the pipe, may have been killed. */
	signal(SIGPIPE, SIG_IGN);
	if (null < 0 || chdir("/") < 0) {
		complain("cannot go to the background (%s)", strerror(errno));
	} else if (become_service(pinned, info) == 0) { /* or it has told the user why not */
		for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
		result = 0;
	}
	if (null >= 0)
		close(null);
	return result;
}

/* The child writes a byte once it is the service.  End of file: the child has ended before. */
static int await_service(int child, int ready)
{
	int status = 0;
	char byte;

	if (read(ready, &byte, 1) == 1)
		return 0;
	waitpid(child, &status, 0);
	return WIFSIGNALED(status) ? complain("the service was killed at its start (%s)",
					      strsignal(WTERMSIG(status)))
				   : -1;
}

static int start_in_background(const struct pinned *pinned)
{
	struct perfctr_bpf_info info;
	int child, ready[2], result;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return complain("cannot make a pipe (%s)", strerror(errno));
	child = fork();
	if (child < 0)
		return complain("cannot fork (%s)", strerror(errno));
	if (child == 0) {
		close(ready[0]);
		if (enter_background(pinned, &info) < 0 ||
		    (write(ready[1], "", 1) < 0 && errno != EPIPE))
			_exit(1);
		close(ready[1]);
		keep_clock(pinned, &info);
	}
	close(ready[1]);
	result = await_service(child, ready[0]);
	close(ready[0]);
	return result;
}

/* Pins that were taken over stay: threads are counted by them, and another start can use them. */
static void give_up(const struct pinned *pinned)
{
	__u32 undo = 0;

	if (!pinned->is_new)
		return;
	end_all(pinned, &undo);
	remove_directory(pinned->directory);
	close(pinned->directory);
	undo_changes(undo);
}

static int start_service(const struct options *options)
{
	struct pinned pinned = { .info = -1, .keep = -1 };
	struct perfctr_bpf_info info;
	int result;

	if (load_service(options, &pinned) < 0)
		return -1;
	if (options->foreground) {
		result = become_service(&pinned, &info);
		if (result == 0)
			keep_clock(&pinned, &info);
	} else {
		result = start_in_background(&pinned);
	}
	if (result < 0)
		give_up(&pinned);
	return result;
}

static int read_number(const char *option, unsigned int least, const char *text,
		       unsigned int *number)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value < least || value > PERFCTR_BPF_MAX_SLOTS)
		return complain("%s takes a number from %d to %d, not '%s'", option, least,
				PERFCTR_BPF_MAX_SLOTS, text);
	*number = (unsigned int)value;
	return 0;
}

static int add_event(const char *spec, struct options *options)
{
	if (options->n_events == PERFCTR_BPF_EVENTS)
		return complain("there can be %d --event, and '%s' is one more", PERFCTR_BPF_EVENTS,
				spec);
	options->event[options->n_events++] = spec;
	return 0;
}

/*
 * Opens those standard streams that the caller has closed.  Otherwise the descriptor of the lock
 * would become one of them.
 */
static int open_standard_streams(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return complain("cannot open /dev/null (%s)", strerror(errno));
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "slots", required_argument, NULL, 's' },
		{ "user-slots", required_argument, NULL, 'u' },
		{ "event", required_argument, NULL, 'e' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options options = { 0 };
	int letter, result = -1;

	if (open_standard_streams() < 0)
		return 1;
	while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		switch (letter) {
		case 's':
			if (read_number("--slots", PERFCTR_BPF_MIN_SLOTS, optarg, &options.slots) <
			    0)
				return 1;
			break;
		case 'u':
			if (read_number("--user-slots", 1, optarg, &options.user_slots) < 0)
				return 1;
			break;
		case 'e':
			if (add_event(optarg, &options) < 0)
				return 1;
			break;
		case 'f':
			options.foreground = true;
			break;
		case 'v':
			options.verbose = true;
			break;
		case 'h':
			print_usage(stdout);
			return 0;
		default:
			return 1;
		}
	}
	if (optind + 1 != argc)
		complain("give one of start, stop, status; perfctr-bpfd --help explains them");
	else if (strcmp(argv[optind], "start") == 0)
		result = start_service(&options);
	else if (strcmp(argv[optind], "stop") == 0)
		result = stop_service();
	else if (strcmp(argv[optind], "status") == 0)
		result = show_status();
	else
		complain("'%s' is none of start, stop, status", argv[optind]);
	return result < 0 ? 1 : 0;
}
