/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes fields of messages as Protocol Buffers encode them, in the order of the calls. */
#ifndef PERFEX_WIRE_H
#define PERFEX_WIRE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

void wire_number(FILE *file, unsigned int field, uint64_t value);
/* bytes: text, a message, or numbers one after the other, written by wire_bare() */
void wire_bytes(FILE *file, unsigned int field, const void *bytes, size_t n);
void wire_bare(FILE *file, uint64_t value);

#endif
