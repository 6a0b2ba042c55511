// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perfex experiment from end to end. The programs note each of their runs in a file, which shows
 * what ran.
 */
#include "guest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NAME "experiment.yaml"

static char description[2048];

/*
 * Describes the programs "loop" and "tiny", which note their runs. Adds the settings and
 * experiments.
 */
static void describe(const char *settings, const char *experiments)
{
	snprintf(description, sizeof(description),
		 "directory: results\n"
		 "%s"
		 "programs:\n"
		 "  loop: [sh, -c, 'echo loop >>runs; exec %s']\n"
		 "  tiny: [sh, -c, 'echo tiny >>runs; exec %s']\n"
		 "experiments:\n"
		 "%s",
		 settings, program("loop"), program("loop-tiny"), experiments);
	write_file(FILE_NAME, description);
}

static void enter_directory(void)
{
	char directory[] = "/tmp/experiment-XXXXXX";

	ck_assert(mkdtemp(directory));
	ck_assert_int_eq(chdir(directory), 0);
}

static unsigned int lines(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned int n = 0;
	int c;

	while (file && (c = getc(file)) != EOF)
		n += c == '\n';
	if (file)
		fclose(file);
	return n;
}

static void expect_runs(unsigned int n)
{
	ck_assert_uint_eq(lines("runs"), n);
}

static struct run experiment(int status)
{
	struct run r;

	RUN(&r, "perfex", "experiment", "--csv", FILE_NAME);
	if (r.status != status)
		system("cat results/*/*/*.err");
	ck_assert_msg(r.status == status, "wait status %#x: %s", r.status, r.err);
	return r;
}

/*
 * Returns the fields after the event of a row: modes, runs, mean, low, high, stddev, min, max. The
 * beginning of the event's name is enough.
 */
static const char *row(const struct run *r, const char *program, const char *experiment,
		       const char *event)
{
	static char text[256];
	char start[128];
	const char *at;

	snprintf(start, sizeof(start), "\n%s,%s,%s", program, experiment, event);
	at = strstr(r->out, start);
	ck_assert_msg(at, "no row %s in:\n%s", start + 1, r->out);
	at = strchr(at + strlen(start), ',') + 1;
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, "\r"), at);
	return text;
}

/* The mean of two runs. Its value varies, because the shell is counted, too. */
static double mean(const struct run *r, const char *program, const char *experiment,
		   const char *event)
{
	double value;

	ck_assert_int_eq(sscanf(row(r, program, experiment, event), "user,2,%lf,", &value), 1);
	return value;
}

#define TWO_EXPERIMENTS                                                                            \
	"  instructions: ['0x004100c0@0']\n"                                                       \
	"  both:\n"                                                                                \
	"    events: ['0x004100c0', '0x004100c4']\n"                                               \
	"    derive: [\"twice = 2 * '0x004100c0'\", ratio = twice / '0x004100c4']\n"

START_TEST(jobs_are_programs_times_experiments_and_are_run_once)
{
	struct run r;

	enter_directory();
	describe("repetitions: 2\nwarmup: 1\n", TWO_EXPERIMENTS);
	r = experiment(0);
	expect_runs(4 * 3);
	ck_assert_double_gt(mean(&r, "loop", "both", "0x004100c0@0"),
			    LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_double_gt(mean(&r, "loop", "instructions", "0x004100c0@0"),
			    LOOP_INSTRUCTIONS(SHORT_LOOP));
	ck_assert_double_gt(mean(&r, "tiny", "both", "0x004100c4@1"), LOOP_BRANCHES(TINY_LOOP));
	ck_assert_uint_eq(lines("results/table.txt"), lines("results/table.csv"));

	r = experiment(0);
	expect_runs(4 * 3);
	mean(&r, "tiny", "instructions", "0x004100c0@0");
}
END_TEST

/* Without a shell the counts are known to the instruction. */
START_TEST(counts_and_rules_are_exact)
{
	struct run r;

	enter_directory();
	snprintf(description, sizeof(description),
		 "directory: results\nrepetitions: 3\n"
		 "programs: {loop: [%s], tiny: [%s]}\n"
		 "experiments:\n" TWO_EXPERIMENTS,
		 program("loop"), program("loop-tiny"));
	write_file(FILE_NAME, description);
	r = experiment(0);
	ck_assert_str_eq(row(&r, "loop", "both", "0x004100c0@0"),
			 "user,3,2000004,2000004,2000004,0,2000004,2000004");
	ck_assert_str_eq(row(&r, "loop", "both", "0x004100c4@1"),
			 "user,3,1000001,1000001,1000001,0,1000001,1000001");
	ck_assert_str_eq(row(&r, "loop", "both", "twice"), ",3,4000008,4000008,4000008,,,");
	ck_assert_str_eq(row(&r, "tiny", "instructions", "0x004100c0@0"),
			 "user,3,2004,2004,2004,0,2004,2004");
	ck_assert_str_eq(row(&r, "tiny", "both", "twice"), ",3,4008,4008,4008,,,");

	/* A summary is read like any other recording. */
	RUN(&r, "perfex", "diff", "--csv", "results/tiny/both/summary.json",
	    "results/loop/both/summary.json");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out, "0x004100c0@0,user,2004,2000004,1998000,"));
	ck_assert_ptr_nonnull(strstr(r.out, "twice,,4008,4000008,3996000,"));
}
END_TEST

