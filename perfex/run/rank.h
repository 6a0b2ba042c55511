/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process of a parallel program this is, and files of its own. */
#ifndef PERFEX_RANK_H
#define PERFEX_RANK_H

#include <stdbool.h>

/* Text of the environment; NULL: this is no rank of an MPI program. */
const char *rank_of_mpi(const char **variable);
/* Of an MPI program, or of what srun has started. */
bool rank_find(unsigned int *rank);

/*
 * The name of a file, for free(), with rank, host and number of perfex's process for those of
 * %r, %h and %p that letters has.  No rank ends perfex.
 */
char *rank_file_name(const char *name, const char *letters);

#endif
