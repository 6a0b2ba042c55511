// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The number of instructions that programs execute, by the numbers beside the instructions of
 * worker.S. It knows nothing of counters, nor of the way in which programs are generated.
 */
#include "program.h"

#include <check.h>
#include <linux/perfctr.h>

#define BORN ((struct executed){ 10, 5 })
#define START ((struct executed){ 20, 3 })

/* Includes NEXT where the program goes on after the step. A loop is without its turns. */
static const struct executed cost[N_STEPS] = {
	[STEP_LOOP] = { 2 + 3, 1 + 1 },	 [STEP_STORE] = { 2 + 3, 1 + 1 },
	[STEP_YIELD] = { 3 + 3, 2 + 1 }, [STEP_MOVE] = { 6 + 3, 2 + 1 },
	[STEP_SLEEP] = { 5 + 3, 2 + 1 }, [STEP_FORK] = { 4 + 3, 2 + 1 },
	[STEP_VFORK] = { 4 + 3, 2 + 1 }, [STEP_THREAD] = { 9 + 3, 2 + 1 },
	[STEP_WAIT] = { 7 + 3, 2 + 1 },	 [STEP_EXEC] = { 5, 1 },
	[STEP_EXIT] = { 3, 1 },		 [STEP_KILL] = { 6, 2 },
};

/* An ioctl: until it changes the mark, and after that. */
static const struct executed until_mark = { 4, 1 }, behind_mark = { 1 + 3, 1 + 1 };

struct thread {
	struct model *model;
	uint32_t number;
	int mark;
};

static void add(struct executed *sum, struct executed more)
{
	sum->instructions += more.instructions;
	sum->branches += more.branches;
}

static void execute(struct thread *t, struct executed more)
{
	add(&t->model->thread[t->number], more);
	add(&t->model->sum, more);
	if (t->mark != NO_MARK)
		add(&t->model->marked[t->mark], more);
}

static void model_thread(struct model *model, const struct image *image, uint32_t at,
			 int mark_number, struct executed begin)
{
	struct thread t = { .model = model, .number = model->threads++, .mark = mark_number };

	ck_assert_uint_lt(t.number, MAX_THREADS);
	execute(&t, begin);
	for (;; at++) {
		const struct step *step = &image->step[at];
		struct executed turns = { 2 * (uint64_t)step->argument, step->argument };

		if (step->op == STEP_IOCTL) {
			execute(&t, until_mark);
			t.mark = step->address == PERFCTR_IOC_ENTER ? (int)step->argument - MARK_FD
								    : NO_MARK;
			execute(&t, behind_mark);
			continue;
		}
		execute(&t, cost[step->op]);
		switch (step->op) {
		case STEP_LOOP:
			execute(&t, turns);
			break;
		case STEP_FORK:
		case STEP_VFORK:
		case STEP_THREAD:
			model_thread(model, image, step->argument, t.mark, BORN);
			break;
		case STEP_EXEC:
			execute(&t, START);
			at = step->argument - 1;
			break;
		case STEP_EXIT:
		case STEP_KILL:
			return;
		}
	}
}

void model_add(struct model *model, const struct image *image, uint32_t first, int mark_number)
{
	model_thread(model, image, first, mark_number, START);
}
