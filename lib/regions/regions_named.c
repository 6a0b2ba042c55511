// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Regions by their names.  Environment variables say which events are counted, and where the
 * results go.  Without PERFCTR_REGIONS, regions do nothing.
 */
#define _GNU_SOURCE
#include "../count.h"
#include "../rank.h"
#include "regions.h"

#include <errno.h>
#include <perfctr_count.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_NAMES = 256, N_SLOTS = 1024 };

static struct {
	pthread_once_t once;
	pthread_key_t key; /* its destructor ends a thread's part */
	struct counted counted;
	struct perfctr_regions *regions; /* NULL: nothing is counted; they are never closed */
} named = { .once = PTHREAD_ONCE_INIT };

/* A thread's part: its context, and a hash table of the regions that it has entered. */
struct part {
	struct perfctr *context;
	struct perfctr_region_thread *thread;
	const bool *alive; /* wiped in a forked child */
	bool is_calibrated; /* the cost of begin and end is measured, or being measured */
	/* The regions of the next calls, while the cost is measured; NULL: names find them. */
	struct perfctr_region *const *calibrated;
	/*
	 * No region counts them: the counts of begin and end between their first and last reads,
	 * until now, and those of one begin and of one end outside of these reads.
	 */
	struct perfctr_snapshot spent, begin_residue, end_residue;
	struct slot {
		const char *name; /* the library's copy; NULL: the slot is free */
		struct perfctr_region *region;
	} slot[N_SLOTS];
};

/*
 * The part of a thread that has none, for lack of a context or of memory, and does not try again.
 */
static struct part nothing;
static __thread struct part *mine __attribute__((tls_model("initial-exec")));

/* "%p" becomes the number of the process, "%r" its rank, if it has one. */
static char *expand_path(const char *path)
{
	const char *rank = perfctr_rank();
	char *expanded = NULL;
	size_t size;
	FILE *file = open_memstream(&expanded, &size);

	if (!file)
		return NULL;
	for (; *path; path++) {
		if (strncmp(path, "%p", 2) == 0)
			fprintf(file, "%d", getpid());
		else if (strncmp(path, "%r", 2) == 0 && rank)
			fputs(rank, file);
		else {
			fputc(*path, file);
			continue;
		}
		path++;
	}
	if (fclose(file) == 0)
		return expanded;
	free(expanded);
	return NULL;
}

/* The counts of a thread that has ended stay. */
static void end_part(void *value)
{
	struct part *part = value;

	mine = &nothing;
	part->thread->context = NULL;
	perfctr_close(part->context);
	free(part);
}

/*
 * Opens the regions and their file, even if nothing can be counted: the file then says why, as
 * there is no other place to do so.
 */
static struct perfctr_regions *open_regions(const char *path)
{
	struct perfctr_regions *regions;

	regions = perfctr_regions_open_empty(&named.counted.control, named.counted.request,
					     MOST_NAMES);
	if (regions && perfctr_regions_save_at_exit(regions, path, PERFCTR_REGIONS_JSON,
						    PERFCTR_REGIONS_CORRECTED) < 0) {
		perfctr_regions_close(regions);
		return NULL;
	}
	return regions;
}

static void open_named(void)
{
	const char *name = secure_getenv("PERFCTR_REGIONS");
	const char *events = secure_getenv("PERFCTR_REGIONS_EVENTS");
	char why[PERFCTR_COUNT_ERROR], *path;
	const struct line line = { why, sizeof(why) };
	struct perfctr_regions *regions;
	bool valid;

	if (!name || !*name || pthread_key_create(&named.key, end_part))
		return;
	path = expand_path(name);
	if (!path)
		return;
	if (!events || !*events)
		events = "instructions,cycles";
	valid = perfctr_counted_parse(&named.counted, events, &line) == 0;
	if (!valid)
		named.counted = (struct counted){ 0 };
	regions = open_regions(path);
	free(path);
	if (regions && !valid)
		perfctr_regions_refuse(regions, why);
	else
		named.regions = regions;
}

/* A backend that cannot tell the events of a context tells their number. */
static bool counts_our_events(const struct perfctr *p)
{
	const struct perfctr_control *ours = &named.counted.control;
	struct perfctr_control theirs = { .size = sizeof(theirs) };
	struct perfctr_counts counts;

	if (perfctr_read(p, &counts) < 0 || counts.n_counters != ours->n_events)
		return false;
	if (perfctr_get_control(p, &theirs) < 0)
		return errno == ENOTSUP;
	for (uint32_t i = 0; i < ours->n_events; i++)
		if (theirs.event[i].counter != ours->event[i].counter ||
		    theirs.event[i].evntsel != ours->event[i].evntsel ||
		    theirs.event[i].evntsel2 != ours->event[i].evntsel2)
			return false;
	return true;
}

/*
 * Another program counts the thread.  Reads the counts from that program's context, if this counts
 * our events.
 */
