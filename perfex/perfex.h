/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: declarations that its subcommands share.
 *
 * main.c	main() and the table of subcommands
 * cmd_NAME.c	the subcommands that count or show what can be counted; tools/ has the others
 * arguments.c	parses the command lines of subcommands, and prints their help
 * characters.c	characters of UTF-8, and control characters
 * rows.c	rows of options that several subcommands have: events, modes, backends
 * error.c	writes one line to standard error
 * process.c	allocates memory or ends perfex; texts; signals; time; output; perfex's end
 * refusals.c	error messages for counters that perfex does not get
 * words.c	replaces functions by commands in the library's error messages
 * holders.c	shows which processes hold the counters
 * json_member.c	adds members to JSON objects, or ends perfex
 * path.c	searches PATH for programs
 * by_address.h	searches arrays that are sorted by address
 */
#ifndef PERFEX_H
#define PERFEX_H

#include <perfctr_events.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

/* Exit statuses as of env(1), nice(1) and timeout(1).  128 + N: the command died of signal N. */
enum {
	EXIT_EXCEEDED = 1, /* a value exceeds a limit that the user has given */
	EXIT_PERFEX = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/*
 * An option.  One file defines a subcommand and its options; the table in main.c lists the
 * subcommand.
 */
struct option_row {
	const char *name;
	char letter;	      /* 0: none */
	const char *argument; /* name of the argument in the help; NULL: the option takes none */
	bool may_lack;	      /* the argument may be missing if the next word begins with '-' */
	const char *help;     /* lines separated by \n, the last not ended; NULL: not in the help */
	enum {
		OPTION_CALL,	/* calls take() */
		OPTION_FLAG,	/* sets a bool to true */
		OPTION_VALUE,	/* sets an int or enum to value */
		OPTION_CHOICE,	/* as OPTION_VALUE, and excludes the other options of the choice */
		OPTION_NUMBER,	/* sets an unsigned int to the argument, from min to max */
		OPTION_TEXT,	/* sets a const char * to the argument */
		OPTION_REFUSED, /* an option of perf: ends perfex with the answer */
	} kind;
	size_t field; /* offset in the target of the member that is set, or that take() gets */
	size_t chosen; /* OPTION_CHOICE: offset of a const char *, the name of the option given */
	int value;
	unsigned int min, max; /* max UINT_MAX: no limit */
	const char *unit;      /* OPTION_NUMBER: " of ..." behind "number" in errors, or "" */
	const char *answer;    /* OPTION_REFUSED: what to type instead */
	/* argument is NULL if the option has none. */
	void (*take)(void *member, const struct option_row *row, const char *argument);
};

#define CALL_AT(field_, name_, letter_, argument_, help_, take_, value_)                           \
	{                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .help = help_,            \
		.take = take_, .value = value_, .field = field_                                    \
	}
/* A CALL_AT() that gives take() the whole target. */
#define CALL_OPTION(name_, letter_, argument_, help_, take_, value_)                               \
	CALL_AT(0, name_, letter_, argument_, help_, take_, value_)
#define FLAG_OPTION(name_, letter_, help_, type, member)                                           \
	{                                                                                          \
		.name = name_, .letter = letter_, .help = help_, .kind = OPTION_FLAG,              \
		.field = offsetof(type, member)                                                    \
	}
#define REFUSED_OPTION(name_, letter_, argument_, answer_)                                         \
	{                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .kind = OPTION_REFUSED,   \
		.answer = answer_                                                                  \
	}
#define VALUE_OPTION(name_, letter_, help_, type, member, value_)                                  \
	{                                                                                          \
		.name = name_, .letter = letter_, .help = help_, .kind = OPTION_VALUE,             \
		.field = offsetof(type, member), .value = value_                                   \
	}
#define CHOICE_AT(field_, chosen_, name_, letter_, help_, value_)                                  \
	{                                                                                          \
		.name = name_, .letter = letter_, .help = help_, .kind = OPTION_CHOICE,            \
		.field = field_, .chosen = chosen_, .value = value_                                \
	}
#define CHOICE_OPTION(name_, letter_, help_, type, member, chosen_member, value_)                  \
	CHOICE_AT(offsetof(type, member), offsetof(type, chosen_member), name_, letter_, help_,    \
		  value_)
#define TEXT_OPTION(name_, letter_, argument_, help_, type, member)                                \
	{                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .help = help_,            \
		.kind = OPTION_TEXT, .field = offsetof(type, member)                               \
	}
#define NUMBER_OPTION(name_, letter_, argument_, help_, type, member, min_, max_, unit_)           \
	{                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .help = help_,            \
		.kind = OPTION_NUMBER, .field = offsetof(type, member), .min = min_, .max = max_,  \
		.unit = unit_                                                                      \
	}

struct subcommand {
	const char *name;
	const char *summary;		    /* for the list of subcommands */
	int (*main)(int argc, char **argv); /* argv[0] is its name; returns the exit status */
	const char *help;		    /* usage and purpose, before the options */
	const struct option_row *options;  /* without --help; ends with an empty row; NULL: none */
	const char *notes;		    /* printed behind the options; NULL: none */
	bool takes_command;		    /* the first argument ends the options */
	bool is_default;		    /* its help lists the other subcommands */
};

extern const struct subcommand run_subcommand;
extern const struct subcommand info_subcommand;
extern const struct subcommand list_subcommand;
extern const struct subcommand check_subcommand;
extern const struct subcommand encode_subcommand;
extern const struct subcommand exact_subcommand;
extern const struct subcommand compare_subcommand;
extern const struct subcommand diff_subcommand;
extern const struct subcommand stat_of_subcommand;
extern const struct subcommand merge_subcommand;
extern const struct subcommand experiment_subcommand;
extern const struct subcommand mark_subcommand;
extern const struct subcommand system_subcommand;
extern const struct subcommand scope_subcommand;
extern const struct subcommand trace_subcommand;
extern const struct subcommand record_subcommand;
extern const struct subcommand samples_subcommand;
extern const struct subcommand rotate_subcommand;
extern const struct subcommand report_subcommand;
extern const struct subcommand report_machine_subcommand;
extern const struct subcommand validate_subcommand;
extern const struct subcommand revoke_subcommand;

/* Prints the table of subcommands.  main() sets it; NULL in unit tests. */
extern void (*print_subcommands)(void);
/* Returns true if a subcommand has this name.  NULL if perfex runs a named subcommand. */
extern bool (*is_subcommand)(const char *name);

/* arguments.c: was the event asked for by this name, with or without modifiers? */
bool is_named(const struct perfctr_request *request, const char *name);

/* arguments.c: returns PERFCTR_MODE_* as a word, such as "user+kernel" */
const char *mode_name(unsigned int modes);

/*
 * arguments.c: sets the members of target by the options in argv.  Returns the index of the first
 * argument.  Ends perfex for a bad option, and after --help.
 */
int take_options(const struct subcommand *subcommand, void *target, int argc, char **argv);
/* Returns false if text is not a decimal number from 0 to UINT_MAX. */
bool parse_number(const char *text, unsigned int *number);
/*
 * Parses a period, a number of events between two samples.  Returns false unless it is from 1 to
 * 2^63 - 1, the range that the driver accepts.
 */
bool parse_period(const char *text, uint64_t *period);
/* For --confidence: sets a double, in per cent.  Ends perfex unless it is from 50 to 99.99. */
void take_confidence(void *member, const struct option_row *row, const char *text);
/* Ends perfex if text is not a process number. */
pid_t parse_pid(const char *text);
/*
 * Sets *chosen to the name of the option.  Ends perfex if another option that excludes this one was
 * given.  The same option may be repeated.
 */
void exclude_others(const char **chosen, const struct option_row *row);

/* Words of the command line.  free_words() frees the words and the list. */
struct word_list {
	const char **word;
	size_t n;
};

/* Takes ownership of word, which must come from malloc(). */
void append_word(struct word_list *list, const char *word);
/* Appends copies of the events in a list such as "a,{b,c}:u".  Ends perfex if it is no list. */
void append_events(struct word_list *list, const char *text);
void free_words(struct word_list *list);

/* wrap.c: lines of at most 80 columns, unless a word or an item is longer. */
/*
 * Writes the words of text, which spaces and newlines separate, and a newline.  The first line
 * already has column characters; each line has its words from column indent on.
 */
void write_words(FILE *file, const char *text, size_t length, size_t column, size_t indent);
/* Writes a list and a newline.  Lines break only behind a comma that a space follows. */
void write_list(FILE *file, const char *text);
/*
 * Writes a text of lines.  A line goes on in the next one, unless it ends with '.' or ':', or the
 * next one is empty.  Lines that are indented, or begin with "Usage:", stay as they are.
 */
void write_paragraphs(FILE *file, const char *text);

/* characters.c */
/*
 * Returns the number of bytes of the character that text begins with.  Returns 0 at the end of
 * text, or if it begins with no character of UTF-8 (RFC 3629, section 4).
 */
size_t character_length(const char *text);
/* Returns the number of bytes of the control character that text begins with; 0 if with none. */
size_t control_length(const char *text);
/* Replaces each byte of a control character by '?', so that text cannot control a terminal. */
void make_printable(char *text);

/*
 * words.c: in an error message of the library, replaces functions by commands of perfex.
 * complain() and fail() do this for all that they write.
 */
void name_commands(char *text);

/* The device of the kernel driver. */
#define DEVICE "/dev/perfctr"
#define DRIVER "patch" /* the name of the backend that is the driver */

/* Returns true if the operating system counts the event, without a counter. */
static inline bool is_software(const struct perfctr_request *request)
{
	return request->counter >= PERFCTR_SOFTWARE &&
	       request->counter < PERFCTR_SOFTWARE + PERFCTR_N_SOFTWARE;
}

/*
 * cmd_info.c: shows what this machine can count by the backend, or by the one that the library
 * chooses if backend is NULL.  Returns the exit status.
 */
int show_info(const char *backend);

/* holders.c: prints a line for each process that holds counters */
void print_holders(void);
/*
 * Returns the holders and what to do about them, to be appended to an error message.  Returns ""
 * unless wanted.  The caller frees the text.
 */
char *name_holders(bool wanted);

/*
 * cmd_list.c: lists all events; with details, also their codes, counters and unit masks.  Returns
 * the exit status.
 */
int show_events(bool details);

/*
 * refusals.c: error messages for an errno of opening, starting and controlling counters of the
 * backend, or of the one that the library chooses if backend is NULL.
 */
void complain_of_open(const char *backend, int error);
void complain_of_start(const char *backend, int error);
void complain_of_control(const char *backend, int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info);
/* Is this a name of the driver's backend, which is shown as "module" if the driver is one? */
#define is_driver(backend) (strcmp(backend, DRIVER) == 0 || strcmp(backend, "module") == 0)
/*
 * Is the driver the backend that the library uses by default?  PERFCTR_BACKEND in the environment
 * may name another.
 */
bool driver_is_default(void);
/* The same, and has perf_events or the NMI watchdog its counters? */
bool driver_is_held(void);
/*
 * Returns the name of the driver's backend if none is named and the counters of the driver are
 * others' now, or else the name.  For tools that examine the counters: no other backend is a
 * substitute for them.
 */
const char *named_or_driver(const char *backend);
/* error is the library's message about this specification of an event. */
void complain_of_event(const char *spec, const char *error);
/* Returns what perfex has instead of the event, to be appended to the library's message; or "". */
const char *advice_for_event(const char *spec);
/* Returns what to do about an errno, to be appended to an error message; or "". */
const char *advice_for(int error);

/* error.c: write one line to standard error, "perfex: ..."; fail() then exits with EXIT_PERFEX */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

/* process.c */
/* Returns n + 1 zeroed elements, for free().  Ends perfex if there is no memory. */
void *allocate(size_t n, size_t size);
/*
 * Returns the array of n elements with room for one more, which is zero.  The array must have grown
 * by this function alone, from NULL.  The room doubles when n is a power of two.  Ends perfex if
 * there is no memory.
 */
void *grow(void *array, size_t n, size_t size);

/* A text in memory that is written by a stream.  Ends perfex if there is no memory. */
struct text {
	FILE *file;
	char *text;
	size_t size; /* without the NUL behind it */
};

FILE *text_open(struct text *text);
/* Closes the stream, and returns the text, for free(). */
char *text_close(struct text *text);

/* Asked before perfex handles the signal: was perfex started to ignore it, as by nohup(1)? */
bool signal_is_ignored(int signo);
/* Asked then too: the set of SIGINT, SIGTERM and SIGHUP, without those that are ignored. */
sigset_t ending_signals(void);
uint64_t timespec_ns(struct timespec time);
uint64_t now_ns(void); /* CLOCK_MONOTONIC */
/* Writes all size bytes.  Returns false with errno set on an error. */
bool write_all(int fd, const char *text, size_t size);
/* Flushes standard output, and ends perfex on an error.  main() registers it by atexit(3). */
void flush_output(void);
/*
 * Returns the exit status of the command.  If the command died of a signal, perfex dies of the same
 * signal, or returns 128 + N if signal N does not end perfex.
 */
int exit_as(int wait_status);

#endif
