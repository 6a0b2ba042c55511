// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random programs: processes and threads that make others, wait for them or do not, and end in many
 * ways.
 */
#include "program.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>
#include <linux/perfctr.h>

#define MAX_DEPTH 4
#define MAX_LIST 32    /* steps of a thread between two execs */
#define MAX_CHILDREN 5 /* of a thread between two execs */
#define THREADS 40     /* that one program makes, about */

/* splitmix64 */
static uint64_t next_random(struct generator *g)
{
	uint64_t z = g->seed += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

uint32_t random_below(struct generator *g, uint32_t n)
{
	return (next_random(g) >> 32) % n;
}

/* A thread whose steps are being chosen. */
struct list {
	struct step step[MAX_LIST];
	uint32_t n;
	int depth;	   /* levels of children that it may have below it */
	int mark;	   /* that it bears now, or NO_MARK */
	bool alone;	   /* no other thread is in its process: it may execute a program, or be killed */
	bool borrows;	   /* a vfork()ed child: its parent waits for its exec or exit */
	uint32_t children; /* processes that it has not waited for */
	uint32_t made;
};

static uint32_t make_thread(struct generator *g, struct list list);

static void append(struct list *list, uint32_t op, uint32_t argument, uint64_t address)
{
	ck_assert_uint_lt(list->n, MAX_LIST);
	list->step[list->n++] = (struct step){ op, argument, address };
}

static uint64_t address_of(size_t offset)
{
	return IMAGE_ADDRESS + offset;
}

void name_step(uint32_t first, char text[8])
{
	text[0] = (char)(0x40 | (first & 63));
	text[1] = (char)(0x40 | (first >> 6 & 63));
	text[2] = '\0';
}

/* Most loops are short. A few take some time slices. */
static void append_loop(struct generator *g, struct list *list)
{
	static const uint32_t most[] = { 10, 1000, 1000, 30000, 30000, 30000, 300000, 3000000 };

	append(list, STEP_LOOP, 1 + random_below(g, most[random_below(g, 8)]), 0);
}

static void append_mark(struct generator *g, struct list *list)
{
	bool enter = list->mark == NO_MARK;
	int mark_number = enter ? (int)random_below(g, N_MARKS) : list->mark;

	append(list, STEP_IOCTL, MARK_FD + mark_number,
	       enter ? PERFCTR_IOC_ENTER : PERFCTR_IOC_LEAVE);
	list->mark = enter ? mark_number : NO_MARK;
}

static void append_child(struct generator *g, struct list *list)
{
	static const uint32_t ops[] = { STEP_FORK, STEP_FORK, STEP_VFORK, STEP_THREAD };
	uint32_t op = ops[random_below(g, 4)];
	struct list child = {
		.depth = list->depth - 1,
		.mark = list->mark,
		.alone = op != STEP_THREAD,
		.borrows = op == STEP_VFORK,
	};

	if (!list->depth || list->borrows || list->made == MAX_CHILDREN || g->threads >= THREADS)
		return;
	append(list, op, make_thread(g, child), 0);
	list->made++;
	if (op == STEP_THREAD)
		list->alone = false;
	else
		list->children++;
}

static void append_any(struct generator *g, struct list *list)
{
	switch (random_below(g, 16)) {
	case 0 ... 3:
		append_loop(g, list);
		break;
	case 4 ... 8:
		append_child(g, list);
		break;
	case 9:
		append(list, STEP_STORE, 0, 0);
		break;
	case 10:
		append(list, STEP_YIELD, 0, 0);
		break;
	case 11:
		append(list, STEP_MOVE, 0, 1 + random_below(g, 3));
		break;
	case 12:
		append(list, STEP_SLEEP, 0,
		       address_of(offsetof(struct image, time[random_below(g, MAX_TIMES)])));
		break;
	case 13:
		append_mark(g, list);
		break;
	case 14:
		if (list->children)
			append(list, STEP_WAIT, 0, 0);
		list->children -= !!list->children;
		break;
	case 15:
		append(list, STEP_STORE, 0, 0);
		append_loop(g, list);
		break;
	}
}

static void append_exec(struct generator *g, struct list *list)
{
	struct list next = { .depth = list->depth, .mark = list->mark, .alone = true };
	struct arguments *arguments = &g->image->arguments[g->execs];
	size_t here = offsetof(struct image, arguments) + g->execs * sizeof(*arguments);
	uint64_t text = address_of(here + offsetof(struct arguments, first));
	uint32_t first;

	ck_assert_uint_lt(g->execs, MAX_EXECS);
	g->execs++;
	next.depth -= !!next.depth;
	first = make_thread(g, next);
	name_step(first, arguments->first);
	arguments->argv[0] = text;
	arguments->argv[1] = text;
	append(list, STEP_EXEC, first, address_of(here));
}

static void append_end(struct generator *g, struct list *list)
{
	if (random_below(g, 2))
		for (; list->children; list->children--)
			append(list, STEP_WAIT, 0, 0);
	switch (list->alone ? random_below(g, 6) : 5) {
	case 0:
		append(list, STEP_KILL, 0, 0);
		break;
	case 1 ... 2:
		if (list->depth && g->threads < THREADS) {
			append_exec(g, list);
			break;
		}
		__attribute__((fallthrough));
	default:
		append(list, STEP_EXIT, 0, 0);
	}
}

/* The steps of children come before its own. */
static uint32_t make_thread(struct generator *g, struct list list)
{
	uint32_t n = 2 * (uint32_t)list.depth + random_below(g, 5), first;

	g->threads++;
	while (n--)
		append_any(g, &list);
	append_end(g, &list);
	first = g->steps;
	ck_assert_uint_le(first + list.n, MAX_STEPS);
	memcpy(&g->image->step[first], list.step, list.n * sizeof(list.step[0]));
	g->steps += list.n;
	return first;
}

uint32_t generate(struct generator *g, int mark_number)
{
	for (int i = 0; i < MAX_TIMES; i++)
		g->image->time[i] = (struct timespec){ .tv_nsec = i * 200000L };
	g->threads = 0;
	return make_thread(g,
			   (struct list){ .depth = MAX_DEPTH, .mark = mark_number, .alone = true });
}
