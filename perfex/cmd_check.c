// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex check: shows whether events can be counted together, and on which counters. */
#include "run/together.h"
#include "selection.h"

#include <errno.h>
#include <stdlib.h>

static const char *modes_text(unsigned int modes)
{
	static const char *const texts[] = { "none", "user", "kernel", "user+kernel" };

	return texts[modes & PERFCTR_MODE_BOTH];
}

static void print_control(const struct perfctr_request *requests,
			  const struct perfctr_control *control, const char *indent)
{
	char text[16];

	for (uint32_t i = 0; i < control->n_events; i++) {
		uint32_t counter = control->event[i].counter;

		snprintf(text, sizeof(text), counter > 99 ? "0x%x" : "%u", counter);
		if (is_software(&requests[i]))
			printf("%s%-32s %-18s  ", indent, requests[i].name, "no counter");
		else
			printf("%s%-32s counter %-10s  ", indent, requests[i].name, text);
		puts(modes_text(requests[i].modes));
	}
}

static uint32_t lowest_counter(const struct perfctr_request *request)
{
	for (uint32_t i = 0; i < 64; i++)
		if (request->general >> i & 1)
			return i;
	for (uint32_t i = 0; i < 64; i++)
		if (request->fixed >> i & 1)
			return PERFCTR_FIXED + i;
	return 0;
}

/*
 * Checks the registers of an event as the kernel does.  Returns PERFCTR_BAD_*, or 0 if they are
 * good.  Only register values that the user typed can be bad; the registers of named events are
 * good.
 */
static uint32_t look_at_registers(const struct perfctr_pmu_info *info,
				  const struct perfctr_event_control *event)
{
	bool fixed = event->counter & PERFCTR_FIXED;
	uint64_t modes = info->evntsel_user | info->evntsel_kernel;
	uint64_t modes2 = info->evntsel2_user | info->evntsel2_kernel;

	if (event->evntsel & ~(fixed ? info->fixed_allowed : info->evntsel_allowed))
		return PERFCTR_BAD_EVNTSEL;
	if (event->evntsel2 & ~info->evntsel2_allowed)
		return PERFCTR_BAD_EVNTSEL2;
	if (info->evntsel_required & ~event->evntsel)
		return PERFCTR_BAD_ENABLE;
	if ((modes | modes2) && !(event->evntsel & modes) && !(event->evntsel2 & modes2))
		return PERFCTR_BAD_MODE;
	return 0;
}

/*
 * Returns false, after an error message, if perfex run would refuse the registers of the request.
 */
static bool check_registers(const struct perfctr_pmu_info *info,
			    const struct perfctr_request *request)
{
	uint32_t counter = request->counter;
	struct perfctr_control control;

	if (is_software(request) || request->kinds)
		return true;
	if (counter == PERFCTR_ANY)
		counter = lowest_counter(request);
	perfctr_control_init(&control);
	perfctr_control_add(&control, counter, request->evntsel, request->evntsel2);
	control.bad_reason = look_at_registers(info, &control.event[0]);
	if (control.bad_reason)
		complain_of_control(NULL, EINVAL, &control, info);
	return !control.bad_reason;
}

static bool check_all_registers(const struct perfctr_pmu_info *info,
				const struct perfctr_request *requests, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!check_registers(info, &requests[i]))
			return false;
	return true;
}

static bool assign_counters(const struct perfctr_pmu_info *info,
			    const struct perfctr_request *requests, size_t n,
			    struct perfctr_control *control, char *why, size_t size)
{
	return perfctr_requests_assign(info, requests, n, control, why, size) == 0;
}

/* Copies the requests of one pass to members, and returns their number. */
static size_t requests_of_pass(const struct perfctr_request *requests, size_t n,
			       const unsigned int pass[], unsigned int which,
			       struct perfctr_request members[])
{
	size_t n_members = 0;

	for (size_t i = 0; i < n; i++)
		if (pass[i] == which)
			members[n_members++] = requests[i];
	return n_members;
}

static int print_plan(const struct perfctr_pmu_info *info, const struct perfctr_request *requests,
		      const struct options *selection, const char *why)
{
	size_t n = selection->events.n;
	struct perfctr_request *members = calloc(n, sizeof(*members));
	unsigned int *pass = calloc(n, sizeof(*pass));
	struct perfctr_control control;
	unsigned int n_passes;
	char error[1024];
	int status = 1;

	if (!members || !pass)
		fail("out of memory");
	if (together_plan(info, requests, n, selection->rules, pass, &n_passes, error,
			  sizeof(error)) < 0) {
		complain("%s", error);
		status = EXIT_PERFEX;
		n_passes = 0;
	} else {
		printf("They do not fit in one pass: %s\n", why);
	}
	for (unsigned int which = 0; which < n_passes; which++) {
		size_t n_members = requests_of_pass(requests, n, pass, which, members);

		printf("pass %u:\n", which + 1);
		if (assign_counters(info, members, n_members, &control, error, sizeof(error)))
			print_control(members, &control, "  ");
	}
	free(members);
	free(pass);
	return status;
}

static int check_events(struct options *selection)
{
	const struct perfctr_pmu_info *info;
	struct perfctr_request *requests;
	struct perfctr_control control;
	char why[1024];
	int status = 0;

	if (!open_selected_pmu(selection))
		return EXIT_PERFEX;
	requests = selected_events(selection);
	if (!requests)
		return EXIT_PERFEX;
	info = perfctr_events_info(selection->database);
	if (!check_all_registers(info, requests, selection->events.n))
		status = EXIT_PERFEX;
	else if (assign_counters(info, requests, selection->events.n, &control, why, sizeof(why)))
		print_control(requests, &control, "");
	else
		status = print_plan(info, requests, selection, why);
	free(requests);
	return status;
}

static const struct option_row rows[] = {
	SELECTION_OPTIONS,
	PMU_OPTION(struct options, pmu),
	{ 0 },
};

static int check_main(int argc, char **argv);

const struct subcommand check_subcommand = {
	.name = "check",
	.summary = "show whether events fit together, and on which counters",
	.main = check_main,
	.help = "Usage: perfex check [-e EVENT].. [-g GROUP].. [OPTION]..\n"
		"Show which counter each EVENT would get; or why they cannot be counted together,\n"
		"and the smallest number of passes in which they can.  Nothing is run.\n",
	.options = rows,
	.notes =
		"Exit status: 0 if they fit together, 1 if not, 125 if one can never be counted.\n",
};

static int check_main(int argc, char **argv)
{
	struct options selection = { .modes = PERFCTR_MODE_USER };
	int status, n = take_options(&check_subcommand, &selection, argc, argv);

	if (n < argc)
		fail("perfex check takes no argument, '%s' is one; give events with -e", argv[n]);
	if (!selection.events.n && !selection.groups.n)
		fail("no event given; give some with -e");
	status = check_events(&selection);
	free_options(&selection);
	return status;
}
