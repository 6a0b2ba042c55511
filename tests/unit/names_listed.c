// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of names, and the information about them. */
#include "names.h"
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static int count_events(const struct perfctr_event_entry *entry, void *arg)
{
	int *n = arg;

	/* Aliases have no code of their own. */
	if (!entry->umask && strncmp(entry->description, "Stands for ", 11))
		++*n;
	return 0;
}

/* The sizes of the original perfctr's tables.  Machines with a CESR also have its clocks. */
static const struct {
	enum machine machine;
	int events;
} tables[] = {
	{ P5, 38 + 1 },		 { P5_MMX, 73 + 1 }, { MII, 64 + 1 },
	{ P6, 68 + 4 + 10 + 12 }, /* with Pentium III and II, and names of perf */
	{ WINCHIP_C6, 6 },	 { WINCHIP_2, 24 },  { VIA_C3, 3 },
};

START_TEST(tables_are_complete)
{
	int n = 0;

	ck_assert_int_eq(perfctr_events_list_once(be_machine(tables[_i].machine), NULL,
						  count_events, &n),
			 0);
	ck_assert_int_eq(n, tables[_i].events);
}
END_TEST

/* Checks that each event of the list is understood, alone or with each of its unit masks. */
struct understood {
	const struct perfctr_pmu_info *info;
	char event[PERFCTR_REQUEST_NAME];
	char spec[2 * PERFCTR_REQUEST_NAME];
	bool needs_umask;
	int n, n_umasks;
};

static int understand(const struct perfctr_event_entry *entry, void *arg)
{
	struct understood *understood = arg;
	struct perfctr_request request;
	char error[512] = "";
	int status;

	if (!entry->umask) {
		ck_assert_msg(!understood->needs_umask || understood->n_umasks, "%s",
			      understood->event);
		snprintf(understood->event, sizeof(understood->event), "%s", entry->name);
		understood->n_umasks = 0;
	}
	snprintf(understood->spec, sizeof(understood->spec), "%s%s%s", entry->name,
		 entry->umask ? ":" : "", entry->umask ? entry->umask : "");
	status = perfctr_events_parse_once(understood->info, understood->spec, USER, &request,
					   error, sizeof(error));
	if (!entry->umask)
		understood->needs_umask = status < 0 && strstr(error, "unit mask is missing");
	else if (status == 0 || errno == ENOTSUP)
		understood->n_umasks++;
	ck_assert_msg(status == 0 || strcmp(entry->source, "libpfm4") >= 0, "%s: %s",
		      understood->spec, error);
	if (status == 0 && strncmp(entry->source, "built in", 8) == 0 && !entry->umask &&
	    strncmp(entry->description, "Stands for ", 11)) {
		/* The code of an event that only fixed counters count is not in the register. */
		if (entry->general)
			ck_assert_msg((request.evntsel & entry->code) == entry->code, "%s",
				      understood->spec);
		ck_assert_uint_ne(request.general | request.fixed, 0);
	}
	understood->n++;
	return 0;
}

START_TEST(listed_events_are_understood)
{
	struct understood understood = { .info = be_machine((enum machine)_i) };

	ck_assert_int_eq(perfctr_events_list_once(understood.info, NULL, understand, &understood),
			 0);
	ck_assert_int_gt(understood.n, 2);
}
END_TEST

static int collect(const struct perfctr_event_entry *entry, void *arg)
{
	char *text = arg;

	strcat(text, entry->name);
	if (entry->umask)
		strcat(strcat(text, ":"), entry->umask);
	strcat(text, " ");
	return 0;
}

START_TEST(a_pattern_selects_names)
{
	char text[1024] = "";

	ck_assert_int_eq(perfctr_events_list_once(be_machine(P6), "fp_*", collect, text), 0);
	ck_assert_str_eq(text, "FP_COMP_OPS_EXE FP_ASSIST FP_MMX_TRANS FP_MMX_TRANS:TO_FP "
			       "FP_MMX_TRANS:TO_MMX ");
	text[0] = '\0';
	ck_assert_int_eq(perfctr_events_list_once(be_machine(P6), "l2_rq", collect, text), 0);
	ck_assert_str_eq(text, "L2_RQSTS L2_RQSTS:M L2_RQSTS:E L2_RQSTS:S L2_RQSTS:I ");
	text[0] = '\0';
	ck_assert_int_eq(perfctr_events_list_once(be_machine(P6), "nothing like it", collect, text),
			 0);
	ck_assert_str_eq(text, "");
}
END_TEST

struct counters {
	const char *name;
	uint64_t general, fixed, code;
};

static int look(const struct perfctr_event_entry *entry, void *arg)
{
	struct counters *counters = arg;

	char name[64];

	snprintf(name, sizeof(name), "%s%s%s", entry->name, entry->umask ? ":" : "",
		 entry->umask ? entry->umask : "");
	if (strcasecmp(name, counters->name))
		return 0;
	counters->code = entry->code;
	counters->general = entry->general;
	counters->fixed = entry->fixed;
	return 1;
}

static const struct {
	enum machine machine;
	struct counters counters;
} listed[] = {
	{ NEHALEM, { "instructions", 0xf, 1, 0xc0 } },
	{ NEHALEM, { "ref-cycles", 0, 4, 0x300 } },
	{ NEHALEM, { "UNHALTED_REFERENCE_CYCLES", 0, 4, 0x300 } },
	{ NEHALEM, { "L1D_CACHE_LD", 3, 0, 0x40 } },
	{ NEHALEM, { "INST_RETIRED", 0xf, 1, 0xc0 } },
	{ NEHALEM, { "MEM_INST_RETIRED:LOADS", 0xf, 0, 0x100 } },
	{ P6, { "L2_RQSTS:M", 3, 0, 0x800 } },
	{ P6, { "DIV", 2, 0, 0x13 } },
	{ P4, { "memory_cancel", 0xf00, 0, 0 } },
	{ P4, { "BSQ_active_entries", 0xc, 0, 0 } },
};

START_TEST(counters_are_listed)
{
	struct counters counters = { .name = listed[_i].counters.name };

	ck_assert_int_eq(perfctr_events_list_once(be_machine(listed[_i].machine), NULL, look,
						  &counters),
			 1);
	ck_assert_uint_eq(counters.general, listed[_i].counters.general);
	ck_assert_uint_eq(counters.fixed, listed[_i].counters.fixed);
	ck_assert_uint_eq(counters.code, listed[_i].counters.code);
}
END_TEST

static int stop(const struct perfctr_event_entry *entry, void *arg)
{
	(void)entry;
	++*(int *)arg;
	return 42;
}

START_TEST(a_visitor_can_stop)
{
	int n = 0;

	ck_assert_int_eq(perfctr_events_list_once(be_machine(NEHALEM), NULL, stop, &n), 42);
	ck_assert_int_eq(n, 1);
}
END_TEST

TCase *names_listed_tests(void)
{
	TCase *tests = tcase_create("names-listed");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, tables_are_complete, 0, ARRAY_SIZE(tables));
	tcase_add_loop_test(tests, listed_events_are_understood, NEHALEM, SAPPHIRE_RAPIDS + 1);
	tcase_add_test(tests, a_pattern_selects_names);
	tcase_add_loop_test(tests, counters_are_listed, 0, ARRAY_SIZE(listed));
	tcase_add_test(tests, a_visitor_can_stop);
	return tests;
}
