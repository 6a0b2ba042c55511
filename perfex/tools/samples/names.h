/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions that a compiler has made of those in the source: of C++, Rust and D. */
#ifndef PERFEX_NAMES_H
#define PERFEX_NAMES_H

/* As the source has it, with the types of its parameters; for free().  NULL: it is so already. */
char *name_in_source(const char *name);

#endif
