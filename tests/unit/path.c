// SPDX-License-Identifier: GPL-2.0-or-later
/* Programs that are searched in PATH, as execvp(3) searches them. */
#define _GNU_SOURCE
#include "../../perfex/exact/exact.h"
#include "../../perfex/path.h"
#include "command.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void be_in_directory(void)
{
	enter_directory();
	ck_assert_int_eq(mkdir("a", 0755), 0);
	ck_assert_int_eq(mkdir("b", 0755), 0);
	ck_assert_int_eq(mkdir("sh", 0755), 0);
	write_text("text", "no program\n");
	write_text("tool", "#!/bin/sh\n");
	ck_assert_int_eq(chmod("tool", 0755), 0);
}

static const struct {
	const char *path, *directory[4];
} paths[] = {
	{ "", { "/here" } },
	{ "/a", { "/a" } },
	{ "/a:b", { "/a", "/here/b" } },
	{ ":/a", { "/here", "/a" } },
	{ "/a::/b", { "/a", "/here", "/b" } },
	{ "/a:", { "/a", "/here" } },
	{ "::", { "/here", "/here", "/here" } },
};

START_TEST(an_empty_element_is_the_current_directory)
{
	const char *path = paths[_i].path;

	for (const char *const *expected = paths[_i].directory; *expected; expected++) {
		char *directory = path_next_directory(&path, "/here");

		ck_assert_ptr_nonnull(directory);
		ck_assert_str_eq(directory, *expected);
		free(directory);
	}
	ck_assert_ptr_null(path_next_directory(&path, "/here"));
	ck_assert_ptr_null(path_next_directory(&path, "/here"));
}
END_TEST

/* PATH, the name, and the file that is found; NULL: none, and errno. */
static const struct {
	const char *path, *name, *found;
	int error;
} searches[] = {
	{ "", "tool", "./tool", 0 },
	{ ":a", "tool", "./tool", 0 },
	{ "a::b", "tool", "./tool", 0 },
	{ "a:", "tool", "./tool", 0 },
	{ "a:b", "tool", NULL, ENOENT },
	{ "a:b", "./tool", "././tool", 0 },
	{ "a:b:.", "tool", "././tool", 0 },
	{ "a:b", "/bin/sh", "/bin/sh", 0 },
	{ "/nowhere", "sh", NULL, ENOENT },
	{ NULL, "sh", "/bin/sh", 0 },
	{ NULL, "tool", NULL, ENOENT },
	{ ".", "a", NULL, EACCES },
	{ ".", "text", NULL, EACCES },
	{ ".:/bin", "sh", "/bin/sh", 0 }, /* a directory precedes the program */
};

START_TEST(a_program_is_a_file_that_can_be_executed)
{
	char *found = path_find_program(searches[_i].path, ".", searches[_i].name);
	int error = errno;

	ck_assert_pstr_eq(found, searches[_i].found);
	if (!found)
		ck_assert_int_eq(error, searches[_i].error);
	free(found);
}
END_TEST

/* The machine gets a program, and a PATH with its directory. */
static const char *const for_machine[] = { ":a", "a::b", "a:", "a:b:", "" };

START_TEST(the_machine_has_programs_of_the_current_directory)
{
	char *here = getcwd(NULL, 0), *path, *environment;
	struct files files = { 0 };
	size_t length = strlen(here);

	archive_begin(&files.archive, 1 << 20);
	setenv("PATH", for_machine[_i], 1);
	path = needs_program(&files, "tool");
	ck_assert_int_eq(strncmp(path, here, length), 0);
	ck_assert_str_eq(path + length, "/tool");
	environment = needs_path(&files);
	ck_assert_int_eq(strncmp(environment, "PATH=", 5), 0);
	ck_assert_int_eq(strncmp(environment + 5, here, length), 0);
	ck_assert_str_eq(environment + 5 + length,
			 ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	free(environment);
	free(path);
	free(here);
	close(archive_end(&files.archive));
	files_free(&files);
}
END_TEST

TCase *path_tests(void)
{
	TCase *tests = tcase_create("path");

	tcase_add_checked_fixture(tests, be_in_directory, leave_directory);
	tcase_add_loop_test(tests, an_empty_element_is_the_current_directory, 0, ARRAY_SIZE(paths));
	tcase_add_loop_test(tests, a_program_is_a_file_that_can_be_executed, 0,
			    ARRAY_SIZE(searches));
	tcase_add_loop_test(tests, the_machine_has_programs_of_the_current_directory, 0,
			    ARRAY_SIZE(for_machine));
	return tests;
}
