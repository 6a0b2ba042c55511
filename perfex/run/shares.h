/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that the text shows relative to another one. */
#ifndef PERFEX_SHARES_H
#define PERFEX_SHARES_H

enum { N_SHARES = 3 };

/* Both events are of the same pass and modes. */
extern const struct share {
	const char *name, *by;
	double factor;
	int decimals;
	const char *format;
} text_shares[N_SHARES];

#endif
