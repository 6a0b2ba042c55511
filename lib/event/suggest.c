// SPDX-License-Identifier: LGPL-2.1-or-later
/* Suggests names that a user may have meant by a name that does not exist. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "names.h"

#define N_NEAREST 3
#define LONGEST 64 /* characters of a name that are compared */
#define MOST_TYPOS 3

struct nearest {
	const char *name;
	size_t length, whole; /* up to the first '.' or ':'; up to the first ':' */
	bool typos;	      /* take only names that differ by typing errors */
	struct {
		char name[LONGEST + 1];
		unsigned int distance;
	} best[N_NEAREST];
	unsigned int n;
};

/*
 * Returns the Levenshtein distance from a to b: insertions, deletions and replacements.  Ignores
 * case.
 */
static unsigned int edit_distance(const char *a, size_t a_length, const char *b)
{
	unsigned int row[LONGEST + 1];
	size_t b_length = strnlen(b, LONGEST);

	for (size_t j = 0; j <= b_length; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= a_length; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_length; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				    tolower((unsigned char)b[j - 1]);
			unsigned int cost = diagonal + !same;

			diagonal = row[j];
			if (row[j] + 1 < cost)
				cost = row[j] + 1;
			if (row[j - 1] + 1 < cost)
				cost = row[j - 1] + 1;
			row[j] = cost;
		}
	}
	return row[b_length];
}

/* Returns the largest distance of a name that is near one of this length. */
static unsigned int largest_distance(const struct nearest *nearest, size_t length)
{
	size_t typos = (length + 2) / 4;

	if (!nearest->typos)
		return (unsigned int)(length / 2);
	return (unsigned int)(typos < MOST_TYPOS ? typos : MOST_TYPOS);
}

static int compare_candidates(const struct perfctr_event_entry *entry, void *arg)
{
	struct nearest *nearest = arg;
	/* In the kernel's names the part behind the '.' belongs to the name. */
	size_t length = strchr(entry->name, '.') ? nearest->whole : nearest->length;
	unsigned int d, i;

	if (entry->umask)
		return 0;
	d = edit_distance(nearest->name, length, entry->name);
	if (d > largest_distance(nearest, length))
		return 0;
	for (i = 0; i < nearest->n && nearest->best[i].distance <= d; i++)
		;
	if (i == N_NEAREST)
		return 0;
	if (nearest->n < N_NEAREST)
		nearest->n++;
	memmove(&nearest->best[i + 1], &nearest->best[i],
		(nearest->n - i - 1) * sizeof(nearest->best[0]));
	nearest->best[i].distance = d;
	snprintf(nearest->best[i].name, sizeof(nearest->best[i].name), "%.*s", LONGEST,
		 entry->name);
	return 0;
}

static void begin_search(struct nearest *nearest, const char *name)
{
	*nearest = (struct nearest){
		.name = name,
		.length = strcspn(name, ":."),
		.whole = strcspn(name, ":"),
	};
	if (nearest->length > LONGEST)
		nearest->length = LONGEST;
	if (nearest->whole > LONGEST)
		nearest->whole = LONGEST;
}

static void add_nearest(const struct nearest *nearest, const struct line *line)
{
	for (unsigned int i = 0; i < nearest->n; i++)
		perfctr_line_add(line, "%s%s", i ? ", " : "; near it: ", nearest->best[i].name);
}

void perfctr_name_suggest(struct perfctr_events *events, const char *name, const struct line *line)
{
	struct nearest nearest;

	begin_search(&nearest, name);
	perfctr_events_list(events, NULL, compare_candidates, &nearest);
	add_nearest(&nearest, line);
	perfctr_line_add(line, "; perfctr_events_list() shows all");
}

bool perfctr_name_suggest_typed(const char *name, const struct line *line)
{
	struct perfctr_pmu_info info = *perfctr_family_info("arch");
	struct nearest nearest;

	info.features |= PERFCTR_FEATURE_SOFTWARE;
	begin_search(&nearest, name);
	nearest.typos = true;
	perfctr_events_list_once(&info, NULL, compare_candidates, &nearest);
	if (!nearest.n || !nearest.best[0].distance)
		return false;
	add_nearest(&nearest, line);
	return true;
}
