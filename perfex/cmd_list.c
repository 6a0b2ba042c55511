// SPDX-License-Identifier: GPL-2.0-or-later
/* perfex list: shows the events that can be counted. */
#include "groups/groups.h"
#include "rules/rules.h"
#include "rules/times.h"
#include "selection.h"
#include "textfile.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct list {
	struct options selection;
	enum { EVENTS, GROUPS, PROCESSORS } shown;
	const char *shown_name;	 /* name of the option that says so; NULL: events */
	bool details, two_words; /* two_words: an event is two registers, which have no one code */
	const char *wanted;	 /* for print_wanted() and print_described() */
	bool is_name;		 /* wanted is a whole name, no pattern of unit masks */
	bool is_described;	 /* does only the description of the last event match? */
	uint64_t code;		 /* of the last event */
	size_t n;
};

/* Prints the counters of an event as in the tables: "0-3,f0", or "-" if there are none. */
static void print_counters(const struct perfctr_event_entry *entry)
{
	const struct {
		uint64_t mask;
		const char *prefix;
	} sets[] = { { entry->general, "" }, { entry->fixed, "f" } };
	const char *comma = "";

	for (size_t i = 0; i < 2; i++) {
		for (int first = 0; first < 64; first++) {
			int last = first;

			if (!(sets[i].mask >> first & 1))
				continue;
			while (last < 63 && sets[i].mask >> (last + 1) & 1)
				last++;
			printf("%s%s%d", comma, sets[i].prefix, first);
			if (last > first)
				printf("-%d", last);
			comma = ",";
			first = last;
		}
	}
	if (!*comma)
		putchar('-');
}

/*
 * Writes a description behind column characters.  A terminal gets lines of 80 columns; elsewhere
 * each description has one line, for grep(1).
 */
static void put_description(int column, int indent, const char *text)
{
	if (isatty(STDOUT_FILENO))
		write_words(stdout, text, strlen(text), (size_t)column, (size_t)indent);
	else
		printf("%*s%s\n", column < indent ? indent - column : 0, "", text);
}

static void print_details(const struct list *list, const struct perfctr_event_entry *entry)
{
	static const char *const kinds[] = { "unknown", "occurrence", "duration" };
	int column;

	if (entry->umask) {
		column = printf("    :%-24s", entry->umask);
		if (!list->two_words)
			column += printf(" 0x%04llx", (unsigned long long)entry->code);
		put_description(column, column + 2, entry->description);
		return;
	}
	printf("%s\n", entry->name);
	put_description(0, 4, entry->description);
	fputs("    ", stdout);
	if (entry->general || entry->fixed) {
		if (entry->code || !list->two_words)
			printf("code 0x%02llx, ", (unsigned long long)entry->code);
		printf("counters ");
		print_counters(entry);
		printf(", %s, ", kinds[entry->duration + 1]);
		if (entry->further)
			printf("register %s (not set), ", entry->further);
	}
	printf("%s\n", entry->source);
}

static int print_event(const struct perfctr_event_entry *entry, void *arg)
{
	struct list *list = arg;

	if (list->details)
		print_details(list, entry);
	else if (!entry->umask)
		put_description(printf("%-32s ", entry->name), 33, entry->description);
	list->n++;
	return 0;
}

/*
 * Prints the event or unit mask that has the wanted name, or the unit masks that match the wanted
 * pattern: a unit mask as "EVENT:UMASK", with the code of both.
 */
static int print_wanted(const struct perfctr_event_entry *entry, void *arg)
{
	struct list *list = arg;
	struct perfctr_event_entry whole = *entry;
	const char *umask = entry->umask;
	char *name = text_print("%s%s%s", entry->name, umask ? ":" : "", umask ? umask : "");

	if (!umask)
		list->code = entry->code;
	whole.name = name;
	whole.umask = NULL;
	whole.code |= list->code;
	if (list->is_name ? strcasecmp(name, list->wanted) == 0
			  : umask && either_matches(list->wanted, umask, name))
		print_event(&whole, list);
	free(name);
	return 0;
}

