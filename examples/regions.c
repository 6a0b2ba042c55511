// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two threads count their work in two regions, one of which lies in the other.  The program prints
 * the results, less the overhead of counting.  If the name of a file is given, it also saves them
 * there at exit, as JSON for "perfex stat-of".
 */
#include <errno.h>
#include <perfctr.h>
#include <perfctr_regions.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Architectural events (Intel SDM volume 3, table 20-1) in user mode: EN and USR are set. */
#define INSTRUCTIONS 0x004100c0
#define BRANCHES 0x004100c4
#define EVENTS 2

enum { SORT, COMPARE };

static const char *const region_names[] = { "sort", "compare" };

static struct perfctr_regions *regions;

static void open_control(struct perfctr_control *control)
{
	perfctr_control_init(control);
	perfctr_control_add(control, PERFCTR_ANY, INSTRUCTIONS, 0);
	perfctr_control_add(control, PERFCTR_ANY, BRANCHES, 0);
}

static int is_greater(struct perfctr_region *mine, const char *a, const char *b)
{
	int order;

	perfctr_region_enter(&mine[COMPARE], EVENTS);
	order = strcmp(a, b);
	perfctr_region_exit(&mine[COMPARE], EVENTS);
	return order > 0;
}

/* Sorts by insertion. */
static void sort(struct perfctr_region *mine, const char *word[], int n)
{
	perfctr_region_enter(&mine[SORT], EVENTS);
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && is_greater(mine, word[k - 1], word[k]); k--) {
			const char *swap = word[k];

			word[k] = word[k - 1];
			word[k - 1] = swap;
		}
	perfctr_region_exit(&mine[SORT], EVENTS);
}

static void *work(void *unused)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_control control;
	struct perfctr_region *mine;

	(void)unused;
	open_control(&control);
	if (!self || perfctr_set_control(self, &control) < 0)
		return "the thread cannot count";
	mine = perfctr_regions_thread(regions, self);
	if (!mine || perfctr_regions_calibrate(mine, EVENTS) < 0)
		return "no memory for the regions";
	for (int times = 0; times < 100; times++) {
		const char *word[] = { "every", "thread", "counts", "for", "itself" };

		sort(mine, word, sizeof(word) / sizeof(word[0]));
	}
	perfctr_close(self);
	return NULL;
}

static int refused(const char *text)
{
	fprintf(stderr, "regions: %s\n", text);
	return 1;
}

int main(int argc, char **argv)
{
	struct perfctr_pmu_info info;
	struct perfctr_control control;
	pthread_t thread[2];
	void *failure = NULL;
	char text[256];

	open_control(&control);
	if (perfctr_get_pmu_info(&info) < 0) {
		perfctr_open_error(errno, text, sizeof(text));
		return refused(text);
	}
	if (perfctr_control_assign(&control, &info) < 0) {
		perfctr_control_error(errno, &control, &info, text, sizeof(text));
		return refused(text);
	}
	regions = perfctr_regions_open(&control, NULL, region_names, 2);
	if (!regions)
		return refused("out of memory");
	if (argc > 1 && perfctr_regions_save_at_exit(regions, argv[1], PERFCTR_REGIONS_JSON,
						     PERFCTR_REGIONS_CORRECTED) < 0) {
		perror(argv[1]);
		return 1;
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return refused("cannot make a thread");
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &failure);
		if (failure)
			return refused(failure);
	}
	if (argc == 1)
		perfctr_regions_write(regions, stdout, PERFCTR_REGIONS_TEXT,
				      PERFCTR_REGIONS_CORRECTED);
	return 0;
}
