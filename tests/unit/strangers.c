// SPDX-License-Identifier: GPL-2.0-or-later
/* The library in foreign programs: with threads that fork, or with the rights of another user. */
#define _GNU_SOURCE
#include "names.h"
#include "unit.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int __real_pfm_initialize(void);
int __wrap_pfm_initialize(void);

static atomic_bool slow; /* the first call waits until there is a child */
static atomic_bool forked;
static atomic_int initializing; /* calls until now */

int __wrap_pfm_initialize(void)
{
	if (initializing++ == 0 && slow)
		while (!forked)
			usleep(1000);
	return __real_pfm_initialize();
}

static const struct perfctr_pmu_info *machine;

static void *parse_name(void *nothing)
{
	struct perfctr_request request;
	char error[256];

	perfctr_events_parse_once(machine, "INST_RETIRED", PERFCTR_MODE_USER, &request, error,
				  sizeof(error));
	return nothing;
}

/* A child has only the thread that forked.  It would wait in vain for a lock that another thread had. */
START_TEST(a_child_of_a_threaded_program_parses_names)
{
	pthread_t thread;
	int status;
	pid_t pid;

	machine = be_machine(NEHALEM);
	slow = true;
	ck_assert_int_eq(pthread_create(&thread, NULL, parse_name, NULL), 0);
	while (!initializing)
		usleep(1000);
	pid = fork();
	if (pid == 0) {
		alarm(100);
		parse_name(NULL);
		_exit(0);
	}
	forked = true;
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	pthread_join(thread, NULL);
}
END_TEST

/* A name that only a table of the environment has, in a program with the rights of another user. */
START_TEST(a_program_with_anothers_rights_reads_no_table_of_the_environment)
{
	char directory[] = "/tmp/perfctr-rights-XXXXXX", command[1024], program[PATH_MAX];

	ck_assert_ptr_nonnull(getenv("PERFEX"));
	if (getuid())
		return; /* only root can create a program of another user */
	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(chmod(directory, 0755), 0);
	snprintf(
		command, sizeof(command),
		"cd %s && printf 'pmu arch\\nmine 0b any occurrence x\\n' >a.tbl && chmod 644 a.tbl && "
		"export PERFCTR_EVENTS=%s && "
		"install -m 4755 -o daemon \"$PROGRAM\" perfex && "
		"as() { setpriv --reuid=nobody --regid=nogroup --clear-groups \"$@\"; } && "
		"as \"$PROGRAM\" encode --pmu=arch -e foo 2>&1 | grep -q a.tbl && "
		"! as ./perfex encode --pmu=arch -e foo 2>&1 | grep a.tbl",
		directory, directory);
	ck_assert_ptr_nonnull(realpath(getenv("PERFEX"), program));
	setenv("PROGRAM", program, 1);
	ck_assert_int_eq(system(command), 0);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	ck_assert_int_eq(system(command), 0);
}
END_TEST

TCase *strangers_tests(void)
{
	TCase *tests = tcase_create("strangers");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, a_child_of_a_threaded_program_parses_names);
	tcase_add_test(tests, a_program_with_anothers_rights_reads_no_table_of_the_environment);
	return tests;
}
