/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The rank of this process in a parallel program, as mpirun and srun tell it. */
#ifndef PERFCTR_RANK_H
#define PERFCTR_RANK_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Environment variables by which MPICH and others, PMIx, Open MPI and Slurm tell a process its
 * rank.  Slurm also sets its variable for processes that are not ranks of an MPI program, and for
 * the script that starts one, so it comes last.
 */
static const char *const perfctr_rank_variables[] = {
	"PMI_RANK",
	"PMIX_RANK",
	"OMPI_COMM_WORLD_RANK",
	"SLURM_PROCID",
};

enum {
	PERFCTR_RANK_VARIABLES = sizeof(perfctr_rank_variables) / sizeof(perfctr_rank_variables[0]),
	PERFCTR_RANK_OF_MPI = PERFCTR_RANK_VARIABLES - 1,
};

/*
 * Returns the first of the variables that is a number, without zeros in front, so that 0 is "".
 * NULL: there is none.
 */
static inline const char *perfctr_rank_number(const char *const *variable, size_t n, bool may_be_0)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = secure_getenv(variable[i]);

		if (!text || !*text || text[strspn(text, "0123456789")])
			continue;
		text += strspn(text, "0");
		if (*text || may_be_0)
			return text;
	}
	return NULL;
}

/* Returns the rank as text, or NULL if this process has none. */
static inline const char *perfctr_rank(void)
{
	const char *rank =
		perfctr_rank_number(perfctr_rank_variables, PERFCTR_RANK_VARIABLES, true);

	return rank && !*rank ? "0" : rank;
}

#endif
