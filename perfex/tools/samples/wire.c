// SPDX-License-Identifier: GPL-2.0-or-later
#include "wire.h"

enum { NUMBER = 0, BYTES = 2 };

/*
 * Writes seven bits in each byte, the lowest first.  All bytes but the last have the highest bit
 * set.
 */
void wire_bare(FILE *file, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		putc((int)(value & 0x7f) | 0x80, file);
	putc((int)value, file);
}

void wire_number(FILE *file, unsigned int field, uint64_t value)
{
	wire_bare(file, field << 3 | NUMBER);
	wire_bare(file, value);
}

void wire_bytes(FILE *file, unsigned int field, const void *bytes, size_t n)
{
	wire_bare(file, field << 3 | BYTES);
	wire_bare(file, n);
	fwrite(bytes, 1, n, file);
}
