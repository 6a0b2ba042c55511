// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of events that contain '-', which is no minus in them. */
#include "rules_internal.h"

#include <ctype.h>
#include <string.h>

static const char *const dashed_names[] = {
	"branch-instructions",
	"branch-load-misses",
	"branch-loads",
	"branch-misses",
	"bus-cycles",
	"cache-misses",
	"cache-references",
	"context-switches",
	"cpu-clock",
	"cpu-cycles",
	"cpu-migrations",
	"dTLB-load-misses",
	"dTLB-loads",
	"dTLB-store-misses",
	"dTLB-stores",
	"iTLB-load-misses",
	"iTLB-loads",
	"L1-dcache-load-misses",
	"L1-dcache-loads",
	"L1-dcache-prefetch-misses",
	"L1-dcache-prefetches",
	"L1-dcache-store-misses",
	"L1-dcache-stores",
	"L1-icache-load-misses",
	"L1-icache-loads",
	"L1-icache-prefetches",
	"LLC-load-misses",
	"LLC-loads",
	"LLC-store-misses",
	"LLC-stores",
	"major-faults",
	"minor-faults",
	"page-faults",
	"ref-cycles",
	"stalled-cycles-backend",
	"stalled-cycles-frontend",
	"task-clock",
};

size_t rules_dashed_name(const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(dashed_names) / sizeof(dashed_names[0]); i++) {
		size_t n = strlen(dashed_names[i]);

		if (n <= length && memcmp(text, dashed_names[i], n) == 0 &&
		    (n == length || (!isalnum((unsigned char)text[n]) && text[n] != '_')))
			return n;
	}
	return 0;
}
