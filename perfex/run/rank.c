// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "rank.h"
#include "../../lib/rank.h"
#include "../perfex.h"
#include "../textfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * Returns the number of ranks as text, or NULL.  PMIx has no variable for it, but Open MPI and
 * Slurm set theirs.  Slurm sets SLURM_NTASKS also for the script that starts the ranks, and this
 * one only for the tasks of srun.
 */
static const char *number_of_ranks(void)
{
	static const char *const sizes[] = { "PMI_SIZE", "OMPI_COMM_WORLD_SIZE",
					     "SLURM_STEP_NUM_TASKS" };

	return perfctr_rank_number(sizes, sizeof(sizes) / sizeof(sizes[0]), false);
}

const char *rank_of_mpi(const char **variable)
{
	for (size_t i = 0; i < PERFCTR_RANK_OF_MPI; i++) {
		const char *rank = getenv(perfctr_rank_variables[i]);

		*variable = perfctr_rank_variables[i];
		if (rank && *rank)
			return rank;
	}
	return NULL;
}

bool rank_find(unsigned int *rank)
{
	const char *text = perfctr_rank();

	return text && parse_number(text, rank);
}

static void put_rank(FILE *file, const char *name)
{
	unsigned int rank;

	if (!rank_find(&rank))
		fail("'%s': there is no rank for %%r: neither mpirun nor srun has started this (no "
		     "PMI_RANK, PMIX_RANK, OMPI_COMM_WORLD_RANK or SLURM_PROCID); leave %%r out",
		     name);
	fprintf(file, "%u", rank);
}

static void put_host(FILE *file)
{
	struct utsname host = { 0 };

	uname(&host);
	fputs(host.nodename, file);
}

static bool is_pattern(const char *text, const char *letters)
{
	return text[0] == '%' && text[1] && strchr(letters, text[1]);
}

bool rank_has_pattern(const char *name, const char *letters)
{
	for (; *name; name++)
		if (is_pattern(name, letters))
			return true;
	return false;
}

char *rank_file_name(const char *name, const char *letters)
{
	struct text text;
	FILE *file = text_open(&text);

	for (const char *c = name; *c; c++) {
		if (!is_pattern(c, letters)) {
			putc(*c, file);
			continue;
		}
		c++;
		if (*c == 'r')
			put_rank(file, name);
		else if (*c == 'h')
			put_host(file);
		else
			fprintf(file, "%d", getpid());
	}
	return text_close(&text);
}

/* "-", devices, pipes, directories and links, such as /dev/stdout, are no files to be renamed. */
static bool is_special(const char *name)
{
	struct stat status;

	return is_standard(name) || (lstat(name, &status) == 0 && !S_ISREG(status.st_mode));
}

/* The length of the name without its extension.  A dot that begins a name begins no extension. */
static int stem_length(const char *name)
{
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	const char *dot = strrchr(base, '.');

	return (int)(dot && dot > base ? (size_t)(dot - name) : strlen(name));
}

/* Tells, in a line, that the ranks write files of their own. */
static void tell_separate(const char *shared, const char *own, enum rank_merge merge)
{
	int stem = stem_length(shared);
	struct text text;
	FILE *file = text_open(&text);

	if (merge == MERGED)
		fprintf(file, "; all together: perfex merge %.*s.*%s", stem, shared, shared + stem);
	else if (merge == MERGED_AS_JSON)
		fprintf(file, "; with --json perfex merge adds them up");
	text_close(&text);
	complain("each of the %s ranks writes a file of its own, this one '%s'%s",
		 number_of_ranks(), own, text.text);
	free(text.text);
}

void rank_separate(char **name, enum rank_merge merge)
{
	const char *shared = *name, *rank = perfctr_rank(), *size = number_of_ranks();
	int stem = stem_length(shared);
	char *own;

	if (!*shared || is_special(shared) || !rank || !size || strcmp(size, "1") == 0)
		return;
	own = text_print("%.*s.%s%s", stem, shared, rank, shared + stem);
	if (strcmp(rank, "0") == 0)
		tell_separate(shared, own, merge);
	free(*name);
	*name = own;
}