START_TEST(what_is_missing_is_run_and_no_more)
{
	struct run r;

	enter_directory();
	describe("repetitions: 2\n", TWO_EXPERIMENTS);
	experiment(0);
	expect_runs(8);
	ck_assert_int_eq(unlink("results/tiny/both/run-2.json"), 0);
	write_file("results/loop/both/run-1.json", "{ \"schema\": \"perfex-run\", ");
	r = experiment(0);
	expect_runs(10);
	mean(&r, "tiny", "both", "0x004100c0@0");
	mean(&r, "loop", "both", "0x004100c0@0");
	/* Neither one more repetition nor another rule changes the definition. */
	describe("repetitions: 3\n", "  instructions: ['0x004100c0@0']\n"
				     "  both:\n"
				     "    events: ['0x004100c0', '0x004100c4']\n"
				     "    derive: [other = tsc]\n");
	r = experiment(0);
	expect_runs(14);
	ck_assert_ptr_nonnull(strstr(r.out, "\ntiny,both,other,,3,"));
}
END_TEST

static void expect_refused(const char *says)
{
	struct run r = experiment(EXITED(125));

	ck_assert_msg(strncmp(r.err, "perfex: ", 8) == 0 &&
			      strchr(r.err, '\n') == r.err + strlen(r.err) - 1,
		      "not one line: %s", r.err);
	ck_assert_msg(strstr(r.err, says), "it does not say \"%s\": %s", says, r.err);
	ck_assert_str_eq(r.out, "");
}

START_TEST(results_of_another_definition_are_not_mixed)
{
	enter_directory();
	describe("", "  x: ['0x004100c0']\n");
	experiment(0);
	expect_runs(2);
	describe("", "  x: ['0x004100c4']\n");
	expect_refused("were made with another 'events'");
	describe("warmup: 1\n", "  x: ['0x004100c0']\n");
	expect_refused("were made with another 'warmup'");
	describe("modes: both\n", "  x: ['0x004100c0']\n");
	expect_refused("were made with another 'modes'");
	expect_runs(2);
	describe("", "  x: ['0x004100c0']\n");
	experiment(0);
	expect_runs(2);
}
END_TEST

/* The program itself changes, its name stays. */
START_TEST(a_program_that_was_built_anew_is_noticed)
{
	enter_directory();
	copy_file(program("loop-tiny"), "program", 0755);
	write_file(FILE_NAME, "directory: results\nprograms: {p: [./program]}\n"
			      "experiments: {x: ['0x004100c0']}\n");
	experiment(0);
	experiment(0);
	copy_file(program("loop"), "program", 0755);
	expect_refused("were made with another 'program_fnv1a'");
}
END_TEST

START_TEST(events_that_do_not_fit_are_refused_or_take_passes)
{
	static const char five[] =
		"    events: ['0x004100c0', '0x004100c4', '0x0041003c', '0x004181d0', '0x004182d0']\n";
	char experiments[256];
	struct run r;

	enter_directory();
	snprintf(experiments, sizeof(experiments), "  x:\n%s    passes: 1\n", five);
	describe("", experiments);
	expect_refused("experiment 'x': needs 2 passes for a repetition, passes allows 1: ");
	describe("", "  x: ['0x004100c0@9']\n");
	expect_refused("9");
	expect_runs(0);
	snprintf(experiments, sizeof(experiments), "  x:\n%s", five);
	describe("repetitions: 2\n", experiments);
	r = experiment(0);
	expect_runs(2 * 2 * 2);
	ck_assert_double_gt(mean(&r, "loop", "x", "0x004100c0@"), LOOP_INSTRUCTIONS(SHORT_LOOP));
	mean(&r, "tiny", "x", "0x004182d0@");
}
END_TEST

