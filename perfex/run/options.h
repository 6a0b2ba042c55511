/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of all commands that count or describe events. */
#ifndef PERFEX_OPTIONS_H
#define PERFEX_OPTIONS_H

#include <perfctr_events.h>
#include <sys/types.h>
#include "../rows.h"
#include "../rules/derive.h"
#include "rank.h"

enum { NO_LOG_FD = -1u };
enum view { TREE, SELF, PER_PROCESS, PER_THREAD, MARKED };

struct format;

/* The meaning of numbers without 0x. */
enum numbers {
	NUMBERS_MARKED,	 /* refused */
	NUMBERS_2_6,	 /* hexadecimal; warns if the text is a decimal number of another value */
	NUMBERS_DECIMAL, /* decimal */
	NUMBERS_HEX,	 /* hexadecimal */
};

/* An event that would be counted if it could be. */
struct left_out {
	const char *name, *reason;
	bool told; /* in a line of its own */
};

enum { N_USUAL_EVENTS = 8 };

struct options {
	enum { RUN, INFO, LIST, LONG_LIST, VERSION } action;
	struct word_list events; /* specifications */
	struct left_out left_out[N_USUAL_EVENTS];
	unsigned int n_left_out;
	bool usual_events;	 /* of a session: the user has named none */
	unsigned int modes;	 /* PERFCTR_MODE_*, of events that name none */
	const char *pmu;	 /* describe events of this PMU; NULL: of this machine's */
	const char *backend;  /* that counts; NULL: none named, and open_events() not called yet */
	bool backend_chosen;  /* by the library for these events; not passed to COMMAND */
	bool driver_alone;    /* no other backend does what is asked for while others count */
	bool substitute;      /* the backend counts instead of the driver, as others count */
	enum numbers numbers; /* of numbers in the events that follow */
	/* The option that has set numbers, until a number follows it; otherwise NULL */
	const struct option_row *wants_number;
	bool has_pebs_enable, has_pebs_matrix_vert;
	uint64_t pebs_enable, pebs_matrix_vert;
	enum view view;
	/* Of options that exclude each other, the name of the given one; NULL: none */
	const char *view_name, *modes_name, *format_name;
	pid_t process; /* to attach to; 0: none */
	unsigned int runs;
	unsigned int warmup; /* further runs before them, with results discarded */
	unsigned int passes; /* maximum per run; 0: as many as needed */
	double confidence;   /* per cent */
	unsigned int interval_ms, delay_ms, timeout_ms; /* 0: none */
	struct word_list groups;			/* -g */
	struct rules *rules;				/* of derived values; NULL: none */
	struct perfctr_events *database;		/* of the backend; NULL: not open yet */
	char *regions;					/* file; NULL: not wanted */
	char *output;					/* NULL: log_fd */
	/* The names say nothing of rank, host and process: ranks have the same. */
	bool regions_shared, output_shared;
	unsigned int log_fd;				/* NO_LOG_FD: none was given */
	bool append, no_shell, wait;
	bool counts_cpus; /* -a, -C or -A: perfex system counts */
	bool rotates;	  /* --rotate: perfex rotate estimates */
	bool ignore_failure;  /* a run may end with another status than 0 */
	const char *input;    /* file that the command reads; NULL: standard input of perfex */
	/*
	 * For perfex exact.  It counts system calls whether it shows them or not: reading them
	 * changes the counts of kernel mode.
	 */
	bool counts_syscalls, shows_syscalls;
	const char *prepare;  /* command of the shell before each run; NULL: none */
	const struct format *format;
	char **command; /* argv of the command, NULL-terminated; empty: none */
};

void check_output(const struct options *options);
/* Ends perfex if a recording would be mixed with what the command writes. */
void check_recording(const struct options *options);

/* Called by the option rows below. */
void take_event(void *options, const struct option_row *row, const char *list);
void take_output(void *output, const struct option_row *row, const char *path);
/* The same for struct options, and notes whether all ranks have this name. */
void take_output_of_ranks(void *options, const struct option_row *row, const char *path);
/* Gives each rank files of its own, unless all append to one. */
void separate_ranks(struct options *options, enum rank_merge merge);
void take_format(void *options, const struct option_row *row, const char *unused);
/* text NULL: -x of perfctr 2.6, after which numbers are hexadecimal. */
void take_separator(void *options, const struct option_row *row, const char *text);
/* Used by perfex run only. */
void take_named_format(void *options, const struct option_row *row, const char *name);

