/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Damaged texts for parsers, reproducible from a seed. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

/* 31 random bits. */
uint32_t mutate_random(uint64_t *seed);

/* A damaged copy, of exactly *length bytes and no NUL behind them, for free(). */
char *mutate(uint64_t *seed, const char *text, size_t *length);

#endif
