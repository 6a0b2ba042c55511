// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex encode: shows events as register values, field by field. */
#include "selection.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static uint64_t field_mask(const struct perfctr_field *field)
{
	return (UINT64_C(2) << (field->last - field->first)) - 1;
}

static void print_field(const struct perfctr_field *field, uint64_t value)
{
	char bits[16];

	if (field->first == field->last)
		snprintf(bits, sizeof(bits), "%u", field->first);
	else
		snprintf(bits, sizeof(bits), "%u-%u", field->first, field->last);
	printf("    %-6s %-18s 0x%-5llx %s\n", bits, field->name,
	       (unsigned long long)(value >> field->first & field_mask(field)), field->meaning);
}

/* Prints nothing if the machine has no such register. */
static void print_register(const struct perfctr_pmu_info *info, unsigned int which, uint64_t value)
{
	const struct perfctr_register *layout = perfctr_family_register(info, which);
	uint64_t known = 0;

	if (!layout)
		return;

	printf("  %s 0x%08llx\n", layout->name, (unsigned long long)value);
	for (const struct perfctr_field *field = layout->field; field->name; field++) {
		print_field(field, value);
		known |= field_mask(field) << field->first;
	}
	if (value & ~known)
		printf("    reserved bits: 0x%llx\n", (unsigned long long)(value & ~known));
}

static void print_counters(const struct perfctr_request *request)
{
	printf("  counters:");
	for (unsigned int i = 0; i < 64; i++)
		if (request->general >> i & 1)
			printf(" %u", i);
	for (unsigned int i = 0; i < 64; i++)
		if (request->fixed >> i & 1)
			printf(" 0x%x", PERFCTR_FIXED + i);
	putchar('\n');
}

/* Returns the first general counter that can count the event; PERFCTR_ANY if there is none. */
static uint32_t first_counter(const struct perfctr_request *request)
{
	return request->general ? (uint32_t)__builtin_ctzll(request->general) : PERFCTR_ANY;
}

/* Prints the machine's name of the event, unless the user typed that name. */
static void print_meaning(struct perfctr_events *database, const struct perfctr_request *request)
{
	const struct perfctr_event_control event = {
		.counter = first_counter(request),
		.evntsel = request->evntsel,
		.evntsel2 = request->evntsel2,
	};
	char name[PERFCTR_REQUEST_NAME];
	int status;

	if (event.counter == PERFCTR_ANY)
		return;
	status = perfctr_events_name(database, &event, name, sizeof(name));
	if (status == 0 ? strncasecmp(name, request->name, strlen(request->name))
			: status > 0 && isdigit((unsigned char)request->name[0]))
		printf("  event: %s%s\n", name, status ? ", with further fields" : "");
}

/* Returns the unit that detects the event for a counter.  NULL: no unit, or the counter cannot. */
static const char *route_to(const struct perfctr_pmu_info *info,
			    const struct perfctr_request *request, uint32_t counter)
{
	const struct perfctr_event_control event = { .counter = counter,
						     .evntsel = request->evntsel };

	return request->general >> counter & 1 ? perfctr_family_route(info, &event) : NULL;
}

/* Prints each unit that can detect the event, followed by the counters that it feeds. */
static void print_routes(const struct perfctr_pmu_info *info, const struct perfctr_request *request)
{
	const struct perfctr_register *layout =
		perfctr_family_register(info, PERFCTR_REGISTER_EVNTSEL2);
	uint64_t left = layout ? request->general : 0;
	const char *comma = "";

	for (uint32_t first = 0; first < info->n_general; first++) {
		const char *route = left >> first & 1 ? route_to(info, request, first) : NULL;

		if (!route)
			continue;
		if (!*comma)
			printf("  %s: ", layout->name);
		printf("%s%s (", comma, route);
		comma = ", ";
		for (uint32_t i = first; i < info->n_general; i++) {
			const char *other = route_to(info, request, i);

			if (!other || strcmp(route, other))
				continue;
			printf(i == first ? "%u" : " %u", i);
			left &= ~(UINT64_C(1) << i);
		}
		putchar(')');
	}
	if (*comma)
		putchar('\n');
}

