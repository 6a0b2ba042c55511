// SPDX-License-Identifier: GPL-2.0-or-later
/* What counts for perfex. */
#include "backend.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* For the library here, and for what COMMAND asks of it. */
void take_backend(void *target, const struct option_rule *rule, const char *name)
{
	char text[256];

	if (setenv("PERFCTR_BACKEND", name, 1) < 0)
		fail("out of memory");
	/* One that is not there is told by what cannot be opened. */
	if (perfctr_backend(NULL, &(struct perfctr_backend_info){ 0 }) < 0 && errno == EINVAL) {
		perfctr_open_error(EINVAL, text, sizeof(text));
		fail("--backend=%s: %s", name, text);
	}
}

void backend_name(char *name, size_t size)
{
	struct perfctr_backend_info info = { 0 };

	perfctr_backend(NULL, &info);
	snprintf(name, size, "%s", info.name);
}

static bool chosen; /* here, not by the user */

/* By the events, as nobody named one. */
static void choose_backend(const struct options *options, uint32_t capabilities)
{
	const char *named = getenv("PERFCTR_BACKEND"), *name;

	if (!options->n_events || (named && *named))
		return;
	name = perfctr_backend_for(options->event, (unsigned int)options->n_events, options->modes,
				   capabilities);
	if (!name)
		return;
	chosen = true;
	if (setenv("PERFCTR_BACKEND", name, 1) < 0)
		fail("out of memory");
}

void forget_chosen_backend(void)
{
	if (chosen)
		unsetenv("PERFCTR_BACKEND");
}

/* Where the processor counts nothing, the operating system does. */
void add_default_events(struct options *options, uint32_t capabilities)
{
	struct perfctr_backend_info info = { 0 };

	choose_backend(options, capabilities);
	if (options->n_events || perfctr_backend(NULL, &info) < 0 ||
	    info.capabilities & PERFCTR_CAN_HARDWARE || !(info.capabilities & PERFCTR_CAN_SOFTWARE))
		return;
	append_text(&options->event, &options->n_events,
			  info.capabilities & PERFCTR_CAN_KERNEL ? "page-faults" : "page-faults:u");
	if (info.capabilities & PERFCTR_CAN_SWITCHES) {
		append_text(&options->event, &options->n_events, "context-switches");
		append_text(&options->event, &options->n_events, "cpu-migrations");
	}
}

static const struct {
	uint32_t bit;
	const char *name;
} capabilities[] = {
	{ PERFCTR_CAN_HARDWARE, "hardware" },	{ PERFCTR_CAN_SOFTWARE, "software" },
	{ PERFCTR_CAN_KERNEL, "kernel-mode" },	{ PERFCTR_CAN_SWITCHES, "switches" },
	{ PERFCTR_CAN_LIVE_READ, "live-read" }, { PERFCTR_CAN_RDPMC, "rdpmc" },
	{ PERFCTR_CAN_ISOLATE, "isolation" },	{ PERFCTR_CAN_REMOTE, "remote" },
	{ PERFCTR_CAN_INHERIT, "inheritance" }, { PERFCTR_CAN_RECORD, "records" },
	{ PERFCTR_CAN_GROUP, "groups" },	{ PERFCTR_CAN_SESSION, "sessions" },
	{ PERFCTR_CAN_TRACE, "traces" },	{ PERFCTR_CAN_CONSISTENT, "one-instant" },
};

static void print_backend(const struct perfctr_backend_info *info, bool used)
{
	printf("backend %s: %s", info->name,
	       used		 ? "used"
	       : info->available ? "available"
				 : "not available");
	if (info->available) {
		printf("; it has:");
		for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
			if (info->capabilities & capabilities[i].bit)
				printf(" %s", capabilities[i].name);
	}
	if (*info->why)
		printf("; %s", info->why);
	putchar('\n');
}

void print_backends(void)
{
	struct perfctr_backend_info list[8], used = { 0 };
	int n = perfctr_backends(list, sizeof(list) / sizeof(list[0]));

	perfctr_backend(NULL, &used);
	for (int i = 0; i < n; i++)
		print_backend(&list[i], used.available && strcmp(list[i].name, used.name) == 0);
}
