/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine in which perfex exact runs a command.
 *
 * archive.c	writes an archive for cpio, from which the machine makes its files
 * files.c	puts files, links and directories of the host into the archive
 * names.c	finds the names that paths have in the machine: see names.h
 * contents.c	puts together all that the machine has: see options.h
 * needs.c	finds what a program needs: its interpreter, its libraries, programs that it names
 * program.c	reads programs and libraries: see program.h
 * tracer.c	follows a command and the processes that it starts: see tracer.h
 * syscalls.c	names system calls: see syscalls.h
 * used.c	finds the files that COMMAND uses when it runs on the host
 * baseline.c	compares the counts with those of an earlier run: see baseline.h
 * machine.c	finds the machine, runs it, and takes what it sends
 */
#ifndef PERFEX_EXACT_EXACT_H
#define PERFEX_EXACT_EXACT_H

#include "../perfex.h"
#include "names.h"

#include <sys/stat.h>

/* The file of an archive is in memory.  Its format is "newc", which cpio(5) describes. */
struct archive {
	FILE *file;
	unsigned int entries;
	uint64_t room; /* bytes that may still be written */
};

/* All of these end perfex, with a message, if there is no memory or no room. */
void archive_begin(struct archive *archive, uint64_t room);
void archive_directory(struct archive *archive, const char *name, mode_t mode);
void archive_link(struct archive *archive, const char *name, const char *target);
void archive_pipe(struct archive *archive, const char *name, mode_t mode);
void archive_text(struct archive *archive, const char *name, mode_t mode, const char *text,
		  size_t size);
/* Copies fd from its offset to its end.  Returns false with errno set if fd cannot be read. */
bool archive_copy(struct archive *archive, const char *name, const struct stat *status, int fd);
/* Writes the end of the archive, and returns its descriptor. */
int archive_end(struct archive *archive);

enum needing_kind {
	NEEDING_FILE,	  /* of a directory: it may need libraries */
	NEEDING_PROGRAM,  /* an argument or a script names it */
	NEEDING_REQUIRED, /* the same, and perfex ends if a library is missing */
};

/* A program or library that may need further files. */
struct needing {
	char *path; /* without links */
	enum needing_kind kind;
};

/* The files of the machine. */
struct files {
	struct archive archive;
	void *names; /* of the entries of the archive: a set */
	struct needing *needing;
	size_t n_needing, n_settled;
	struct word_list directories; /* that have programs, beyond the usual ones */
	struct word_list left_out;    /* without links */
	struct renamed renamed;	      /* the directory with another name in the machine */
	const char *tree;	      /* the directory that is being added, without links */
	bool finds_files;	      /* by a run of COMMAND on the host */
	bool keeps_times;   /* of changes; false: files have the time at which the machine begins */
	char **environment; /* of the machine's programs; ends with NULL; from malloc() */
};

/* files.c: is it one of the machine's own files and directories, such as /dev, or below one? */
bool files_is_of_machine(const char *path);
/*
 * Puts the file, link or directory into the archive under its name in the machine, with all
 * directories and links on the way to it.  Returns its path without links, for free(), or NULL with
 * errno set.  Puts nothing in twice.  Puts in nothing below the machine's own directories, such as
 * /dev: errno is EXDEV then.
 */
char *files_add(struct files *files, const char *path);
/* The same, with all that is in a directory.  Returns false with errno set. */
bool files_add_tree(struct files *files, const char *path);
/* Returns the path without links on the way to the file, for free(); NULL if there is no way. */
char *files_resolve(const char *path);
/* Is it in the archive? */
bool files_has(const struct files *files, const char *path);
/*
 * Leaves a file out, or a directory with all that is in it, as if it did not exist.  Returns false
 * with errno set if it does not exist.  files_leave_out_name() leaves a link out, and not the file
 * to which it leads.
 */
