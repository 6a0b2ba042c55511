/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all commands that count are asked. */
#ifndef PERFEX_OPTIONS_H
#define PERFEX_OPTIONS_H

#include <perfctr_events.h>
#include <sys/types.h>
#include "../perfex.h"

enum { NO_LOG_FD = -1u };
enum view { TREE, SELF, PER_PROCESS, PER_THREAD, MARKED };

struct format;

/* What numbers without 0x are: refused; hexadecimal, with a word of it; decimal; hexadecimal. */
enum numbers { NUMBERS_MARKED, NUMBERS_2_6, NUMBERS_DECIMAL, NUMBERS_HEX };

struct options {
	enum { RUN, INFO, LIST, LONG_LIST, VERSION } action;
	const char **event; /* specifications */
	size_t n_events;
	unsigned int modes; /* PERFCTR_MODE_*, of events that name none */
	const char *backend;  /* that counts; NULL: nobody named one, and no events are open yet */
	bool backend_chosen;  /* by the library, for these events: COMMAND may have others */
	enum numbers numbers; /* of what comes now */
	const struct option_row *wants_number; /* said what they are, and none has come; or NULL */
	bool has_pebs_enable, has_pebs_matrix_vert;
	uint64_t pebs_enable, pebs_matrix_vert;
	enum view view;
	/* Of options that exclude each other, the one that was given; NULL: none */
	const char *view_name, *modes_name, *format_name;
	pid_t process; /* to attach to; 0: none */
	unsigned int runs;
	unsigned int warmup; /* runs before them */
	unsigned int passes; /* the most of a run; 0: as many as needed */
	double confidence;   /* per cent */
	unsigned int interval_ms, delay_ms, timeout_ms; /* 0: none */
	const char **group;				/* -g */
	size_t n_groups;
	struct rules *rules;				/* of derived values; NULL: none */
	struct perfctr_events *database;		/* of what counts; NULL: not open yet */
	char *regions;					/* file; NULL: not wanted */
	char *output;					/* NULL: log_fd */
	unsigned int log_fd;				/* NO_LOG_FD: none was given */
	bool append, no_shell, wait;
	const struct format *format;
	char **command; /* argv of the command, NULL-terminated; empty: none */
};

/* What other subcommands have too; their target begins with a struct options. */
void take_event(void *target, const struct option_row *row, const char *list);
void take_rule(void *target, const struct option_row *row, const char *text);
void take_rules(void *target, const struct option_row *row, const char *path);
void take_groups(void *target, const struct option_row *row, const char *list);
void take_modes(void *target, const struct option_row *row, const char *unused);
void take_output(void *target, const struct option_row *row, const char *path);
void take_format(void *target, const struct option_row *row, const char *unused);
void take_backend(void *target, const struct option_row *row, const char *name);
/* text NULL: it is perfctr 2.6's -x, which says what numbers are. */
void take_separator(void *target, const struct option_row *row, const char *text);
void take_named_format(void *target, const struct option_row *row, const char *name);
void check_output(const struct options *options);

/* numbers.c */
void take_numbers(void *target, const struct option_row *row, const char *unused);
/* False: it is none. */
bool old_number(enum numbers numbers, const char *text, uint64_t *value);
/* As perfctr_event_parse() takes it, for free(); NULL: it does not consist of numbers. */
char *old_event(enum numbers numbers, const char *spec);

/* member: a const char * */
#define BACKEND_OPTION(type, member)                                                               \
	{                                                                                          \
		.name = "backend", .argument = "NAME",                                             \
		.help = "count by NAME: patch, bpf or perf_events, see perfex info",               \
		.take = take_backend, .field = offsetof(type, member)                              \
	}

/*
 * Opens the database of events, of what counts these if nobody named it, which becomes the backend:
 * it must have these capabilities.  False: it cannot be used, which has been said.
 */
bool open_events(struct options *options, uint32_t capabilities);
/* What a session counts when no event is asked for. */
void add_default_events(struct options *options);
void free_options(struct options *options);

#endif