/* numbers.c */
void take_numbers(void *options, const struct option_row *row, const char *unused);
/* Returns false if text is not a number. */
bool old_number(enum numbers numbers, const char *text, uint64_t *value);
/*
 * Translates spec to the form that perfctr_evntsel_parse() reads.  The caller frees the result.
 * Returns NULL if spec does not consist of numbers.
 */
char *old_event(enum numbers numbers, const char *spec);

/* Option rows of several subcommands.  at: offset of struct options in the subcommand's target. */
#define EVENT_OPTION(at, help_) CALL_AT(at, "event", 'e', "EVENT", help_, take_event, 0)
#define LISTED_EVENT_OPTION(at, help_)                                                             \
	EVENT_LIST_ROW((at) + offsetof(struct options, events), help_)
#define GROUP_OPTION(at, help_) GROUP_LIST_ROW((at) + offsetof(struct options, groups), help_)
#define RULE_OPTION(at, letter_, help_)                                                            \
	RULE_ROW((at) + offsetof(struct options, rules), letter_, help_)
#define RULES_OPTION(at, help_) RULES_ROW((at) + offsetof(struct options, rules), help_)
#define DERIVED_OPTIONS(at)                                                                        \
	RULE_OPTION(at, 0, "show a value like 'cpi = cycles / instructions'; may be repeated"),    \
		RULES_OPTION(at, "show the values of the rules in FILE"),                          \
		GROUP_OPTION(at,                                                                   \
			     "count the events of a group, and show its values; may be repeated;\n" \
			     "perfex list --groups shows them")
#define BACKEND_OPTION(at) BACKEND_ROW((at) + offsetof(struct options, backend))
#define MODE_OPTION(at, name_, help_, mode_)                                                       \
	MODE_ROW((at) + offsetof(struct options, modes),                                           \
		 (at) + offsetof(struct options, modes_name), name_, help_, mode_)
/* user_, kernel_, both_: ends of the help texts */
#define MODE_OPTIONS(at, user_, kernel_, both_)                                                    \
	MODE_ROWS((at) + offsetof(struct options, modes),                                          \
		  (at) + offsetof(struct options, modes_name), user_, kernel_, both_)
#define OUTPUT_OPTION(at, help_)                                                                   \
	CALL_AT((at), "output", 'o', "FILE", help_, take_output_of_ranks, 0)
/* The names are those of hyperfine's options. */
#define INPUT_OPTION(at)                                                                           \
	{                                                                                          \
		.name = "input", .argument = "FILE", .kind = OPTION_TEXT,                          \
		.help = "let each run read FILE",                                                  \
		.field = (at) + offsetof(struct options, input)                                    \
	}
#define RERUN_OPTIONS(at)                                                                          \
	INPUT_OPTION(at),                                                                          \
		{ .name = "prepare",                                                               \
		  .argument = "COMMAND",                                                           \
		  .kind = OPTION_TEXT,                                                             \
		  .help = "before each run let the shell execute COMMAND",                         \
		  .field = (at) + offsetof(struct options, prepare) },                             \
	{                                                                                          \
		.name = "ignore-failure", .kind = OPTION_FLAG,                                     \
		.help = "count runs that end with another status than 0, too",                     \
		.field = (at) + offsetof(struct options, ignore_failure)                           \
	}
#define APPEND_OPTION(at)                                                                          \
	{                                                                                          \
		.name = "append", .help = "append to FILE", .kind = OPTION_FLAG,                   \
		.field = (at) + offsetof(struct options, append)                                   \
	}
#define FORMAT_OPTIONS(at, may_lack_separator)                                                     \
	CALL_AT(at, "csv", 0, NULL, "write comma-separated values (RFC 4180)", take_format, 0),    \
		CALL_AT(at, "json", 'j', NULL, "write JSON, one document a line", take_format, 1), \
	{                                                                                          \
		.name = "field-separator", .letter = 'x', .argument = "SEP",                       \
		.may_lack = may_lack_separator, .help = "the same as --csv; SEP can only be ','",  \
		.take = take_separator, .field = at                                                \
	}

/*
 * Adds the rules of groups to those of the options, and the events of all rules to the events.
 * Returns false, after an error message, if there is no such group, or if it has no rules here.
 */
bool add_rules(struct options *options);

/*
 * Opens the database of events, and sets options->backend to the name of its backend.  If no
 * backend was named, the library chooses one for these events.  The backend must have these
 * capabilities.  Returns false, after an error message, if there is no such backend.
 */
bool open_events(struct options *options, uint32_t capabilities);
/*
 * Called when the counting has begun: if the backend is a substitute, names the holder of the
 * counters once, and says what to do.
 */
void tell_substitute(const struct options *options);
void free_options(struct options *options);

#endif
