// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex run on a terminal. */
#include "perfex_shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Returns what the script has written to a terminal. Types the input after the line "ready". */
static const char *on_terminal(const char *script, const char *input, int *status)
{
	static char text[16384];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	size_t length = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_msg(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0, "%s",
		      strerror(errno));
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(slave, 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setsid();
		ioctl(slave, TIOCSCTTY, 0);
		dup2(slave, 0);
		dup2(slave, 1);
		dup2(slave, 2);
		setenv("TERM", "xterm", 1);
		execl("/bin/sh", "sh", "-c", script, NULL);
		_exit(99);
	}
	close(slave);
	/*
	 * EIO: the last process that had the other side has closed it. Linux looks for bytes first,
	 * and then for the end: another read returns what was written between these two looks.
	 */
	for (int ends = 0; ends < 2;) {
		n = read(master, text + length, sizeof(text) - 1 - length);
		if (n <= 0) {
			ends++;
			continue;
		}
		length += (size_t)n;
		text[length] = '\0';
		if (input && strstr(text, "ready\r\n")) {
			ck_assert_int_gt(write(master, input, strlen(input)), 0);
			input = NULL;
		}
	}
	text[length] = '\0';
	close(master);
	ck_assert_int_eq(wait_for(pid, status), pid);
	return text;
}

START_TEST(a_terminal_gets_colours_and_a_bar_unless_it_does_not_want_them)
{
	const char *text;
	int status;

	enter_directory();
	text = on_terminal("exec perfex -r 2 -e " EVENT " $LOOP", NULL, &status);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(text, "\033[1m") && strstr(text, "2000004.00\033[0m"), "%s", text);
	/* On a line of its own, after the former contents of the line. */
	ck_assert_msg(strstr(text, "\r\033[K[..............................] run 1 of 2\r\n"), "%s",
		      text);
	text = on_terminal("NO_COLOR=1 exec perfex -e " EVENT " $LOOP", NULL, &status);
	ck_assert_msg(strstr(text, "2000004  user") && !strchr(text, '\033'), "%s", text);
	text = on_terminal("TERM=dumb exec perfex -e " EVENT " $LOOP", NULL, &status);
	ck_assert_msg(!strchr(text, '\033'), "%s", text);
	text = on_terminal("exec perfex -o out -e " EVENT " $LOOP", NULL, &status);
	ck_assert_str_eq(text, "");
	ck_assert(!strchr(contents("out"), '\033'));
}
END_TEST

/* Leaves one space of blanks and ends of lines. */
static void squeeze_blanks(char *text)
{
	char *to = text;

	for (const char *word; *(word = text + strspn(text, " \r\n")); *to++ = ' ') {
		size_t length = strcspn(word, " \r\n");

		memmove(to, word, length);
		to += length;
		text = (char *)word + length;
	}
	*to = '\0';
}

START_TEST(a_terminal_gets_the_descriptions_of_events_in_lines_of_eighty_columns)
{
	static const char *const lists[] = {
		"perfex list --pmu=nhm llc_", "perfex list -l --pmu=skl mem_load", "perfex list --pmu=skl l3_m*"
	};
	static char text[16384];
	struct run r;
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		strcpy(text, on_terminal(lists[i], NULL, &status));
		ck_assert_int_eq(status, 0);
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			ck_assert_msg(strcspn(line, "\r") <= 80, "%s", line);
		/* Elsewhere an event has one line, for grep(1). */
		expect(&r, lists[i], 0);
		if (i == 0)
			ck_assert_uint_eq(lines(r.out, "LLC_"), lines(r.out, ""));
		squeeze_blanks(text);
		squeeze_blanks(r.out);
		ck_assert_str_eq(text, r.out);
	}
}
END_TEST

START_TEST(a_command_reads_from_the_terminal_and_gets_its_interrupt)
{
	const char *text;
	int status;

	enter_directory();
	text = on_terminal("exec perfex -o out sh -c 'echo ready; exec cat'", "typed\n\004",
			   &status);
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strstr(text, "typed\r\ntyped\r\n"), "%s", text);
	on_terminal("exec perfex -r 5 -o out sh -c 'echo ready; exec sleep 60' 2>err", "\003", &status);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT, "%#x", status);
	ck_assert_uint_eq(printed_count(contents("out"), "runs"), 1);
}
END_TEST

SUITE(perfex_terminal, a_terminal_gets_colours_and_a_bar_unless_it_does_not_want_them,
      a_terminal_gets_the_descriptions_of_events_in_lines_of_eighty_columns,
      a_command_reads_from_the_terminal_and_gets_its_interrupt)
