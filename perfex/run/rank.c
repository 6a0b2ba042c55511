// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "rank.h"
#include "../perfex.h"

#include <stdlib.h>
#include <string.h>
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

bool rank_find(unsigned int *rank)
{
	for (size_t i = 0; i < N_VARIABLES; i++) {
		const char *text = getenv(variables[i]);

		if (text && parse_number(text, rank))
			return true;
	}
	return false;
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

char *rank_file_name(const char *name, const char *letters)
{
	struct text text;
	FILE *file = text_open(&text);

	for (const char *c = name; *c; c++) {
		if (*c != '%' || !c[1] || !strchr(letters, c[1])) {
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