/*
 * Formats the registers of the event as -e accepts them.  Adds a counter if the text without one is
 * invalid, or also allows counters on which the registers mean another event.
 */
static void format_value(struct perfctr_events *database, const struct perfctr_request *request,
			 char *text, size_t size)
{
	const struct perfctr_event_control event = {
		.counter = request->counter,
		.evntsel = request->evntsel,
		.evntsel2 = request->evntsel2,
	};
	struct perfctr_control control;
	struct perfctr_request again;
	char error[512];

	perfctr_evntsel_format(&event, text, size);
	if (request->counter != PERFCTR_ANY ||
	    (perfctr_events_parse(database, text, PERFCTR_MODE_USER, &again, error,
				  sizeof(error)) == 0 &&
	     !(again.general & ~request->general)))
		return;
	if (perfctr_requests_assign(perfctr_events_info(database), request, 1, &control, error,
				    sizeof(error)) == 0)
		perfctr_evntsel_format(&control.event[0], text, size);
}

static void print_event(struct perfctr_events *database, const struct perfctr_request *request)
{
	const struct perfctr_pmu_info *info = perfctr_events_info(database);
	char text[PERFCTR_EVNTSEL_TEXT];

	if (is_software(request)) {
		printf("%s: the operating system counts it, by no register\n", request->name);
		return;
	}
	format_value(database, request, text, sizeof(text));
	printf("%s = %s\n", request->name, text);
	print_meaning(database, request);
	print_counters(request);
	print_routes(info, request);
	if (request->general)
		print_register(info, PERFCTR_REGISTER_EVNTSEL, request->evntsel);
	print_register(info, PERFCTR_REGISTER_EVNTSEL2, request->evntsel2);
	if (request->fixed)
		print_register(info, PERFCTR_REGISTER_FIXED,
			       request->evntsel & info->fixed_allowed);
	if (request->p4_pebs_enable)
		printf("  IA32_PEBS_ENABLE 0x%llx, MSR_PEBS_MATRIX_VERT 0x%llx: what replays tag\n",
		       (unsigned long long)request->p4_pebs_enable,
		       (unsigned long long)request->p4_pebs_matrix_vert);
}

static int encode_events(struct options *selection)
{
	struct perfctr_request *requests;

	if (!open_selected_pmu(selection))
		return EXIT_PERFEX;
	requests = selected_events(selection);
	if (!requests)
		return EXIT_PERFEX;
	for (size_t i = 0; i < selection->events.n; i++)
		print_event(selection->database, &requests[i]);
	free(requests);
	return 0;
}

static const struct option_row rows[] = {
	SELECTION_OPTIONS,
	PMU_OPTION(struct options, pmu),
	{ 0 },
};

static int encode_main(int argc, char **argv);

const struct subcommand encode_subcommand = {
	.name = "encode",
	.summary = "show events as register values, field by field",
	.main = encode_main,
	.help = "Usage: perfex encode [-e EVENT].. [-g GROUP].. [OPTION]..\n"
		"Show which values EVENT has in the event select registers, what each of their\n"
		"fields means, and which counters can count it.  Nothing is run.\n",
	.options = rows,
};

static int encode_main(int argc, char **argv)
{
	struct options selection = { .modes = PERFCTR_MODE_USER };
	int status, n = take_options(&encode_subcommand, &selection, argc, argv);

	if (n < argc)
		fail("perfex encode takes no argument, '%s' is one; give events with -e", argv[n]);
	if (!selection.events.n && !selection.groups.n)
		fail("no event given; give some with -e");
	status = encode_events(&selection);
	free_options(&selection);
	return status;
}
