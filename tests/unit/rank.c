// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of files that all ranks of a parallel program are given. */
#define _GNU_SOURCE
#include "../../perfex/run/rank.h"
#include "command.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns what standard error got meanwhile. */
static const char *separate(char **name, enum rank_merge merge)
{
	static char text[512];
	FILE *said = tmpfile();
	int before = dup(STDERR_FILENO);

	ck_assert_ptr_nonnull(said);
	dup2(fileno(said), STDERR_FILENO);
	rank_separate(name, merge);
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(said);
	text[fread(text, 1, sizeof(text) - 1, said)] = '\0';
	fclose(said);
	return text;
}

static void expect_name(const char *name, const char *expected)
{
	char *own = strdup(name);

	separate(&own, MERGED);
	ck_assert_str_eq(own, expected);
	free(own);
}

static void be_rank(const char *rank, const char *size)
{
	setenv("PMI_RANK", rank, 1);
	setenv("PMI_SIZE", size, 1);
}

static const struct {
	const char *name, *expected;
} names[] = {
	{ "same.json", "same.3.json" },
	{ "same", "same.3" },
	{ "/tmp/a.b/same", "/tmp/a.b/same.3" },
	{ "../a.tar.json", "../a.tar.3.json" },
	{ ".hidden", ".hidden.3" },
	{ "dir/.hidden.csv", "dir/.hidden.3.csv" },
	{ "", "" },
	{ "-", "-" },
	{ "/dev/null", "/dev/null" },
	{ "/dev/stdout", "/dev/stdout" },
	{ "/dev/fd/1", "/dev/fd/1" },
	{ "fifo", "fifo" },
	{ "directory.d", "directory.d" },
	{ "old.json", "old.3.json" },
};

START_TEST(the_rank_stands_before_the_extension)
{
	enter_directory();
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(mkdir("directory.d", 0700), 0);
	write_text("old.json", "{}\n");
	be_rank("3", "4");
	expect_name(names[_i].name, names[_i].expected);
	leave_directory();
}
END_TEST

static const struct {
	const char *variable[4], *expected;
} launchers[] = {
	{ { "PMI_RANK=1", "PMI_SIZE=2" }, "a.1.json" },
	{ { "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2" }, "a.1.json" },
	{ { "PMIX_RANK=1", "OMPI_COMM_WORLD_SIZE=2" }, "a.1.json" },
	{ { "PMIX_RANK=1", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8" }, "a.1.json" },
	{ { "SLURM_PROCID=7", "SLURM_STEP_NUM_TASKS=8" }, "a.7.json" },
	/* The script that sbatch starts. */
	{ { "SLURM_PROCID=0", "SLURM_NTASKS=8" }, "a.json" },
	{ { "PMI_RANK=0", "PMI_SIZE=1" }, "a.json" },
	/* mpirun -np 1 in a task of srun. */
	{ { "PMI_RANK=0", "PMI_SIZE=1", "SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=8" }, "a.json" },
	{ { "PMI_RANK=1" }, "a.json" },
	{ { "PMI_SIZE=2" }, "a.json" },
	{ { "PMI_RANK=../x", "PMI_SIZE=2" }, "a.json" },
	{ { "PMI_RANK=1", "PMI_SIZE=many" }, "a.json" },
	{ { "PMI_RANK=1", "PMI_SIZE=0", "OMPI_COMM_WORLD_SIZE=4" }, "a.1.json" },
	{ { NULL }, "a.json" },
};

START_TEST(only_one_of_several_ranks_writes_another_file)
{
	ck_assert_int_eq(clearenv(), 0);
	for (size_t i = 0; i < ARRAY_SIZE(launchers[0].variable) && launchers[_i].variable[i]; i++)
		putenv((char *)launchers[_i].variable[i]);
	expect_name("a.json", launchers[_i].expected);
}
END_TEST

START_TEST(rank_0_alone_tells_of_the_files)
{
	char *name = strdup("out/same.json");

	be_rank("0", "4");
	ck_assert_str_eq(separate(&name, MERGED),
			 "perfex: each of the 4 ranks writes a file of its own, this one 'out/same.0.json'; all "
			 "together: perfex merge out/same.*.json\n");
	free(name);
	name = strdup("same");
	ck_assert_str_eq(separate(&name, MERGED_AS_JSON),
			 "perfex: each of the 4 ranks writes a file of its own, this one 'same.0'; with --json perfex "
			 "merge adds them up\n");
	free(name);
	name = strdup("perfex.samples");
	ck_assert_str_eq(separate(&name, NOT_MERGED),
			 "perfex: each of the 4 ranks writes a file of its own, this one 'perfex.0.samples'\n");
	free(name);
	name = strdup("same.json");
	be_rank("1", "4");
	ck_assert_str_eq(separate(&name, MERGED), "");
	ck_assert_str_eq(name, "same.1.json");
	free(name);
}
END_TEST

TCase *rank_tests(void)
{
	TCase *tests = tcase_create("rank");

	tcase_add_loop_test(tests, the_rank_stands_before_the_extension, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tests, only_one_of_several_ranks_writes_another_file, 0, ARRAY_SIZE(launchers));
	tcase_add_test(tests, rank_0_alone_tells_of_the_files);
	return tests;
}
