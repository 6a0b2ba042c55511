// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the library's version, and the number of page faults of the first writes to 100 new pages.
 * Any kernel counts these.
 */
#include <err.h>
#include <perfctr.h>
#include <perfctr_count.h>
#include <stdio.h>
#include <sys/mman.h>

enum { PAGES = 100, PAGE = 4096 };

int main(void)
{
	char why[PERFCTR_COUNT_ERROR];
	struct perfctr_counts before, after;
	struct perfctr *p = perfctr_count("page-faults", why, sizeof(why));
	char *pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	if (!p)
		errx(1, "%s", why);
	if (pages == MAP_FAILED || madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE))
		err(1, "pages");
	/* The first call may need more. After it, everything is there. */
	for (int i = 0; i < 2; i++)
		if (perfctr_read(p, &before) < 0)
			err(1, "read");
	for (int i = 0; i < PAGES; i++)
		*(volatile char *)(pages + i * PAGE) = 1;
	if (perfctr_read(p, &after) < 0)
		err(1, "read");
	printf("%s %d\n", perfctr_version(), (int)(after.counter[0] - before.counter[0]));
	perfctr_close(p);
	return 0;
}
