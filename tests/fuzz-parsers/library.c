// SPDX-License-Identifier: GPL-2.0-or-later
/* Parsers of the library. */
#define _GNU_SOURCE
#include "fuzz.h"
#include "../unit/machines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The machine of the text's first letter, or Nehalem. libpfm4 takes this CPU for a Nehalem in the
 * whole process.
 */
static const struct perfctr_pmu_info *take_machine(const char **text)
{
	const struct perfctr_pmu_info *nehalem = be_machine(NEHALEM);
	char letter = **text;

	if (letter < 'a' || letter > 'a' + VIA_C3)
		return nehalem;
	(*text)++;
	return machine_info((enum machine)(letter - 'a'));
}

/* A written event is read as the same event. */
static void take_values(const char *spec)
{
	struct perfctr_event_control event = { 0 }, again = { 0 };
	char error[256] = "", text[256];

	if (perfctr_evntsel_parse(spec, &event, error, sizeof(error)) < 0) {
		EXPECT(errno == EINVAL);
		EXPECT(*error);
		return;
	}
	EXPECT(perfctr_evntsel_format(&event, text, sizeof(text)) < (int)sizeof(text));
	EXPECT(perfctr_evntsel_parse(text, &again, error, sizeof(error)) == 0);
	EXPECT(event.evntsel == again.evntsel && event.evntsel2 == again.evntsel2 &&
	       event.counter == again.counter);
}

static void assign(const struct perfctr_pmu_info *info, const struct perfctr_request *request)
{
	struct perfctr_control control;
	char error[512] = "";

	if (perfctr_requests_assign(info, request, 1, &control, error, sizeof(error)) < 0)
		expect_line(error);
	else
		EXPECT(control.n_events == 1);
}

static void parse(struct perfctr_events *events, const char *spec)
{
	struct perfctr_request request;
	char error[512] = "";

	errno = 0;
	if (perfctr_events_parse(events, spec, PERFCTR_MODE_USER, &request, error, sizeof(error)) <
	    0) {
		EXPECT(errno);
		expect_line(error);
	} else {
		assign(perfctr_events_info(events), &request);
	}
}

/*
 * Reading the tables takes most of the time, and is the target fuzz_table(). So it is done once for
 * each machine.
 */
static struct perfctr_events *events_of(const struct perfctr_pmu_info *info)
{
	static struct {
		const struct perfctr_pmu_info *info;
		struct perfctr_events *events;
	} known[VIA_C3 + 1];
	size_t i = 0;

	while (known[i].info && known[i].info != info)
		i++;
	if (!known[i].info) {
		known[i].info = info;
		known[i].events = perfctr_events_open(info);
	}
	EXPECT(known[i].events);
	return known[i].events;
}

void fuzz_event(const char *text, size_t length)
{
	const struct perfctr_pmu_info *info = take_machine(&text);

	(void)length;
	take_values(text);
	parse(events_of(info), text);
}

/* The directory of the user's tables has one file. Both stay until the process ends. */
static const char *table_path(void)
{
	static char directory[] = "/tmp/perfctr-fuzz-XXXXXX", path[64];

	if (!*path) {
		EXPECT(mkdtemp(directory));
		snprintf(path, sizeof(path), "%s/user.tbl", directory);
	}
	setenv("PERFCTR_EVENTS", directory, 1);
	return path;
}

static void remove_tables(void)
{
	char *path = strdupa(table_path());

	unlink(path);
	*strrchr(path, '/') = '\0';
	rmdir(path);
}

static int count(const struct perfctr_event_entry *entry, void *n)
{
	EXPECT(entry->name && *entry->name && entry->source && entry->description);
	(*(size_t *)n)++;
	return 0;
}

/* A database that has answered before answers like a new one. */
static void parse_again(struct perfctr_events *events, const char *spec)
{
	struct perfctr_request old = { 0 }, new = { 0 };
	char old_error[512] = "", new_error[512] = "";
	int old_errno, status;

	errno = 0;
	status = perfctr_events_parse(events, spec, PERFCTR_MODE_USER, &old, old_error,
				      sizeof(old_error));
	old_errno = status < 0 ? errno : 0;
	EXPECT(perfctr_events_parse_once(perfctr_events_info(events), spec, PERFCTR_MODE_USER, &new,
					 new_error, sizeof(new_error)) == status);
	EXPECT(old_errno == (status < 0 ? errno : 0));
	EXPECT(strcmp(old_error, new_error) == 0);
	EXPECT(memcmp(&old, &new, sizeof(old)) == 0);
}

void fuzz_table(const char *text, size_t length)
{
	static const char *const names[] = { "instructions", "a", "a:b", "loads:stores" };
	const struct perfctr_pmu_info *info = take_machine(&text);
	struct perfctr_events *events;
	static int registered;
	size_t n = 0;
	FILE *file;

	length = strlen(text) < length ? strlen(text) : length;
	if (!registered)
		registered = atexit(remove_tables) == 0;
	file = fopen(table_path(), "w");
	EXPECT(file);
	EXPECT(fwrite(text, 1, length, file) == length);
	fclose(file);
	events = perfctr_events_open(info);
	EXPECT(events);
	if (perfctr_events_list(events, NULL, count, &n) < 0)
		EXPECT(errno == EINVAL || errno == ENOENT || errno == ENODEV);
	/* Names that the corpus defines. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		parse(events, names[i]);
	/* Of one name only, because it takes the time of all. */
	parse_again(events, names[length % (sizeof(names) / sizeof(names[0]))]);
	perfctr_events_close(events);
}
