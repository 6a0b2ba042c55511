// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of experiments: how they are read, and which are refused before anything runs. */
#include "unit.h"
#include "command.h"
#include "mutate.h"
#include "../../perfex/tools/experiment/experiment.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char whole[] = "# comment\n"
			    "directory: results\n"
			    "experiments:\n"
			    "  one: [cycles, 'instructions:u']\n"
			    "  two:\n"
			    "    events:\n"
			    "      - cycles\n"
			    "    derive: [\"a = cycles / 2\", b = a * 2]\n"
			    "    programs: [second]\n"
			    "    repetitions: 7\n"
			    "    warmup: 0\n"
			    "    passes: auto\n"
			    "    modes: kernel\n"
			    "    view: self\n"
			    "programs:\n"
			    "  first: [sh, -c, \"exit 3\"]\n"
			    "  second:\n"
			    "    command: [cat]\n"
			    "    directory: /tmp\n"
			    "    input: file\n"
			    "    environment: { LC_ALL: C, EMPTY: '' }\n"
			    "    exit_status: 3\n"
			    "confidence: 99\n"
			    "repetitions: 5\n"
			    "warmup: 1\n"
			    "passes: 2\n"
			    "modes: both\n"
			    "view: tree\n";

static struct experiment_file *parse(const char *text)
{
	struct text_error error;
	struct experiment_file *file = experiment_parse(text, strlen(text), &error);

	ck_assert_msg(file, "line %u: %s", error.line, error.text);
	return file;
}

START_TEST(programs_are_read)
{
	struct experiment_file *file = parse(whole);
	const struct program *first = &file->program[0], *second = &file->program[1];

	ck_assert_str_eq(file->directory, "results");
	ck_assert_uint_eq(file->confidence, 99);
	ck_assert_uint_eq(file->n_programs, 2);
	ck_assert_str_eq(first->name, "first");
	ck_assert_uint_eq(first->line, 16);
	ck_assert_uint_eq(first->command.n, 3);
	ck_assert_str_eq(first->command.string[2], "exit 3");
	ck_assert_ptr_null(first->command.string[3]);
	ck_assert_ptr_null(first->directory);
	ck_assert_ptr_null(first->input);
	ck_assert_uint_eq(first->exit_status, 0);
	ck_assert_str_eq(second->command.string[0], "cat");
	ck_assert_str_eq(second->directory, "/tmp");
	ck_assert_str_eq(second->input, "file");
	ck_assert_uint_eq(second->environment.n, 4);
	ck_assert_str_eq(second->environment.string[0], "LC_ALL");
	ck_assert_str_eq(second->environment.string[1], "C");
	ck_assert_str_eq(second->environment.string[3], "");
	ck_assert_uint_eq(second->exit_status, 3);
	experiment_free(file);
}
END_TEST

/* Settings of the file hold for all its experiments, also for those in front of the settings. */
START_TEST(experiments_have_the_settings_of_the_file_or_their_own)
{
	struct experiment_file *file = parse(whole);
	const struct experiment *one = &file->experiment[0], *two = &file->experiment[1];

	ck_assert_uint_eq(file->n_experiments, 2);
	ck_assert_str_eq(one->name, "one");
	ck_assert_uint_eq(one->events.n, 2);
	ck_assert_str_eq(one->events.string[1], "instructions:u");
	ck_assert_uint_eq(one->settings.repetitions, 5);
	ck_assert_uint_eq(one->settings.warmup, 1);
	ck_assert_uint_eq(one->settings.passes, 2);
	ck_assert_str_eq(mode_words[one->settings.modes], "both");
	ck_assert_str_eq(view_words[one->settings.view], "tree");
	ck_assert_uint_eq(one->programs.n, 0);
	ck_assert_uint_eq(two->line, 5);
	ck_assert_uint_eq(two->events.line[0], 7);
	ck_assert_uint_eq(two->derive.n, 2);
	ck_assert_str_eq(two->derive.string[1], "b = a * 2");
	ck_assert_str_eq(two->programs.string[0], "second");
	ck_assert_uint_eq(two->settings.repetitions, 7);
	ck_assert_uint_eq(two->settings.warmup, 0);
	ck_assert_uint_eq(two->settings.passes, 0);
	ck_assert_str_eq(mode_words[two->settings.modes], "kernel");
	ck_assert_str_eq(view_words[two->settings.view], "self");
	experiment_free(file);
}
END_TEST

