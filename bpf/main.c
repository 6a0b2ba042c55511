// SPDX-License-Identifier: GPL-2.0-or-later
/* perfctr-bpfd: counts of threads on a kernel without the patch. */
#define _GNU_SOURCE
#include "service.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MIN_SLOTS 4
#define MAX_SLOTS 65536

int complain(const char *format, ...)
{
	va_list arguments;

	fputs("perfctr-bpfd: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

static void usage(FILE *to)
{
	fputs("usage: perfctr-bpfd start [--slots N] [--event SPEC].. [--foreground] [--verbose]\n"
	      "       perfctr-bpfd stop | status\n"
	      "  start         load the BPF programs by which libperfctr counts on this kernel\n"
	      "  stop          remove them, and all contexts\n"
	      "  status        what is loaded and used\n"
	      "  --slots N     contexts and groups at a time, 4 KiB each (default 1024)\n"
	      "  --event SPEC  count this event of the processor too, up to 4 (experimental)\n"
	      "  --foreground  do not go into the background\n"
	      "  --verbose     show what libbpf says\n",
	      to);
}

/* What is left to do needs none. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	syscall(SYS_capset, &header, none);
}

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

void keep_clock(int map, int ready)
{
	struct timespec second = { .tv_sec = 1 };
	struct perfctr_bpf_info info;

	signal(SIGTERM, end);
	signal(SIGINT, end);
	if (read_info(map, &info) < 0)
		_exit(1);
	info.pid = getpid();
	if (write_info(map, &info) < 0)
		_exit(1);
	drop_capabilities();
	close(ready);
	while (access(PIN("info"), F_OK) == 0) {
		renew_clock(&info);
		write_info(map, &info);
		info.current++;
		write_info(map, &info);
		nanosleep(&second, NULL);
	}
	_exit(0);
}

/* Pins that nobody keeps the clock of any more are taken over. */
static int load(const struct options *options)
{
	struct perfctr_bpf_info info;
	__u32 undo;
	int map = open_info(), pid;
	bool taken_over = map >= 0;

	if (map < 0) {
		if (make_directory(&undo) < 0)
			return -1;
		if (load_and_pin(options, undo) < 0) {
			unpin();
			remove_directory(undo);
			return -1;
		}
		map = open_info();
	}
	if (map < 0 || read_info(map, &info) < 0)
		return complain("cannot open " PIN("info") " (%s)", strerror(errno));
	if (info.version != PERFCTR_BPF_VERSION)
		return complain("another version of it is loaded; perfctr-bpfd stop removes it");
	pid = running_service(&info);
	if (pid)
		return complain("it runs already, as process %d; perfctr-bpfd status tells more",
				pid);
	if (taken_over && options->n_events)
		return complain(
			"events can be named when nothing is loaded; perfctr-bpfd stop, then "
			"start");
	return map;
}

static void go_to_background(void)
{
	setsid();
	if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
	    !freopen("/dev/null", "w", stderr) || chdir("/") < 0)
		_exit(1);
}

static int start(const struct options *options)
{
	int map = load(options), child, ready[2];
	char nothing;

	if (map < 0)
		return -1;
	if (options->foreground)
		keep_clock(map, -1);
	if (pipe2(ready, O_CLOEXEC) < 0)
		return complain("cannot make a pipe (%s)", strerror(errno));
	child = fork();
	if (child < 0)
		return complain("cannot fork (%s)", strerror(errno));
	if (child == 0) {
		close(ready[0]);
		go_to_background();
		keep_clock(map, ready[1]);
	}
	close(ready[1]);
	return read(ready[0], &nothing, 1) == 0 ? 0 : -1;
}

static int read_slots(const char *text, unsigned int *slots)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (*end || end == text || value < MIN_SLOTS || value > MAX_SLOTS)
		return complain("--slots takes a number from %d to %d, not '%s'", MIN_SLOTS,
				MAX_SLOTS, text);
	*slots = (unsigned int)value;
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

int main(int argc, char **argv)
{
	static const struct option known[] = {
		{ "slots", required_argument, NULL, 's' },
		{ "event", required_argument, NULL, 'e' },
		{ "foreground", no_argument, NULL, 'f' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct options options = { .slots = 1024 };
	int letter, result = -1;

	while ((letter = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		switch (letter) {
		case 's':
			if (read_slots(optarg, &options.slots) < 0)
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
			usage(stdout);
			return 0;
		default:
			return 1;
		}
	}
	if (optind + 1 != argc)
		complain("say one of start, stop, status; perfctr-bpfd --help explains them");
	else if (strcmp(argv[optind], "start") == 0)
		result = start(&options);
	else if (strcmp(argv[optind], "stop") == 0)
		result = unpin();
	else if (strcmp(argv[optind], "status") == 0)
		result = show_status();
	else
		complain("'%s' is none of start, stop, status", argv[optind]);
	return result < 0 ? 1 : 0;
}
