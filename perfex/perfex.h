/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfex: what its subcommands share.
 *
 * main.c	the table of subcommands, and where they begin
 * cmd_NAME.c	each of them that counts, or says what can be counted; the others are in tools/
 * arguments.c	their command lines and their help
 * rows.c	rows of options that several of them have: events, modes, backends
 * error.c	one line to standard error
 * process.c	memory, or the end; texts in memory; time; output; perfex's end
 * refusals.c	counters that perfex does not get
 * words.c	sentences of the library, as perfex says them
 * holders.c	who has the counters
 * json_member.c	members of JSON, or the end
 * by_address.h	arrays in the order of addresses
 */
#ifndef PERFEX_H
#define PERFEX_H

#include <perfctr_events.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

/* As for env(1), nice(1) and timeout(1); 128 + N for a command that died of signal N. */
enum {
	EXIT_PERFEX = 125,
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/*
 * A subcommand has one file, which defines it with its options, and a line in the table of main.c.
 */
struct option_row {
	const char *name;
	char letter;	      /* 0: it has none */
	const char *argument; /* its name in the help; NULL: it takes none */
	bool may_lack;	      /* it takes none where another option follows */
	const char *help;     /* lines separated by \n, the last not ended; NULL: another name */
	enum {
		OPTION_CALL,	/* take() */
		OPTION_FLAG,	/* a bool becomes true */
		OPTION_VALUE,	/* an int or enum becomes value */
		OPTION_CHOICE,	/* likewise; the others of the choice are refused */
		OPTION_NUMBER,	/* an unsigned int becomes the argument, from min to max */
		OPTION_TEXT,	/* a const char * becomes the argument */
		OPTION_REFUSED, /* another tool's: perfex ends, with the answer */
	} kind;
	size_t field; /* where in the target; of OPTION_CALL, the member that take() gets */
	size_t chosen; /* of OPTION_CHOICE: where the name of the one that was given is kept */
	int value;
	unsigned int min, max; /* max UINT_MAX: no limit */
	const char *unit;      /* " of ...", or "" */
	const char *answer;    /* OPTION_REFUSED: what to type instead */
	/* argument: NULL where there is none */
	void (*take)(void *member, const struct option_row *row, const char *argument);
};

#define CALL_AT(field_, name_, letter_, argument_, help_, take_, value_)                           \
	{                                                                                          \
		.name = name_, .letter = letter_, .argument = argument_, .help = help_,            \
		.take = take_, .value = value_, .field = field_                                    \
	}
/* take() gets the target. */
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
	int (*main)(int argc, char **argv); /* argv[0]: its name; returns the exit status */
	const char *help;		    /* usage and purpose, before the options */
	const struct option_row *options;  /* without --help; ended by an empty one; NULL: none */
	const char *notes;		    /* behind the options; NULL: none */
	bool takes_command;		    /* options end where the first argument begins */
	bool is_default;		    /* its help lists the others */
};

extern const struct subcommand run_subcommand;
extern const struct subcommand info_subcommand;
extern const struct subcommand list_subcommand;
extern const struct subcommand check_subcommand;
extern const struct subcommand encode_subcommand;
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
extern const struct subcommand report_subcommand;
extern const struct subcommand report_machine_subcommand;
extern const struct subcommand validate_subcommand;
extern const struct subcommand revoke_subcommand;

/* main() says how; in a test there is none. */
extern void (*print_subcommands)(void);
/* NULL: perfex was told which; what follows is none. */
extern bool (*is_subcommand)(const char *name);

/* arguments.c: PERFCTR_MODE_* in words */
const char *mode_name(unsigned int modes);

/*
 * arguments.c: bad options are refused, --help is answered; returns the index of the first argument
 */
int take_options(const struct subcommand *subcommand, void *target, int argc, char **argv);
bool parse_number(const char *text, unsigned int *number);
/* Of events between two samples: from 1 to 2^63 - 1, which the driver takes. */
bool parse_period(const char *text, uint64_t *period);
/* Of --confidence, a double: in per cent; what is none ends perfex. */
void take_confidence(void *member, const struct option_row *row, const char *text);
pid_t parse_pid(const char *text);
/* Of several options that exclude each other one is taken, as often as it comes. */
void exclude_others(const char **chosen, const struct option_row *row);

/* Words of the command line, for free_words(). */
struct word_list {
	const char **word;
	size_t n;
};

/* Appends a word of malloc(), which free_words() frees. */
void append_word(struct word_list *list, const char *word);
/* Appends copies of the events of "a,{b,c}:u"; what is no list of events ends perfex. */
void append_events(struct word_list *list, const char *text);
void free_words(struct word_list *list);

/* characters.c */
/* Bytes of the character that text begins with; 0: no UTF-8 (RFC 3629, section 4), or its end. */
size_t character_length(const char *text);
/* Bytes of the control character in UTF-8 that text begins with; 0: it begins with another. */
size_t control_length(const char *text);
/* In a line for people a control character could be anything: '?' for each of its bytes. */
void make_printable(char *text);

/*
 * words.c: in a sentence of the library, commands of perfex instead of functions, in their places.
 * What is written to standard error by complain() and fail() needs no more.
 */
void name_commands(char *text);

/* Of the patch's driver. */
#define DEVICE "/dev/perfctr"

/* Does the operating system count it, on no counter? */
static inline bool is_software(const struct perfctr_request *request)
{
	return request->counter >= PERFCTR_SOFTWARE &&
	       request->counter < PERFCTR_SOFTWARE + PERFCTR_N_SOFTWARE;
}

/* cmd_info.c; backend NULL: the one that the library chooses */
int show_info(const char *backend);

/* holders.c: who has the counters, a line each */
void print_holders(void);
/* Likewise, to be said behind what is refused, with what to do; "" unless wanted.  For free(). */
char *name_holders(bool wanted);

/* cmd_list.c: all events; details: with codes, counters and unit masks */
int show_events(bool details);

/* refusals.c: counters that perfex does not get, of this backend; NULL: of the library's choice */
void complain_of_open(const char *backend, int error);
void complain_of_start(const char *backend, int error);
void complain_of_control(const char *backend, int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info);
/* error: what the library said of this specification */
void complain_of_event(const char *spec, const char *error);
/* Behind what the library says of it: what perfex has instead; "": nothing is known. */
const char *advice_for_event(const char *spec);
/* What to do about it, behind what has been said; "": nothing is known. */
const char *advice_for(int error);

/* error.c: one line to standard error, "perfex: ..." */
__attribute__((format(printf, 1, 2))) void complain(const char *format, ...);
__attribute__((format(printf, 1, 2), noreturn)) void fail(const char *format, ...);

/* process.c */
/* n zeroed elements and one more, for free(); perfex ends where there is no memory. */
void *allocate(size_t n, size_t size);
/* The array of n with room for one more, which is zero: its size doubles. */
void *grow(void *array, size_t n, size_t size);

/* A text that is written to a stream; perfex ends where there is no memory. */
struct text {
	FILE *file;
	char *text;
	size_t size; /* without the NUL behind it */
};

FILE *text_open(struct text *text);
/* The text, for free(). */
char *text_close(struct text *text);

uint64_t now_ns(void); /* of CLOCK_MONOTONIC */
/* False with errno set. */
bool write_all(int fd, const char *text, size_t size);
/* Standard output; ends perfex where it does not take what was written, at the end in any case. */
void flush_output(void);
/* The exit status of the command; perfex dies of the signal that the command has died of. */
int exit_as(int wait_status);

#endif