static struct perfctr *open_member(const struct line *line)
{
	struct perfctr *p = perfctr_open_with(named.counted.backend, 0, 0);

	if (p && counts_our_events(p))
		return p;
	perfctr_close(p);
	perfctr_line_refuse(line, EEXIST,
			    "the thread is being counted already, by other events; let the program "
			    "that counts it count these, or run without that");
	return NULL;
}

static struct perfctr *open_context(const struct line *line)
{
	struct counted counted = named.counted;
	struct perfctr *p = perfctr_counted_open(&counted, 0, line);

	return p || errno != EEXIST ? p : open_member(line);
}

static bool fill_part(struct part *part)
{
	char why[PERFCTR_COUNT_ERROR];
	const struct line line = { why, sizeof(why) };
	int error;

	part->context = open_context(&line);
	if (part->context) {
		part->thread = perfctr_regions_thread_of(named.regions, part->context);
		error = part->thread ? pthread_setspecific(named.key, part) : errno;
		if (!error)
			return true;
		perfctr_close(part->context);
		perfctr_line_refuse(&line, error, "%s", strerror(error));
	}
	perfctr_regions_refuse(named.regions, why);
	return false;
}

static struct part *make_part(void)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part) {
		perfctr_regions_refuse(named.regions, "out of memory");
		return &nothing;
	}
	if (!fill_part(part)) {
		free(part);
		return &nothing;
	}
	part->alive = named.regions->alive;
	return part;
}

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash;
}

/*
 * Finds the region of this name, or adds it.  The search ends because there are four times as many
 * slots as names.
 */
static struct perfctr_region *find_named(struct part *part, const char *name)
{
	uint32_t place = hash_name(name) % N_SLOTS;
	int number;

	for (; part->slot[place].name; place = (place + 1) % N_SLOTS)
		if (strcmp(part->slot[place].name, name) == 0)
			return part->slot[place].region;
	number = perfctr_regions_add(named.regions, name);
	if (number < 0)
		return NULL;
	part->slot[place].name = named.regions->name[number];
	part->slot[place].region = perfctr_regions_prepare(part->thread, (unsigned int)number);
	return part->slot[place].region;
}

/* Returns the region of this call of begin or end.  NULL: no region can be added. */
static struct perfctr_region *next_region(struct part *part, const char *name)
{
	return part->calibrated ? *part->calibrated++ : find_named(part, name);
}

/*
 * Reads the counts as perfctr_read_snapshot() does, or by a system call.  False: they cannot be
 * read.
 */
static bool read_counts(const struct part *part, struct region_reading *now)
{
	const struct perfctr_page *page = part->thread->page;
	const unsigned int n = part->thread->n_events;

	if (!page)
		return perfctr_region_read(part->thread, now);
	for (now->in_vain = 0;; now->in_vain++) {
		now->running = perfctr_try_snapshot(page, n, &now->counts);
		if (now->running || perfctr_read_stopped(page, n, &now->counts))
			return true;
	}
}

/* Returns the reading less the counts that begin and end have spent until then. */
static struct region_reading without_spent(const struct part *part,
					   const struct region_reading *now)
{
	struct region_reading rest = { .in_vain = now->in_vain, .running = now->running };

	rest.counts.tsc = now->counts.tsc - part->spent.tsc;
	for (unsigned int i = 0; i < part->thread->n_events; i++)
		rest.counts.counter[i] = now->counts.counter[i] - part->spent.counter[i];
	return rest;
}

static void add_spent(struct part *part, const struct perfctr_snapshot *counts)
{
	part->spent.tsc += counts->tsc;
	for (unsigned int i = 0; i < part->thread->n_events; i++)
		part->spent.counter[i] += counts->counter[i];
}

/* Adds the counts since *begin to those that are spent. */
static void add_spent_since(struct part *part, const struct region_reading *begin)
{
	struct region_reading now;

	if (!read_counts(part, &now))
		return;
	now.counts.tsc -= begin->counts.tsc;
	for (unsigned int i = 0; i < part->thread->n_events; i++)
		now.counts.counter[i] -= begin->counts.counter[i];
	add_spent(part, &now.counts);
}

static void calibrate_part(struct part *part);

/*
 * The region is found between two reads, so that no region counts the search.  The caller sees the
 * same instructions before the first read and behind the last one, whatever the name.  While the
 * counters stand still, no region around has these instructions in its counts, and nothing is
 * subtracted for them.
 */
static void begin_region(struct part *part, const char *name)
{
	struct region_reading now, rest;
	struct perfctr_region *region;

	if (!read_counts(part, &now))
		return;
	if (now.running && !part->is_calibrated)
		calibrate_part(part);
	region = next_region(part, name);
	if (now.running)
		add_spent(part, &part->begin_residue);
	rest = without_spent(part, &now);
	if (region)
		perfctr_region_begin_at(region, &rest);
	add_spent_since(part, &now);
}