/*
 * Lists what a pattern means that is in no event's name: unit masks, or else the event with
 * modifiers, which are left out one after the other.
 */
static void list_parts(struct list *list, const char *pattern)
{
	struct perfctr_events *database = list->selection.database;
	char *name = text_print("%s", pattern), *colon, error[512];
	struct perfctr_request request;

	list->wanted = name;
	perfctr_events_list(database, NULL, print_wanted, list);
	list->is_name = perfctr_events_parse(database, pattern, PERFCTR_MODE_USER, &request, error,
					     sizeof(error)) == 0;
	while (!list->n && list->is_name && (colon = strrchr(name, ':'))) {
		*colon = '\0';
		perfctr_events_list(database, NULL, print_wanted, list);
	}
	free(name);
}

/* Prints the events of which only the description matches, with their unit masks. */
static int print_described(const struct perfctr_event_entry *entry, void *arg)
{
	struct list *list = arg;

	if (!entry->umask)
		list->is_described = !text_matches(list->wanted, entry->name) &&
				     text_matches(list->wanted, entry->description);
	return list->is_described ? print_event(entry, list) : 0;
}

static void list_described(struct list *list, const char *pattern)
{
	list->wanted = pattern;
	perfctr_events_list(list->selection.database, NULL, print_described, list);
}

static int is_of_linux(const struct perfctr_event_entry *entry, void *unused)
{
	return strncmp(entry->source, "Linux ", strlen("Linux ")) == 0;
}

/*
 * Complains if the names are missing that perf list shows for this processor, and tells how to get
 * them.  Only perfex list complains: other names work without them.
 */
static void tell_missing(struct perfctr_events *database)
{
	bool of_perf =
		perfctr_events_is_pmu(database, "arch") || perfctr_events_is_pmu(database, "amd");

	if (of_perf && perfctr_events_list(database, NULL, is_of_linux, NULL) == 0)
		complain("the kernel's names of this processor's events are not here; "
			 "where its source has them, 'make linux-events' makes a table");
}

static int list_events(struct list *list, const char *pattern)
{
	struct perfctr_events *database;
	struct perfctr_request request;
	char error[512];

	if (!open_selected_pmu(&list->selection))
		return EXIT_PERFEX;
	database = list->selection.database;
	list->two_words = perfctr_events_info(database)->evntsel2_allowed;
	if (perfctr_events_list(database, pattern, print_event, list) < 0) {
		/* Parsing any name fails too, and sets error to the reason. */
		perfctr_events_parse(database, "instructions", PERFCTR_MODE_USER, &request, error,
				     sizeof(error));
		complain("%s", error);
		return EXIT_PERFEX;
	}
	if (!list->n && pattern)
		list_parts(list, pattern);
	if (pattern)
		list_described(list, pattern);
	if (!list->selection.pmu)
		tell_missing(database);
	if (!list->n) {
		complain("no event has '%s' in its name or description; perfex list shows all",
			 pattern);
		return 1;
	}
	return 0;
}

/* Returns the first event of the rules that this machine lacks; NULL if it has all. */
static const char *missing_event(const struct rules *rules, struct perfctr_events *database)
{
	struct perfctr_request request;
	char error[512];
	const char *name;

	for (size_t i = 0; (name = rules_event(rules, i)); i++)
		if (*name && !is_time_name(name) &&
		    perfctr_events_parse(database, name, PERFCTR_MODE_USER, &request, error,
					 sizeof(error)) < 0)
			return name;
	return NULL;
}

