// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands against running a command more than once; its standard input from the same place. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By which MPICH and others, Slurm or PMIx, and Open MPI tell a process its rank. */
static const char *const ranks[] = { "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK" };

/* Whom the others of the program wait for, and let in once. */
static bool check_rank(unsigned int runs)
{
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++)
		if (getenv(ranks[i])) {
			complain(
				"%u runs of the command were asked for, and it is rank %s of an MPI "
				"program (%s), which runs once: count what fits in one run, or repeat "
				"the whole program",
				runs, getenv(ranks[i]), ranks[i]);
			return false;
		}
	return true;
}

/* Standard output may be the same open file: what was written to it must not be written over. */
static bool find_start(struct rerun *rerun, unsigned int runs)
{
	int access = fcntl(STDIN_FILENO, F_GETFL) & O_ACCMODE;

	if (access == O_RDONLY)
		rerun->start = lseek(STDIN_FILENO, 0, SEEK_CUR);
	if (access != O_RDWR)
		return true;
	complain(
		"%u runs of the command were asked for, and standard input is open for writing too, so "
		"it is not rewound for the second: redirect it from a file or from /dev/null",
		runs);
	return false;
}

bool rerun_check(struct rerun *rerun, unsigned int runs)
{
	struct stat status;

	if (!check_rank(runs))
		return false;
	if (fstat(STDIN_FILENO, &status) < 0)
		return true;
	if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
		complain("%u runs of the command were asked for, and standard input is a %s, which "
			 "only the first could read: redirect it from a file or from /dev/null",
			 runs, S_ISFIFO(status.st_mode) ? "pipe" : "socket");
		return false;
	}
	return !S_ISREG(status.st_mode) || find_start(rerun, runs);
}

bool rerun_rewind(const struct rerun *rerun)
{
	if (lseek(STDIN_FILENO, rerun->start, SEEK_SET) >= 0)
		return true;
	complain("standard input cannot be rewound for another run: %s", strerror(errno));
	return false;
}