static void end_region(struct part *part, const char *name)
{
	struct region_reading now, rest;
	struct perfctr_region *region;

	if (!read_counts(part, &now))
		return;
	region = next_region(part, name);
	rest = without_spent(part, &now);
	if (region)
		perfctr_region_end_at(region, &rest);
	if (now.running)
		add_spent(part, &part->end_residue);
	add_spent_since(part, &now);
}

/*
 * Passes as a program makes them: an empty one, one around it, and one around an end that ends
 * nothing.
 */
static void pass_empty(void)
{
	perfctr_region_begin("");
	perfctr_region_end("");
}

static void pass_around_pass(void)
{
	perfctr_region_begin("");
	perfctr_region_begin("");
	perfctr_region_end("");
	perfctr_region_end("");
}

static void pass_around_end(void)
{
	perfctr_region_begin("");
	perfctr_region_end("");
	perfctr_region_end("");
}

/*
 * Do nearly all passes have the count of the shortest one?  The longest does not matter: the thread
 * may have been switched during it.
 */
static bool is_steady(const struct perfctr_region *region, int i)
{
	const struct perfctr_region_sum *sum = region_sum(region, i);

	return sum->total - region->passes * sum->min - sum->span <= region->passes / 4;
}

/*
 * Returns by how much passes through one region count more than passes through another one.
 * Returns 0 if they are not steady, as times are: the differences would add up in a region around
 * many passes.
 */
static uint64_t find_residue(const struct perfctr_region *more, const struct perfctr_region *less,
			     int i)
{
	uint64_t least = region_sum(less, i)->min, most = region_sum(more, i)->min;

	return is_steady(more, i) && is_steady(less, i) && most > least ? most - least : 0;
}

static void pass_empty_regions(struct part *part, struct perfctr_region *first)
{
	struct perfctr_region *empty = &first[PERFCTR_REGION_FIRST];
	struct perfctr_region *around_pass = &first[AROUND_PASS], *around_end = &first[AROUND_END];

	for (unsigned int i = 0; i < PERFCTR_REGION_FIRST + PERFCTR_REGION_REPETITIONS; i++) {
		struct perfctr_region *region = perfctr_region_empty(first, i);

		part->calibrated = (struct perfctr_region *const[]){ region, region };
		pass_empty();
	}
	for (unsigned int i = 0; i < PERFCTR_REGION_REPETITIONS; i++) {
		part->calibrated = (struct perfctr_region *const[]){ around_pass, empty, empty,
								     around_pass };
		pass_around_pass();
		part->calibrated =
			(struct perfctr_region *const[]){ around_end, empty, around_end };
		pass_around_end();
	}
	part->calibrated = NULL;
}

static void find_residues(struct part *part, const struct perfctr_region *first)
{
	const struct perfctr_region *empty = &first[PERFCTR_REGION_FIRST];
	const struct perfctr_region *around_pass = &first[AROUND_PASS];
	const struct perfctr_region *around_end = &first[AROUND_END];

	part->end_residue.tsc = find_residue(around_end, empty, -1);
	part->begin_residue.tsc = find_residue(around_pass, around_end, -1);
	for (int i = 0; i < (int)part->thread->n_events; i++) {
		part->end_residue.counter[i] = find_residue(around_end, empty, i);
		part->begin_residue.counter[i] = find_residue(around_pass, around_end, i);
	}
}

/*
 * Measures an empty pass, and the residues: what begin and end add to a pass around them.  If the
 * counters stop meanwhile, forgets all of it, and the next begin measures again.  Leaves it to the
 * caller to add to part->spent what this costs.
 */
static void calibrate_part(struct part *part)
{
	struct perfctr_region *first = part->thread->region + part->thread->n_regions;
	const struct perfctr_snapshot spent = part->spent;
	struct region_reading now;

	part->is_calibrated = true; /* the passes here begin, too */
	pass_empty_regions(part, first);
	part->spent = spent;
	part->is_calibrated = read_counts(part, &now) && now.running;
	if (part->is_calibrated)
		find_residues(part, first);
	else
		perfctr_region_empty(first, 0);
}

static struct part *find_part(void)
{
	int error = errno;

	if (!mine) {
		pthread_once(&named.once, open_named);
		mine = &nothing;
		if (named.regions && !perfctr_regions_foreign(named.regions))
			mine = make_part();
		errno = error;
	}
	return mine->thread && *mine->alive ? mine : NULL;
}

/* The passes that calibrate must execute what those of a program execute: nothing is inlined. */
#if __has_attribute(noipa)
#define NOT_INLINED __attribute__((noipa))
#else
#define NOT_INLINED __attribute__((noinline))
#endif

NOT_INLINED void perfctr_region_begin(const char *name)
{
	struct part *part = find_part();

	if (part)
		begin_region(part, name);
}

NOT_INLINED void perfctr_region_end(const char *name)
{
	struct part *part = find_part();

	if (part)
		end_region(part, name);
}
