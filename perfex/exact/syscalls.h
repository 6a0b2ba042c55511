/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine's table of system calls: see ../run/syscalls.h. */
#ifndef PERFEX_EXACT_SYSCALLS_H
#define PERFEX_EXACT_SYSCALLS_H

#include "exact.h"

void syscalls_add_names(struct archive *archive, const struct machine *machine);
/* Can a count have this name? */
bool syscalls_has_name(const struct machine *machine, const char *name);

#endif