START_TEST(a_job_that_fails_stops_no_other)
{
	struct run r;

	enter_directory();
	snprintf(description, sizeof(description),
		 "directory: results\n"
		 "programs:\n"
		 "  fails: [sh, -c, 'echo >>runs; echo why >&2; exit 3']\n"
		 "  dies: [%s]\n"
		 "  three: {command: [sh, -c, 'echo >>runs; exit 3'], exit_status: 3}\n"
		 "experiments: {x: ['0x004100c0']}\n",
		 program("die-9"));
	write_file(FILE_NAME, description);
	r = experiment(EXITED(1));
	expect_runs(2);
	ck_assert_ptr_nonnull(strstr(r.err,
				     "program 'fails', experiment 'x', repetition 1: it ended "
				     "with status 3, not with status 0; see '"));
	ck_assert_ptr_nonnull(strstr(r.err,
				     "program 'dies', experiment 'x', repetition 1: it ended "
				     "with signal 9, not with status 0; see '"));
	ck_assert_ptr_nonnull(strstr(r.out, "three,x,0x004100c0@0,user,1,"));
	ck_assert_ptr_null(strstr(r.out, "fails"));
	ck_assert_uint_eq(lines("results/fails/x/run-1.err"), 1);
	experiment(EXITED(1));
	expect_runs(3);
}
END_TEST

START_TEST(programs_get_their_surroundings)
{
	enter_directory();
	write_file("words", "one\ntwo\n");
	write_file(FILE_NAME, "directory: results\n"
			      "programs:\n"
			      "  p:\n"
			      "    command: [sh, -c, 'cat; pwd; echo $NAME']\n"
			      "    directory: /proc\n"
			      "    input: words\n"
			      "    environment: {NAME: value}\n"
			      "experiments: {x: ['0x004100c0']}\n");
	experiment(0);
	write_file("expected", "one\ntwo\n/proc\nvalue\n");
	ck_assert_int_eq(system("cmp expected results/p/x/run-1.out"), 0);
}
END_TEST

/* In a process group of its own, as a shell starts it. */
static pid_t start_experiment(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		setpgid(0, 0);
		if (freopen("err", "w", stderr) && freopen("/dev/null", "w", stdout))
			execlp("perfex", "perfex", "experiment", FILE_NAME, NULL);
		_exit(99);
	}
	return pid;
}

static void wait_for_runs(unsigned int n)
{
	while (lines("runs") < n)
		sleep_us(10000);
}

/* The second run sleeps until ^C, which a terminal sends to the whole group. */
START_TEST(an_interrupted_experiment_goes_on_later)
{
	struct run r;
	int status;
	pid_t pid;

	enter_directory();
	write_file(FILE_NAME,
		   "directory: results\nrepetitions: 2\n"
		   "programs:\n"
		   "  p: [sh, -c, 'echo >>runs; test $(wc -l <runs) -ne 2 || exec sleep 1000']\n"
		   "experiments: {x: ['0x004100c0']}\n");
	pid = start_experiment();
	wait_for_runs(2);
	ck_assert_int_eq(kill(-pid, SIGINT), 0);
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
	ck_assert_uint_eq(lines("err"), 1);
	ck_assert_int_eq(access("results/p/x/run-1.json", F_OK), 0);
	ck_assert_int_ne(access("results/p/x/run-2.json", F_OK), 0);
	r = experiment(0);
	expect_runs(3);
	ck_assert_ptr_nonnull(strstr(r.out, "p,x,0x004100c0@0,user,2,"));
}
END_TEST

START_TEST(a_table_without_an_output_is_written_nowhere_else)
{
	struct run r;

	enter_directory();
	write_file(FILE_NAME, "directory: results\nrepetitions: 1\n"
			      "programs: {p: ['true']}\nexperiments: {x: ['0x004100c0']}\n");
	RUN(&r, "sh", "-c", "exec perfex experiment " FILE_NAME " >&-");
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_str_eq(r.err, "perfex: cannot write to standard output: Bad file descriptor\n");
	RUN(&r, "cat", "results/.lock");
	ck_assert_str_eq(r.out, "");
}
END_TEST

START_TEST(two_at_once_are_refused)
{
	struct run r;
	int status;
	pid_t pid;

	enter_directory();
	write_file(FILE_NAME, "directory: results\n"
			      "programs: {p: [sh, -c, 'echo >>runs; until [ -e refused ]; do sleep 0.1; done']}\n"
			      "experiments: {x: ['0x004100c0']}\n");
	pid = start_experiment();
	wait_for_runs(1);
	RUN(&r, "perfex", "experiment", FILE_NAME);
	ck_assert_int_eq(r.status, EXITED(125));
	ck_assert_ptr_nonnull(strstr(r.err, "perfex: another perfex experiment is at work in '"));
	write_file("refused", "");
	ck_assert_int_eq(wait_for(pid, &status), pid);
	ck_assert_int_eq(status, 0);
	expect_runs(1);
}
END_TEST

