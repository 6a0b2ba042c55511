// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "rank.h"
#include "../perfex.h"
#include "../textfile.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

/*
 * Environment variables by which MPICH and others, PMIx, Open MPI and Slurm tell a process its
 * rank.  Slurm also sets its variable for processes that are not ranks of an MPI program, and for
 * the script that starts one, so it comes last.
 */
static const char *const variables[] = {
	"PMI_RANK",
	"PMIX_RANK",
	"OMPI_COMM_WORLD_RANK",
	"SLURM_PROCID",
};

enum { N_VARIABLES = sizeof(variables) / sizeof(variables[0]), N_OF_MPI = N_VARIABLES - 1 };

/*
 * The number of ranks.  PMIx has no variable for it, but Open MPI and Slurm set theirs.  Slurm sets
 * SLURM_NTASKS also for the script that starts the ranks, and this one only for the tasks of srun.
 */
static const char *const sizes[] = { "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS" };

const char *rank_of_mpi(const char **variable)
{
	for (size_t i = 0; i < N_OF_MPI; i++) {
		const char *rank = getenv(variables[i]);

		*variable = variables[i];
		if (rank && *rank)
			return rank;
	}
	return NULL;
}

static bool find_number(const char *const variable[], size_t n, unsigned int least,
			unsigned int *number)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = getenv(variable[i]);

		if (text && parse_number(text, number) && *number >= least)
			return true;
	}
	return false;
}

bool rank_find(unsigned int *rank)
{
	return find_number(variables, N_VARIABLES, 0, rank);
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

void rank_separate(char **name, bool can_merge)
{
	char *shared = *name;
	int stem = stem_length(shared);
	unsigned int rank, size;

	if (!*shared || is_special(shared) || !rank_find(&rank) ||
	    !find_number(sizes, sizeof(sizes) / sizeof(sizes[0]), 1, &size) || size < 2)
		return;
	*name = text_print("%.*s.%u%s", stem, shared, rank, shared + stem);
	if (rank == 0 && can_merge)
		complain("each of the %u ranks writes a file of its own, this one '%s'; all "
			 "together: perfex merge %.*s.*%s",
			 size, *name, stem, shared, shared + stem);
	else if (rank == 0)
		complain("each of the %u ranks writes a file of its own, this one '%s'; with "
			 "--json perfex merge adds them up",
			 size, *name);
	free(shared);
}
