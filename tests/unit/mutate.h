/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged texts for parsers, reproducible from a seed. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* Returns 31 random bits. */
uint32_t mutate_random(uint64_t *seed);

/* Returns a damaged copy of exactly *length bytes, without a NUL after them.  The caller frees it. */
char *mutate(uint64_t *seed, const char *text, size_t *length);

#endif
