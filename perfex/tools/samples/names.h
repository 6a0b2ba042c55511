/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Demangles names of functions of C++, Rust and D. */
#ifndef PERFEX_NAMES_H
#define PERFEX_NAMES_H

/*
 * Returns the name as in the source, with the types of the parameters, for free().  Returns NULL if
 * the name is not mangled.
 */
char *name_in_source(const char *name);

#endif
