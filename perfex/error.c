// SPDX-License-Identifier: GPL-2.0-or-later
#define _GNU_SOURCE
#include "perfex.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_error(const char *format, va_list arguments)
{
	char *line;

	if (vasprintf(&line, format, arguments) < 0) {
		fputs("perfex: out of memory\n", stderr);
		return;
	}
	make_printable(line);
	name_commands(line);
	fprintf(stderr, "perfex: %s\n", line);
	free(line);
}

void complain(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_error(format, arguments);
	va_end(arguments);
}

void fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_error(format, arguments);
	va_end(arguments);
	exit(EXIT_PERFEX);
}

void flush_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		return;
	complain("cannot write to standard output: %m");
	_exit(EXIT_PERFEX);
}

/* Does the library choose it, before it knows any event?  PERFCTR_BACKEND may name another. */
static bool is_default(const char *backend)
{
	struct perfctr_backend_info info = { 0 };

	perfctr_backend(NULL, &info);
	return strcmp(info.name, backend) == 0;
}

void warn_of_refused_pmu(const char *backend)
{
	struct perfctr_pmu_info info;

	if (strcmp(backend, "patch") != 0 && perfctr_get_pmu_info_with("patch", &info) == 0 &&
	    strncmp(info.family, "refused:", strlen("refused:")) == 0 && is_default("patch"))
		complain("warning: the driver has found the counters of this machine wrong (%.*s); "
			 "%s counts, and may be as wrong",
			 (int)sizeof(info.family), info.family, backend);
}

void complain_of_loss(const struct perfctr_counts *counts)
{
	if (counts->flags & PERFCTR_COUNTS_INCOMPLETE)
		complain("the counts are incomplete: a thread was born without memory for its "
			 "counters, and what it counted is missing; see perfctr(4)");
	if (counts->flags & PERFCTR_COUNTS_REVOKED)
		complain("the administrator took the counters back: what is counted is the time "
			 "until then, and since they were started again");
}

void warn_of_event(struct perfctr_events *events, const struct perfctr_request *request)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(events);
	const struct perfctr_event_control event = {
		.counter = request->counter,
		.evntsel = request->evntsel,
		.evntsel2 = request->evntsel2,
	};
	char text[512];

	/* Others leave no choice: they are refused, or have one unit for all events. */
	if (!isdigit((unsigned char)request->name[0]) || !perfctr_family_route(info, &event) ||
	    event.evntsel & ~info->evntsel_allowed || event.evntsel2 & ~info->evntsel2_allowed)
		return;
	if (perfctr_events_name(events, &event, text, sizeof(text)) < 0 && errno == ENOENT)
		complain("warning: event '%s': %s", request->name, text);
}

void *allocate(size_t n, size_t size)
{
	void *memory = calloc(n + 1, size);

	if (!memory)
		fail("out of memory");
	return memory;
}

void *grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	array = reallocarray(array, n ? 2 * n : 1, size);
	if (!array)
		fail("out of memory");
	memset((char *)array + n * size, 0, (n ? n : 1) * size);
	return array;
}

FILE *text_open(struct text *text)
{
	text->file = open_memstream(&text->text, &text->size);
	if (!text->file)
		fail("out of memory");
	return text->file;
}

char *text_close(struct text *text)
{
	if (fclose(text->file))
		fail("out of memory");
	return text->text;
}
