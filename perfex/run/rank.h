/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rank of this process in a parallel program, and file names that contain it. */
#ifndef PERFEX_RANK_H
#define PERFEX_RANK_H

#include <stdbool.h>

/*
 * Returns the text of the environment variable that has the rank, and its name in *variable.
 * Returns NULL if this process is no rank of an MPI program.
 */
const char *rank_of_mpi(const char **variable);
/* Finds the rank in an MPI program, or among the tasks of srun.  Returns false if there is none. */
bool rank_find(unsigned int *rank);

/*
 * Returns name with %r, %h and %p replaced by rank, host name and process ID of perfex, as far as
 * letters contains r, h and p.  The caller frees the result.  Ends perfex if %r is replaced and
 * there is no rank.
 */
char *rank_file_name(const char *name, const char *letters);
/* Would rank_file_name() replace anything? */
bool rank_has_pattern(const char *name, const char *letters);

/* Does perfex merge add up the files? */
enum rank_merge { MERGED, MERGED_AS_JSON, NOT_MERGED };

/*
 * In one of several ranks, replaces *name, text for free() that all ranks have got, by a name with
 * the rank before the extension.  Rank 0 says so in a line, and what adds up the files.  Special
 * files, such as /dev/null, keep their names.
 */
void rank_separate(char **name, enum rank_merge merge);

#endif
