// SPDX-License-Identifier: GPL-2.0-or-later
#include "../textfile.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_for_writing(struct output *output)
{
	int flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | (output->append ? O_APPEND : 0);
	int fd = open(output->path, flags);

	if (fd >= 0 || errno != ENOENT)
		return fd;
	output->created = true;
	return open(output->path, flags | O_CREAT, 0666);
}

/*
 * Two processes that write one file, such as ranks of a program, would destroy each other's output,
 * unless both append.  Returns false, after an error message, if another perfex is writing the
 * file.
 */
static bool lock_output(struct output *output)
{
	int lock = (output->append ? LOCK_SH : LOCK_EX) | LOCK_NB;
	struct stat status;

	if (fstat(output->fd, &status) < 0 || !S_ISREG(status.st_mode) ||
	    flock(output->fd, lock) == 0 || errno != EWOULDBLOCK)
		return true;
	output->created = false;
	complain("another perfex is writing '%s': give each its own file, like out.%%r.json for the "
		 "rank and out.%%p.json for the process, or all --append",
		 output->path);
	return false;
}

/*
 * The command must not inherit the descriptor: the reader of a pipe must see its end when perfex
 * ends, not when the last process of the command does.
 */
static bool take_descriptor(struct output *output, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	output->fd = fd;
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
		if (fd == STDOUT_FILENO)
			complain("standard output is not open for writing");
		else
			complain("descriptor %d is not open for writing; open it, as in: perfex "
				 "--log-fd=%d .. %d>FILE",
				 fd, fd, fd);
		return false;
	}
	if (fd > STDERR_FILENO)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	return true;
}

/* Returns the descriptor that the options name, or -1 if they name a file. */
static int named_descriptor(const struct options *options)
{
	if (options->output)
		return is_standard(options->output) ? STDOUT_FILENO : -1;
	return options->log_fd == NO_LOG_FD ? STDERR_FILENO : (int)options->log_fd;
}

/* Follows the user's locale, but only on a terminal: programs read the same output everywhere. */
static void choose_style(struct output *output)
{
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

	if (!isatty(output->fd) || output->format != &text_format)
		return;
	setlocale(LC_CTYPE, "");
	setlocale(LC_NUMERIC, "");
	output->style.grouping = true;
	output->style.plus_minus = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	output->style.colour = (!no_colour || !*no_colour) && terminal && strcmp(terminal, "dumb");
}

/* Does not change an old file yet, as it may turn out that the command does not exist. */
bool output_open(struct output *output, const struct options *options)
{
	int fd = named_descriptor(options);

	*output = (struct output){
		.format = options->format,
		.path = fd < 0 ? options->output : NULL,
		.append = options->append,
	};
	if (fd >= 0) {
		if (!take_descriptor(output, fd))
			return false;
	} else {
		output->fd = open_for_writing(output);
		if (output->fd < 0) {
			complain("cannot write '%s': %m", output->path);
			return false;
		}
		if (!lock_output(output))
			return false;
	}
	choose_style(output);
	return true;
}

static off_t regular_size(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? status.st_size : -1;
}

static void complain_of_output(const struct output *output, const char *follows)
{
	if (output->path)
		complain("cannot write '%s': %m; the counts %s", output->path, follows);
	else if (output->fd == STDOUT_FILENO)
		complain("cannot write to standard output: %m");
	else
		complain("cannot write descriptor %d: %m", output->fd);
}

/* Writes to standard error.  Ignores errors there, as no other output is left to try. */
static void put_elsewhere(const struct output *output, const char *text, size_t size)
{
	if (text != output->heading && output->heading)
		write_all(STDERR_FILENO, output->heading, output->heading_size);
	write_all(STDERR_FILENO, text, size);
}

void output_put(struct output *output, const char *text, size_t size)
{
	off_t before = output->path ? regular_size(output->fd) : -1;

	if (output->broken) {
		write_all(STDERR_FILENO, text, size);
		return;
	}
	if (write_all(output->fd, text, size))
		return;
	output->broken = true;
	complain_of_output(output, "will follow here");
	if (before >= 0 && ftruncate(output->fd, before) < 0)
		complain("an unfinished line is left in '%s': %m", output->path);
	put_elsewhere(output, text, size);
}

void output_heading(struct output *output, char *heading, size_t size, bool wanted)
{
	free(output->heading);
	output->heading = heading;
	output->heading_size = size;
	if (wanted)
		output_put(output, heading, size);
}

bool output_begin(struct output *output)
{
	output->begun = true;
	if (output->path && !output->append && regular_size(output->fd) > 0 &&
	    ftruncate(output->fd, 0) < 0)
		complain("cannot empty '%s': %m", output->path);
	return !output->append || regular_size(output->fd) <= 0;
}

/* Called when the command is about to run: empties an old file. */
static void begin_output(struct output *output)
{
	bool wanted = output_begin(output);
	struct text text;

	if (!output->format->head)
		return;
	output->format->head(text_open(&text));
	text_close(&text);
	output_heading(output, text.text, text.size, wanted);
}

void output_discard(struct output *output)
{
	if (output->created && !output->begun)
		unlink(output->path);
}

void output_run(struct output *output, const struct recording *recording,
		const struct interval *interval)
{
	struct text text;

	if (!output->begun)
		begin_output(output);
	if (!output->format->begin || !recording->options->interval_ms)
		return;
	output->format->begin(text_open(&text), recording, interval);
	text_close(&text);
	output_heading(output, text.text, text.size, true);
}

void output_interval(struct output *output, struct recording *recording,
		     const struct interval *interval)
{
	struct text text;

	output->format->interval(text_open(&text), &output->style, recording, interval);
	text_close(&text);
	output_put(output, text.text, text.size);
	free(text.text);
	recording->intervals++;
}

static void forget_heading(struct output *output)
{
	free(output->heading);
	output->heading = NULL;
}

bool output_close(struct output *output)
{
	bool good = !output->path || close(output->fd) == 0;

	if (!good && !output->broken) {
		output->broken = true;
		complain_of_output(output, "may be incomplete");
	}
	forget_heading(output);
	return !output->broken;
}

/* Returns false if something could not be written to the output. */
bool output_recording(struct output *output, const struct recording *recording)
{
	struct text text;

	/* This heading is for intervals only. */
	if (output->format->begin)
		forget_heading(output);
	output->format->recording(text_open(&text), &output->style, recording);
	text_close(&text);
	output_put(output, text.text, text.size);
	if (output->path && close(output->fd) < 0 && !output->broken) {
		output->broken = true;
		complain_of_output(output, "follow");
		put_elsewhere(output, text.text, text.size);
	}
	free(text.text);
	forget_heading(output);
	return !output->broken;
}
