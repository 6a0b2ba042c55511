// SPDX-License-Identifier: GPL-2.0-or-later
/* Checks whether a command can be run more than once, and rewinds its standard input. */
#include "rank.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool refuse_runs(unsigned int runs, const char *why)
{
	complain("%u runs of the command were asked for, and %s", runs, why);
	return false;
}

/*
 * Returns false, after an error message, if perfex is a rank of an MPI program.  The other ranks
 * wait for this rank only once, so its command cannot run again.
 */
static bool check_rank(unsigned int runs)
{
	const char *variable, *rank = rank_of_mpi(&variable);
	char why[256];

	if (!rank)
		return true;
	snprintf(why, sizeof(why),
		 "it is rank %s of an MPI program (%s), which runs once: count what fits in one run, or "
		 "repeat the whole program",
		 rank, variable);
	return refuse_runs(runs, why);
}

bool rerun_check(unsigned int runs, off_t *start)
{
	struct stat status;
	int access;

	if (!check_rank(runs))
		return false;
	if (fstat(STDIN_FILENO, &status) < 0)
		return true;
	if (S_ISFIFO(status.st_mode))
		return refuse_runs(runs,
				   "standard input is a pipe, which only the first could read: "
				   "redirect it from a file or from /dev/null");
	if (S_ISSOCK(status.st_mode))
		return refuse_runs(runs,
				   "standard input is a socket, which only the first could read: "
				   "redirect it from a file or from /dev/null");
	if (!S_ISREG(status.st_mode))
		return true;
	/*
	 * Standard input and output may be the same open file.  After a rewind, the command would
	 * overwrite its earlier output.
	 */
	access = fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE;
	if (access == O_RDWR)
		return refuse_runs(runs,
				   "standard input is open for writing too, so it is not rewound "
				   "for the second: redirect it from a file or from /dev/null");
	if (access == O_RDONLY)
		*start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	return true;
}

bool rerun_rewind(off_t start)
{
	if (lseek(STDIN_FILENO, start, SEEK_SET) >= 0)
		return true;
	complain("standard input cannot be rewound for another run: %s", strerror(errno));
	return false;
}
