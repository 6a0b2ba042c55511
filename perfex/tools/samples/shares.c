// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

#include <math.h>

#define Z 1.959963984540054 /* of the normal distribution, for 95 % on both sides */

/* Newcombe's method 4: Wilson's interval with a correction for continuity. */
struct share share_of(uint64_t part, uint64_t all)
{
	struct share share = { NAN, 0, 1 };
	double n = (double)all, p, middle, width;

	if (!all)
		return share;
	p = share.value = (double)part / n;
	middle = 2 * n * p + Z * Z;
	width = 2 * (n + Z * Z);
	if (part)
		share.low = (middle - 1 - Z * sqrt(Z * Z - 2 - 1 / n + 4 * p * (n * (1 - p) + 1))) /
			    width;
	if (part < all)
		share.high =
			(middle + 1 + Z * sqrt(Z * Z + 2 - 1 / n + 4 * p * (n * (1 - p) - 1))) /
			width;
	share.low = fmax(0, share.low);
	share.high = fmin(1, share.high);
	return share;
}