bool files_leave_out(struct files *files, const char *path);
bool files_leave_out_name(struct files *files, const char *path);
/* Says what errno of these functions means. */
const char *files_error(int error);
/* These put in a directory, a text or a link that the host need not have. */
void files_add_directory(struct files *files, const char *name, mode_t mode);
void files_add_text(struct files *files, const char *name, mode_t mode, const char *text,
		    size_t size);
void files_add_link(struct files *files, const char *name, const char *target);
/* Frees what the files hold, but for the archive. */
void files_free(struct files *files);

/*
 * needs.c: adds the program, which is a path or a name to be found in PATH.  Ends perfex with
 * EXIT_NOT_FOUND or EXIT_NOT_EXECUTABLE if it is none.  Returns the name by which the machine
 * executes it, for free().
 */
char *needs_program(struct files *files, const char *name);
/*
 * Adds the files and programs that the arguments of a command name.  Of a directory, adds no more
 * than itself, with a warning.
 */
void needs_arguments(struct files *files, char *const *command);
/*
 * Adds a file that COMMAND uses, with the libraries and the interpreter of a program.  Returns
 * false with errno set if it cannot be added.
 */
bool needs_used(struct files *files, const char *path, bool is_program);
/*
 * Adds a shell, the programs by which people look around, and the description of their terminal.
 * Returns the shell's path, for free().
 */
char *needs_shell(struct files *files);
/* Adds the programs that a line for a shell names. */
void needs_of_shell(struct files *files, const char *line);
/* PATH of perfex, or the usual one. */
const char *needs_callers_path(void);
/* Returns PATH of the machine, "PATH=...", for free(). */
char *needs_path(const struct files *files);
/* Adds what the added programs and libraries need, and what that needs in turn. */
void needs_settle(struct files *files);

/* A command that runs on the host. */
struct used_command {
	const char *program; /* path */
	char *const *command;
	char *const *environment;
	const char *home; /* a directory for this run alone, without links */
	int input;	  /* descriptor, or -1 for none */
};

/*
 * used.c: runs the command on the host, and adds the files that it uses, but none that it makes.
 * Returns 0, a signal that came to end perfex, or -1 with errno set if the command cannot be
 * followed.
 */
int used_add(struct files *files, const struct used_command *command);

/* A line of scripts/profiles. */
struct processor {
	char name[32], cpu[512], board[128], kernel[256];
};

/* MACHINE_PAGE: bytes. */
enum { MACHINE_MAX_CPUS = 8, MACHINE_PAGE = 4096 };

/* machine.c: the directory that scripts/build-machine makes */
struct machine {
	char *directory;
	struct processor processor;
	unsigned int memory_mb, cpus;
	bool has_terminal; /* perfex's; no outputs come */
};

/* Files that perfex and COMMAND write in the machine, which sends them. */
#define MACHINE_COUNTS "/machine/counts"
#define MACHINE_REGIONS "/machine/regions"

struct machine_text {
	char *text; /* NULL: there is no such file */
	size_t size;
};

struct machine_result {
	int wait_status; /* of the command, as of wait(2) */
	struct machine_text output, error, counts, regions;
	bool out_of_memory; /* the kernel has killed a process for want of memory */
};

/*
 * Finds the machine and the processor.  Ends perfex if there is none, or if it cannot have that
 * many CPUs.  If cpus is 0, sets it to the CPUs of one core.
 */
void machine_find(struct machine *machine, const char *processor);
bool machine_has_counters(const struct machine *machine);
/* Returns the path of a file of the machine, for free(). */
char *machine_file(const struct machine *machine, const char *name);
/* Copies a file of the machine's own into an archive. */
void machine_add(struct archive *archive, const struct machine *machine, const char *file,
		 const char *name);
/* Returns the size, in bytes, that the archive of the machine's files may have. */
size_t machine_files_size(const struct machine *machine);
/*
 * Runs the machine with the files of the archive, and its job.  Returns false, after an error
 * message, if it did not run to its end; *ended_by is then the signal that ended perfex, or 0.
 */
bool machine_run(const struct machine *machine, int files, struct machine_result *result,
		 int *ended_by);
void machine_result_free(struct machine_result *result);

#endif