START_TEST(settings_have_defaults)
{
	struct experiment_file *file =
		parse("directory: d\nprograms: {a: [b]}\nexperiments: {c: [e]}\n");
	const struct settings *settings = &file->experiment[0].settings;

	ck_assert_uint_eq(file->confidence, 95);
	ck_assert_uint_eq(settings->repetitions, 1);
	ck_assert_uint_eq(settings->warmup, 0);
	ck_assert_uint_eq(settings->passes, 0);
	ck_assert_str_eq(mode_words[settings->modes], "user");
	ck_assert_str_eq(view_words[settings->view], "tree");
	experiment_free(file);
}
END_TEST

#define FILE_KEYS                                                                                  \
	"directory, confidence, repetitions, warmup, passes, modes, view, programs, "              \
	"experiments"
#define HEAD "directory: d\n"
#define PROGRAMS "programs: {a: [b]}\n"
#define EXPERIMENTS "experiments: {c: [e]}\n"

static const struct {
	const char *text;
	unsigned int line;
	const char *error;
} refused[] = {
	{ "", 0, "there is nothing in it; perfex-experiment(1) has an example" },
	{ "# nothing\n", 0, "there is nothing in it; perfex-experiment(1) has an example" },
	{ "- a\n", 1, "the file is not a mapping; write 'key: value' lines" },
	{ "directory: d\nprogramms: {}\n", 2, "unknown key 'programms'; allowed are " FILE_KEYS },
	{ HEAD HEAD, 2, "key 'directory' is given twice" },
	{ PROGRAMS EXPERIMENTS, 1, "the file has no key 'directory'" },
	{ HEAD PROGRAMS, 1, "the file has no key 'experiments'" },
	{ "directory: ''\n", 1, "directory is empty" },
	{ "directory: [d]\n", 1, "directory is not a single value; give one" },
	{ "directory: \"a\\0b\"\n", 1, "directory contains a NUL" },
	{ HEAD "repetitions: 0\n", 2, "repetitions is '0'; give a number from 1 to 1000000" },
	{ HEAD "repetitions: -1\n", 2, "repetitions is '-1'; give a number from 1 to 1000000" },
	{ HEAD "repetitions: 1e3\n", 2, "repetitions is '1e3'; give a number from 1 to 1000000" },
	{ HEAD "repetitions: 99999999999999999999\n", 2,
	  "repetitions is '99999999999999999999'; give a number from 1 to 1000000" },
	{ HEAD "passes: all\n", 2, "passes is 'all'; give a number from 1 to 1000000" },
	{ HEAD "confidence: 100\n", 2, "confidence is '100'; give a number from 1 to 99" },
	{ HEAD "modes: users\n", 2, "modes is 'users'; allowed are user, kernel, both" },
	{ HEAD "view: \"a\\nb\"\n", 2, "view is '?'; allowed are tree, self" },
	{ HEAD "programs: [a]\n", 2,
	  "programs is not a mapping; write NAME: [COMMAND, ARGUMENT..] for each" },
	{ HEAD "programs: {}\n", 2,
	  "programs is not a mapping; write NAME: [COMMAND, ARGUMENT..] for each" },
	{ HEAD "programs:\n  a/b: [c]\n", 3,
	  "'a/b' cannot be the name of a program; take letters, digits and _.+-, 64 at most" },
	{ HEAD "programs:\n  ..: [c]\n", 3,
	  "'..' cannot be the name of a program; take letters, digits and _.+-, 64 at most" },
	{ HEAD "programs:\n  a: [c]\n  b: [d]\n  a: [e]\n", 5,
	  "the name is given twice; give each its own" },
	{ HEAD "programs:\n  a: gzip -c\n", 3,
	  "program 'a' is not a mapping; write 'key: value' lines" },
	{ HEAD "programs:\n  a: []\n", 3,
	  "command is not a list; write [a, b, ..], or a line '- a' for each" },
	{ HEAD "programs:\n  a:\n    command: gzip -c\n", 4,
	  "command is not a list; write [a, b, ..], or a line '- a' for each" },
	{ HEAD "programs:\n  a:\n    input: x\n", 4, "program 'a' has no key 'command'" },
	{ HEAD "programs:\n  a:\n    command: [b]\n    exit_status: 256\n", 5,
	  "exit_status is '256'; give a number from 0 to 255" },
	{ HEAD "programs:\n  a:\n    command: [b]\n    environment: [x]\n", 5,
	  "environment is not a mapping; write NAME: value for each" },
	{ HEAD "programs:\n  a:\n    command: [b]\n    environment: {x=y: z}\n", 5,
	  "'x=y' is not the name of a variable" },
	{ HEAD "programs:\n  a:\n    command: [b, [c]]\n", 4,
	  "command is not a single value; give one" },
	{ HEAD PROGRAMS "experiments: 7\n", 3,
	  "experiments is not a mapping; write NAME: [EVENT, EVENT..] for each" },
	{ HEAD PROGRAMS "experiments:\n  x: {programs: [a]}\n", 4,
	  "experiment 'x' has no key 'events'" },
	{ HEAD PROGRAMS "experiments:\n  x: [e]\n  x: [f]\n", 5,
	  "the name is given twice; give each its own" },
	{ HEAD PROGRAMS "experiments:\n  x:\n    event: [e]\n", 5,
	  "unknown key 'event'; allowed are events, derive, programs, ebs, repetitions, warmup, "
	  "passes, modes, view" },
	{ HEAD PROGRAMS "experiments:\n  x:\n    ebs: 5\n", 5,
	  "ebs is not a mapping; write NAME: value for each" },
	{ HEAD PROGRAMS "experiments:\n  x:\n    ebs: {\"e\\x9b\": 5}\n", 5,
	  "ebs contains control characters" },
	{ HEAD PROGRAMS "experiments:\n  x: [\"e\\n\"]\n", 4, "events contain control characters" },
	{ HEAD PROGRAMS "experiments:\n  x: [\"e\\x9bm\"]\n", 4,
	  "events contain control characters" },
	{ HEAD PROGRAMS EXPERIMENTS "--- more\n", 4,
	  "a second document begins; give each a file of its own" },
	{ HEAD "programs: [\n", 3, "it is not YAML: did not find expected node content" },
};

