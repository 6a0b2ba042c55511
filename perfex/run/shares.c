// SPDX-License-Identifier: GPL-2.0-or-later
#include "shares.h"

const struct share text_shares[N_SHARES] = {
	{ "instructions", "cycles", 1, 2, "%.*f per cycle" },
	{ "branch-misses", "branches", 100, 1, "%.*f %% of branches" },
	{ "cache-misses", "cache-references", 100, 1, "%.*f %% of cache refs" },
};