static void print_group(const struct group *group, void *arg)
{
	struct list *list = arg;
	struct rules *rules = rules_new();
	struct text_error error;
	char *title = group_title(group);
	char *text = group_rules(group, list->selection.database);
	const char *missing = NULL;

	printf("%-14s %s", group->name, title);
	if (text && !(rules_add(rules, text, strlen(text), &error) && rules_link(rules, &error)))
		printf(" (%s:%u: %s)", group->source, error.line, error.text);
	else if (text)
		missing = missing_event(rules, list->selection.database);
	if (missing)
		printf(" (not here: no event %s)", missing);
	if (!text)
		printf(" (not here: other processors')");
	putchar('\n');
	rules_free(rules);
	free(text);
	free(title);
}

static int list_groups(struct list *list, const char *name)
{
	struct group group;

	if (!open_selected_pmu(&list->selection))
		return EXIT_PERFEX;
	if (!name) {
		groups_visit(print_group, list);
		return 0;
	}
	if (!group_find(name, &group))
		return 1;
	printf("# %s\n%s", group.source, group.text);
	group_free(&group);
	return 0;
}

int show_events(bool details)
{
	struct list list = { .details = details };
	int status = list_events(&list, NULL);

	free_options(&list.selection);
	return status;
}

static void print_processor(struct list *list, const char *pattern, const char *name,
			    const char *description)
{
	if (!either_matches(pattern, name, description))
		return;
	printf("%-24s %s\n", name, description);
	list->n++;
}

static int list_processors(struct list *list, const char *pattern)
{
	const char *name, *description;

	for (unsigned int i = 0; (name = perfctr_family_name(i)); i++)
		print_processor(list, pattern, name, "family of processors");
	for (unsigned int i = 0; (name = known_processor(i, &description)); i++)
		print_processor(list, pattern, name, description);
	if (list->n)
		return 0;
	complain("no processor has '%s' in its name or description; perfex list --processors shows "
		 "all",
		 pattern);
	return 1;
}

static const struct option_row rows[] = {
	FLAG_OPTION("long", 'l', "also show codes, counters, unit masks and sources", struct list,
		    details),
	CHOICE_OPTION("groups", 'g', "show groups of events, for perfex -g, or the file of GROUP",
		      struct list, shown, shown_name, GROUPS),
	CHOICE_OPTION("processors", 0,
		      "show the processors that --pmu knows, or those with PATTERN in their names\n"
		      "or descriptions",
		      struct list, shown, shown_name, PROCESSORS),
	PMU_OPTION(struct list, selection.pmu),
	{ 0 },
};

static int list_main(int argc, char **argv);

const struct subcommand list_subcommand = {
	.name = "list",
	.summary = "show the names of events",
	.main = list_main,
	.help = "Usage: perfex list [OPTION].. [PATTERN]\n"
		"       perfex list --groups [OPTION].. [GROUP]\n"
		"       perfex list --processors [PATTERN]\n"
		"Show the events that this machine can count: those whose names contain PATTERN,\n"
		"or match it if it has one of *?[; without regard to case.  If there are none, PATTERN\n"
		"may be in a unit mask, or in EVENT:UMASK, or be an event with modifiers.  Then show\n"
		"the events whose descriptions alone contain or match it.\n",
	.options = rows,
	.notes = "Names are those of tables, the user's own before perfctr's, and of libpfm4; see\n"
		 "perfctr_events(5).  Exit status: 1 when nothing matches.\n",
};

static void check_options(const struct list *list)
{
	if (list->shown != EVENTS && list->details)
		fail("--long is for events, not for --%s; leave it out", list->shown_name);
	if (list->shown == PROCESSORS && list->selection.pmu)
		fail("--processors shows what --pmu takes; leave --pmu out");
}

static int list_main(int argc, char **argv)
{
	static int (*const show[])(struct list *list, const char *pattern) = {
		[EVENTS] = list_events,
		[GROUPS] = list_groups,
		[PROCESSORS] = list_processors,
	};
	struct list list = { 0 };
	int status, n = take_options(&list_subcommand, &list, argc, argv);

	if (argc - n > 1)
		fail("perfex list takes one pattern, '%s' is another", argv[n + 1]);
	check_options(&list);
	status = show[list.shown](&list, argv[n]);
	free_options(&list.selection);
	return status;
}