START_TEST(a_wrong_file_is_refused_with_its_line)
{
	struct text_error error;

	ck_assert_ptr_null(experiment_parse(refused[_i].text, strlen(refused[_i].text), &error));
	ck_assert_str_eq(error.text, refused[_i].error);
	ck_assert_uint_eq(error.line, refused[_i].line);
}
END_TEST

START_TEST(damaged_files_are_refused_with_one_line_or_read)
{
	uint64_t seed = 4711 + (uint64_t)_i;

	for (int n = 0; n < 3000; n++) {
		struct text_error error = { 0 };
		struct experiment_file *file;
		size_t length;
		char *mutant = mutate(&seed, whole, &length);

		file = experiment_parse(mutant, length, &error);
		ck_assert(file || (error.text[0] && !strchr(error.text, '\n')));
		ck_assert(!file || (file->n_programs && file->n_experiments));
		if (file)
			experiment_check(file, &error);
		experiment_free(file);
		free(mutant);
	}
}
END_TEST

/* A job that runs creates this file. */
#define TOUCH "directory: results\nprograms:\n  a: [touch, ran]\n"

static const struct {
	const char *text, *err;
} conflicts[] = {
	{ "directory: results\nprograms:\n  a: [no-such-program]\nexperiments: {x: [cycles]}\n",
	  "line 3: program 'a': cannot execute 'no-such-program': No such file or directory" },
	{ "directory: results\nprograms:\n  a: [/]\nexperiments: {x: [cycles]}\n",
	  "line 3: program 'a': cannot execute '/': Permission denied" },
	{ "directory: results\nprograms:\n  a: [./file.yaml]\nexperiments: {x: [cycles]}\n",
	  "line 3: program 'a': cannot execute './file.yaml': Permission denied" },
	{ "directory: results\nprograms:\n  b: {command: [sh], environment: {PATH: /nowhere}}\n"
	  "experiments: {x: [cycles]}\n",
	  "line 3: program 'b': cannot execute 'sh': No such file or directory" },
	{ "directory: results\nprograms:\n  b:\n    command: [sh]\n    directory: nowhere\n"
	  "experiments: {x: [cycles]}\n",
	  "line 3: program 'b': there is no directory 'nowhere'" },
	{ "directory: results\nprograms:\n  b: {command: [sh], input: nothing}\n"
	  "experiments: {x: [cycles]}\n",
	  "line 3: program 'b': cannot read 'nothing': No such file or directory" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    programs: [a, b]\n",
	  "line 7: there is no program 'b'; describe it under programs" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    derive:\n      - r = cycles /\n",
	  "line 8: rule 'r = cycles /': expected a number, the name of an event or of a rule, or "
	  "'(', but the rule ends" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    derive: [r = r]\n",
	  "line 5: experiment 'x': rule 'r' needs its own value; define it by events, or by other "
	  "rules" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    derive: [r = tsc / instructions]\n",
	  "line 5: experiment 'x': a rule needs 'instructions', which is no event of it; add it to "
	  "events" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    ebs: {cycle: 5}\n",
	  "line 7: ebs has 'cycle', which is no event of the experiment; add it to events" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    ebs: {cycles: 5, cycles: 6}\n",
	  "line 7: ebs has 'cycles' twice" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    ebs:\n      cycles: 0\n",
	  "line 8: the period '0' is no number of events from 1 to 2^63 - 1" },
	{ TOUCH "experiments:\n  x: {events: [cycles], view: self, ebs: {cycles: 5}}\n",
	  "line 5: ebs samples the program with all that it creates; view must be tree" },
	{ TOUCH "experiments:\n  x:\n    events: [cycles]\n    derive: [cycles = tsc]\n",
	  "line 5: experiment 'x': rule 'cycles' has the name of an event; give it another" },
};

