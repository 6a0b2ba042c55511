// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex report-machine: checks whether this machine counts right, and writes a report for
 * developers that do not have such a machine.
 */
#define _GNU_SOURCE
#include "machine/machine.h"
#include "../rows.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	EXIT_CHECK_FAILED = 1,
	PHASES = 20, /* parts of the time limit; the checks need fewer, so some time is left */
	LONGEST_PHASE_MS = 2000,
};

struct report_options {
	const char *output; /* NULL: named by the processor; "-": standard output */
	unsigned int seconds;
	bool force;
	const char *backend; /* NULL: any backend that counts here */
};

static const struct option_row rows[] = {
	TEXT_OPTION("output", 'o', "FILE",
		    "write the report to FILE, - for standard output; by default a file in the\n"
		    "current directory, named by the processor",
		    struct report_options, output),
	FLAG_OPTION("force", 0, "replace a file that exists", struct report_options, force),
	NUMBER_OPTION("seconds", 0, "N", "take N seconds at most; the default is 60",
		      struct report_options, seconds, 2, 600, " of seconds"),
	BACKEND_ROW(offsetof(struct report_options, backend)),
	{ 0 },
};

static int report_machine_main(int argc, char **argv);

const struct subcommand report_machine_subcommand = {
	.name = "report-machine",
	.summary = "check whether this machine counts right",
	.main = report_machine_main,
	.help = "Usage: perfex report-machine [OPTION]..\n"
		"Check in a minute whether this machine counts right, and write a report that describes\n"
		"it without its name and the names of its users.  It needs no privilege and changes nothing.\n",
	.options = rows,
	.notes =
		"Exit status: 0 if all possible checks passed; 1 if one failed or was not finished;\n"
		"125 if perfex failed.  After ^C the report has the checks until then.\n",
};

/* Returns a name such as "machine-report-GenuineIntel-6-143-8.txt", for free(). */
static char *name_by_processor(const struct identity *identity)
{
	char *name;

	if (asprintf(&name, "machine-report-%s-%s-%s-%s.txt", identity->vendor, identity->family,
		     identity->model, identity->stepping) < 0)
		fail("out of memory");
	for (char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && !strchr("-.", *c))
			*c = '_';
	return name;
}

/*
 * Makes perfex ignore the user's own tables of events: they are not checked, and the report must
 * not publish their names.
 */
static void forget_own_tables(void)
{
	unsetenv("PERFCTR_EVENTS");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("HOME");
}

/*
 * Ends perfex with an error message if no backend has this name.  A backend that exists but is not
 * available is no error: the report says so.
 */
static void check_backend(const char *backend)
{
	struct perfctr_backend_info info;

	if (perfctr_backend(backend, &info) < 0 && errno == EINVAL) {
		complain_of_open(backend, EINVAL);
		exit(EXIT_PERFEX);
	}
}

struct report_file {
	const char *path;
	int fd;
	bool created;
};

/*
 * Opens the report before anything is checked.  An existing file keeps its text until the report is
 * complete.
 */
static void open_report(struct report_file *file, const char *path, bool force)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY;

	*file = (struct report_file){ .path = path, .fd = STDOUT_FILENO };
	if (strcmp(path, "-") == 0)
		return;
	file->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	file->created = file->fd >= 0;
	if (!file->created && errno == EEXIST && !force)
		fail("'%s' exists; give --force to replace it, or another by --output=FILE", path);
	if (!file->created && errno == EEXIST)
		file->fd = open(path, flags);
	if (file->fd < 0)
		fail("cannot write '%s': %m", path);
}

static bool is_regular(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static void write_report(struct report_file *file, const struct machine_report *report)
{
	bool replaced = file->fd != STDOUT_FILENO && is_regular(file->fd), good;
	struct text text;

	write_machine_report(text_open(&text), report);
	text_close(&text);
	good = (!replaced || ftruncate(file->fd, 0) == 0) &&
	       write_all(file->fd, text.text, text.size);
	if (file->fd != STDOUT_FILENO && close(file->fd) < 0)
		good = false;
	if (!good) {
		int error = errno;

		if (file->created)
			unlink(file->path);
		fail("cannot write %s%s%s: %s", file->fd == STDOUT_FILENO ? "standard output" : "'",
		     file->fd == STDOUT_FILENO ? "" : file->path,
		     file->fd == STDOUT_FILENO ? "" : "'", strerror(error));
	}
	free(text.text);
}

/* Prints the summary and the path, unless the report itself went to standard output. */
static void say_result(const char *path, const struct machine_report *report)
{
	if (strcmp(path, "-") == 0)
		return;
	write_machine_summary(stdout, report);
	printf("the report is in '%s': please read it, and send it as CONTRIBUTING.md, Reports, says\n",
	       path);
	flush_output();
}

static int find_status(const struct outcome outcomes[N_CHECKS])
{
	unsigned int n[N_VERDICTS];

	count_verdicts(outcomes, n);
	return n[VERDICT_FAILED] || n[VERDICT_UNFINISHED] ? EXIT_CHECK_FAILED : 0;
}

static unsigned int phase_ms(unsigned int seconds)
{
	unsigned int ms = seconds * 1000 / PHASES;

	return ms < LONGEST_PHASE_MS ? ms : LONGEST_PHASE_MS;
}

static int report_machine_main(int argc, char **argv)
{
	struct report_options options = { .seconds = 60 };
	int n = take_options(&report_machine_subcommand, &options, argc, argv);
	uint64_t begin = now_ns();
	struct outcome *outcomes = allocate(N_CHECKS, sizeof(*outcomes));
	struct machine_report report = { .outcomes = outcomes };
	struct identity identity;
	struct report_file file;
	struct subject subject;
	char *name;
	int status;

	if (n < argc)
		fail("perfex report-machine takes no argument, '%s' is one", argv[n]);
	check_backend(options.backend);
	/* All other processes that compute here go first. */
	setpriority(PRIO_PROCESS, 0, 19);
	hold_signals();
	forget_own_tables();
	identity_find(&identity);
	name = name_by_processor(&identity);
	open_report(&file, options.output ? options.output : name, options.force);
	subject_find(&subject, options.backend, phase_ms(options.seconds));
	report.identity = &identity;
	report.subject = &subject;
	report.signal = run_checks(&subject, begin + options.seconds * 1000000000ull,
				   isatty(STDERR_FILENO), outcomes);
	report.elapsed_ns = now_ns() - begin;
	write_report(&file, &report);
	say_result(file.path, &report);
	status = report.signal ? exit_as(report.signal) : find_status(outcomes);
	subject_free(&subject);
	free(outcomes);
	free(name);
	return status;
}