/* A link that somebody has put there is replaced. The file to which it leads stays as it was. */
START_TEST(links_are_not_followed)
{
	static const char *const names[] = {
		"results/table.txt.new",	   "results/table.csv.new",
		"results/p/x/definition.json.new", "results/p/x/run-1.json.new",
		"results/p/x/run-1.out",	   "results/p/x/run-1.err",
		"results/p/x/summary.json.new",
	};

	enter_directory();
	write_file("other", "mine\n");
	write_file("expected", "mine\n");
	write_file(FILE_NAME, "directory: results\nrepetitions: 1\n"
			      "programs: {p: [sh, -c, 'echo out; echo err >&2']}\n"
			      "experiments: {x: ['0x004100c0']}\n");
	ck_assert_int_eq(system("mkdir -p results/p/x"), 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ck_assert_int_eq(symlink(i < 2 ? "../other" : "../../../other", names[i]), 0);
	experiment(0);
	ck_assert_int_eq(system("cmp expected other"), 0);
	ck_assert_uint_eq(lines("results/p/x/run-1.out"), 1);
}
END_TEST

START_TEST(a_directory_that_others_can_write_is_refused)
{
	enter_directory();
	describe("", "  x: ['0x004100c0']\n");
	ck_assert_int_eq(system("mkdir -m 777 results"), 0);
	expect_refused("must be a directory of yours that others cannot write");
	ck_assert_int_eq(system("rmdir results && ln -s /tmp results"), 0);
	expect_refused("must be a directory of yours that others cannot write");
}
END_TEST

/* The shell becomes the loop, so that its samples bear the name of the loop. */
START_TEST(ebs_is_one_run_more_that_is_sampled)
{
	struct run r;

	enter_directory();
	describe(
		"repetitions: 2\n",
		"  where: {events: ['0x004100c0@0', '0x004100c4@1'], ebs: {'0x004100c0@0': 10007}, "
		"programs: [loop]}\n"
		"  plain: ['0x004100c0']\n");
	RUN(&r, "perfex", "experiment", "--check", FILE_NAME);
	ck_assert_ptr_nonnull(strstr(r.out, "to do"));
	ck_assert_ptr_nonnull(strstr(r.out, "none"));
	experiment(0);
	expect_runs(2 + 1 + 2 * 2);
	experiment(0);
	expect_runs(2 + 1 + 2 * 2);
	RUN(&r, "perfex", "samples", "--csv", "--by=process", "results/loop/where/ebs.samples");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out, ",loop,"));
	/* The events that are only counted are in the rows, too. */
	RUN(&r, "perfex", "samples", "--raw", "--csv", "results/loop/where/ebs.samples");
	ck_assert_ptr_nonnull(strstr(r.out, ",tsc,0x004100c0@0,0x004100c4@1\r\n"));
	/* Only the missing file is made again. */
	unlink("results/loop/where/ebs.samples");
	experiment(0);
	expect_runs(2 + 1 + 2 * 2 + 1);
	describe("",
		 "  where: {events: ['0x004100c0', page-faults], ebs: {'0x004100c0': 10007}}\n");
	r = experiment(EXITED(125));
	ck_assert_ptr_nonnull(
		strstr(r.err, "event 'page-faults': ebs needs events of the processor"));
	/* Another period is another experiment. */
	describe(
		"repetitions: 2\n",
		"  where: {events: ['0x004100c0@0', '0x004100c4@1'], ebs: {'0x004100c0@0': 20011}, "
		"programs: [loop]}\n");
	r = experiment(EXITED(125));
	ck_assert_ptr_nonnull(strstr(r.err, "made with another 'ebs'"));
}
END_TEST

SUITE(experiment, ebs_is_one_run_more_that_is_sampled,
      jobs_are_programs_times_experiments_and_are_run_once, counts_and_rules_are_exact,
      what_is_missing_is_run_and_no_more, results_of_another_definition_are_not_mixed,
      a_program_that_was_built_anew_is_noticed, events_that_do_not_fit_are_refused_or_take_passes,
      a_job_that_fails_stops_no_other, programs_get_their_surroundings,
      an_interrupted_experiment_goes_on_later, a_table_without_an_output_is_written_nowhere_else,
      two_at_once_are_refused, links_are_not_followed, a_directory_that_others_can_write_is_refused)