START_TEST(a_conflict_is_refused_before_anything_runs)
{
	struct command_result result;
	char expected[512];

	enter_directory();
	write_text("file.yaml", conflicts[_i].text);
	result = PERFEX("experiment", "file.yaml");
	snprintf(expected, sizeof(expected), "perfex: 'file.yaml', %s\n", conflicts[_i].err);
	ck_assert_str_eq(result.err, expected);
	ck_assert_str_eq(result.out, "");
	ck_assert_int_eq(result.status, 125);
	ck_assert_int_ne(access("results", F_OK), 0);
	ck_assert_int_ne(access("ran", F_OK), 0);
	leave_directory();
}
END_TEST

START_TEST(one_file_is_needed)
{
	ck_assert_str_eq(PERFEX("experiment").err,
			 "perfex: perfex experiment takes one file, not 0; see perfex experiment "
			 "--help\n");
	ck_assert_str_eq(PERFEX("experiment", "/nowhere").err,
			 "perfex: cannot read '/nowhere': No such file or directory\n");
	ck_assert_int_eq(PERFEX("experiment", "a", "b").status, 125);
}
END_TEST

TCase *experiment_tests(void)
{
	TCase *tests = tcase_create("experiment");

	tcase_add_test(tests, programs_are_read);
	tcase_add_test(tests, experiments_have_the_settings_of_the_file_or_their_own);
	tcase_add_test(tests, settings_have_defaults);
	tcase_add_loop_test(tests, a_wrong_file_is_refused_with_its_line, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tests, damaged_files_are_refused_with_one_line_or_read, 0, 4);
	tcase_add_loop_test(tests, a_conflict_is_refused_before_anything_runs, 0,
			    ARRAY_SIZE(conflicts));
	tcase_add_test(tests, one_file_is_needed);
	return tests;
}
