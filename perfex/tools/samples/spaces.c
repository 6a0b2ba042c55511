// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes the changes and the samples in the order of their time.  A mapping stays until the process
 * executes another program, or maps something else over it: the recording has no records of
 * unmapping.
 */
#define _GNU_SOURCE
#include "samples.h"
#include "../../by_address.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/*
 * The most mappings of one process, which is the kernel's default for vm.max_map_count, and of all
 * processes.  The second limit is for files that perfex record did not write.
 */
#define MAX_MAPPINGS 65536
#define MAX_ALL_MAPPINGS (1u << 22)

struct space {
	struct samples *samples;
	void *by_pid; /* tsearch(3) of struct current */
	size_t n_mappings;
	struct text_error *error;
	bool good;
};

struct current {
	int pid;
	struct life *life;
};

static int compare_pids(const void *a, const void *b)
{
	const struct current *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

static struct life *find_life(const struct space *space, int pid)
{
	const struct current key = { .pid = pid };
	struct current *const *found = tfind(&key, &space->by_pid, compare_pids);

	return found ? (*found)->life : NULL;
}

static struct life *new_life(struct space *space, int pid, char *name)
{
	struct samples *samples = space->samples;
	struct life *life = allocate(1, sizeof(*life));

	life->pid = pid;
	life->first = !find_life(space, pid);
	life->name = name;
	samples->life = grow(samples->life, samples->n_lives, sizeof(*samples->life));
	return samples->life[samples->n_lives++] = life;
}

static void set_life(struct space *space, struct life *life)
{
	struct current *current = allocate(1, sizeof(*current)), **found;

	*current = (struct current){ life->pid, life };
	found = tsearch(current, &space->by_pid, compare_pids);
	if (!found)
		fail("out of memory");
	if (*found == current)
		return;
	(*found)->life = life;
	free(current);
}

/*
 * Returns the current life of a process.  If no record told of the process, begins a life without a
 * name.
 */
static struct life *get_life(struct space *space, int pid)
{
	struct life *life = find_life(space, pid);

	if (!life) {
		life = new_life(space, pid, NULL);
		set_life(space, life);
	}
	return life;
}

static void count_mappings(struct space *space, size_t n, const struct change *change)
{
	space->n_mappings += n;
	if (space->n_mappings > MAX_ALL_MAPPINGS && space->good)
		space->good = refuse_text(space->error, (unsigned int)change->line,
					  "more is mapped than can be; give a file that perfex "
					  "record wrote");
}

static void take_fork(struct space *space, const struct change *change)
{
	const struct life *parent = get_life(space, change->parent);
	struct life *child;

	count_mappings(space, parent->n, change);
	if (!space->good)
		return;
	child = new_life(space, change->pid, parent->name);
	child->mapping = allocate(parent->n, sizeof(*child->mapping));
	if (parent->n)
		memcpy(child->mapping, parent->mapping, parent->n * sizeof(*child->mapping));
	child->n = parent->n;
	set_life(space, child);
}

/* Returns the index of the first mapping that ends after the address. */
static size_t find_mapping(const struct life *life, uint64_t address)
{
	return COUNT_UP_TO(life->mapping, life->n, end, address);
}

/*
 * Replaces all that the new mapping covers.  At most one mapping is divided into two, if the new
 * one is within it.
 */
static void take_map(struct space *space, const struct change *change)
{
	const struct mapping *new = &change->mapping;
	struct life *life = get_life(space, change->pid);
	size_t first = find_mapping(life, new->start), last, n = 0;
	struct mapping part[3];

	count_mappings(space, 1, change);
	if (life->n >= MAX_MAPPINGS && space->good)
		space->good =
			refuse_text(space->error, (unsigned int)change->line,
				    "a process maps more than can be; give a file that perfex "
				    "record wrote");
	if (!space->good)
		return;
	for (last = first; last < life->n && life->mapping[last].start < new->end; last++)
		;
	if (last > first && life->mapping[first].start < new->start) {
		part[n] = life->mapping[first];
		part[n++].end = new->start;
	}
	part[n++] = *new;
	if (last > first && life->mapping[last - 1].end > new->end) {
		part[n] = life->mapping[last - 1];
		part[n].offset += new->end - part[n].start;
		part[n++].start = new->end;
	}
	life->mapping = reallocarray(life->mapping, life->n + 3, sizeof(*life->mapping));
	if (!life->mapping)
		fail("out of memory");
	memmove(life->mapping + first + n, life->mapping + last,
		(life->n - last) * sizeof(*life->mapping));
	memcpy(life->mapping + first, part, n * sizeof(*part));
	life->n += n - (last - first);
}

static void take_change(struct space *space, const struct change *change)
{
	switch (change->kind) {
	case NAME:
		get_life(space, change->pid)->name = change->name;
		break;
	case EXEC:
		set_life(space, new_life(space, change->pid, change->name));
		break;
	case FORK:
		take_fork(space, change);
		break;
	case MAP:
		take_map(space, change);
		break;
	}
}

struct spot life_spot(const struct life *life, uint64_t address)
{
	size_t i = find_mapping(life, address);
	const struct mapping *mapping = &life->mapping[i];

	if (i == life->n || mapping->start > address)
		return (struct spot){ NO_OBJECT, address };
	return (struct spot){ mapping->object, address - mapping->start + mapping->offset };
}

/* Compares by time.  Changes at one time stay in the order of the file. */
static int compare_changes(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int compare_samples(const void *a, const void *b)
{
	const struct sample_read *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->numbers > y->numbers) - (x->numbers < y->numbers);
}

/* Addresses of the kernel are in no mapping. */
static void place_again(struct sample_read *sample)
{
	if (sample->flags & PERFCTR_SAMPLE_KERNEL)
		sample->spot = (struct spot){ NO_OBJECT, sample->ip };
	else
		sample->spot = life_spot(sample->life, sample->ip);
}

static void place_sample(struct space *space, struct sample_read *sample)
{
	sample->life = get_life(space, sample->pid);
	place_again(sample);
}

bool samples_place(struct samples *samples, struct text_error *error)
{
	struct space space = { .samples = samples, .error = error, .good = true };
	size_t next = 0;

	if (samples->n_changes)
		qsort(samples->change, samples->n_changes, sizeof(*samples->change),
		      compare_changes);
	if (samples->n)
		qsort(samples->sample, samples->n, sizeof(*samples->sample), compare_samples);
	for (size_t i = 0; i < samples->n && space.good; i++) {
		while (next < samples->n_changes && space.good &&
		       samples->change[next].time <= samples->sample[i].time)
			take_change(&space, &samples->change[next++]);
		if (space.good)
			place_sample(&space, &samples->sample[i]);
	}
	while (next < samples->n_changes && space.good)
		take_change(&space, &samples->change[next++]);
	/*
	 * The time of a change is exact to about a microsecond, so a sample may seem to come before
	 * its mapping.
	 */
	for (size_t i = 0; i < samples->n && space.good; i++)
		if (samples->sample[i].spot.object == NO_OBJECT)
			place_again(&samples->sample[i]);
	tdestroy(space.by_pid, free);
	return space.good;
}
