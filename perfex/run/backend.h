/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_BACKEND_H
#define PERFEX_BACKEND_H

#include "run.h"

void take_backend(void *target, const struct option_rule *rule, const char *name);

#define BACKEND_OPTION                                                                             \
	CALL_OPTION("backend", 0, "NAME",                                                          \
		    "count by NAME: patch, bpf or perf_events, see perfex info", take_backend, 0)

/* That is used now; "" when it is none. */
void backend_name(char *name, size_t size);

/*
 * What is counted when no event is asked for; and by what, when there are some and it is not named:
 * it must have these capabilities.
 */
void add_default_events(struct options *options, uint32_t capabilities);

/* In a child that is not perfex: COMMAND may ask for other events. */
void forget_chosen_backend(void);

/* All, one a line. */
void print_backends(void);
void print_holders(void); /* cmd_revoke.c */

#endif
