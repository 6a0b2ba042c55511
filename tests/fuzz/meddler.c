// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The administrator of the machine: changes for everybody what root may change, and changes it
 * back.
 */
#include "fuzz.h"

#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define QUIET_US 40000
#define CHANGED_US 8000

/* RDPMC for nobody, for threads with a mapped page, for all; and the levels of perf_events. */
static const struct knob {
	const char *path;
	int usual;
	unsigned int n;
	int values[6];
} knobs[N_SETTINGS] = {
	[RDPMC_FOR] = { "/sys/bus/event_source/devices/cpu/rdpmc", 1, 3, { 0, 1, 2 } },
	[PARANOID] = { "/proc/sys/kernel/perf_event_paranoid", 2, 6, { -1, 0, 1, 3, 3, 4 } },
};

struct glimpse glance(enum setting_name name)
{
	struct glimpse glimpse = { .epoch = atomic_load(&shared->setting[name].epoch) };

	glimpse.value = atomic_load(&shared->setting[name].value);
	return glimpse;
}

bool has_stayed(enum setting_name name, struct glimpse glimpse)
{
	return glimpse.epoch % 2 == 0 && atomic_load(&shared->setting[name].epoch) == glimpse.epoch;
}

static void set(enum setting_name name, int value)
{
	struct setting *setting = &shared->setting[name];
	int fd = open(knobs[name].path, O_WRONLY | O_CLOEXEC);
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	atomic_fetch_add(&setting->epoch, 1);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", knobs[name].path);
	atomic_store(&setting->value, value);
	atomic_fetch_add(&setting->epoch, 1);
	close(fd);
}

void settings_init(void)
{
	for (enum setting_name name = 0; name < N_SETTINGS; name++)
		set(name, knobs[name].usual);
}

void meddle(uint64_t seed)
{
	struct fuzzer f = { .random = seed | 1 };

	while (!atomic_load(&shared->stop)) {
		enum setting_name name = below(&f, N_SETTINGS);

		usleep(below(&f, QUIET_US));
		set(name, knobs[name].values[below(&f, knobs[name].n)]);
		usleep(below(&f, CHANGED_US));
		set(name, knobs[name].usual);
		atomic_fetch_add(&shared->changes, 1);
	}
}
