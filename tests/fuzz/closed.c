// SPDX-License-Identifier: GPL-2.0-or-later
/* State that remains in the kernel when nobody has a descriptor any more. */
#include "fuzz.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PATIENCE_MS 10000	  /* for the last ones to exit */
#define SETTLED_ROUNDS 3	  /* until the kernel's caches are warm */
#define MAX_LOST_KB (192ul << 10) /* of memory; KASAN keeps some of what is freed */

static int device;
static unsigned long settled_kb;

static void read_info(struct perfctr_pmu_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (ioctl(device, PERFCTR_IOC_INFO, info))
		abort();
}

void closed_init(void)
{
	device = open("/dev/perfctr", O_RDWR | O_CLOEXEC);
	read_info(&shared->info);
}

static bool is_clean(const struct perfctr_pmu_info *info)
{
	return !info->n_contexts && !info->context_counters && !info->session_counters &&
	       info->holder == PERFCTR_HOLDER_NONE;
}

static unsigned long available_kb(void)
{
	unsigned long kb = 0;
	char line[128];
	FILE *file = fopen("/proc/meminfo", "r");

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "MemAvailable: %lu", &kb) == 1)
			break;
	if (file)
		fclose(file);
	return kb;
}

static void check_memory(void)
{
	unsigned long kb = available_kb();

	if (shared->round <= SETTLED_ROUNDS)
		settled_kb = kb;
	else if (kb + MAX_LOST_KB < settled_kb)
		finding(NULL, CHECK_CLOSED, "%lu KB of memory have gone", settled_kb - kb);
}

void check_closed(void)
{
	struct perfctr_pmu_info info;
	unsigned int ms;

	for (ms = 0; ms < PATIENCE_MS; ms += 10) {
		read_info(&info);
		if (is_clean(&info))
			break;
		usleep(10000);
	}
	if (!is_clean(&info))
		finding(NULL, CHECK_CLOSED,
			"%u contexts, counters %llx of contexts, %llx of sessions, holder %u",
			info.n_contexts, (unsigned long long)info.context_counters,
			(unsigned long long)info.session_counters, info.holder);
	check_memory();
}
