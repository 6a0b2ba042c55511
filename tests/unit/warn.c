// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of which a run warns, because perfex validate once found them wrong on such a processor. */
#include "../../perfex/result/processor.h"
#include "../../perfex/run/run.h"
#include "command.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FILE_OF(complete)                                                                          \
	"{\"schema\":\"perfex-validation\",\"version\":1,\"complete\":" complete                   \
	",\"events\":[{\"name\":\"n\",\"modes\":\"user\",\"registers\":\"0x004100c4\","            \
	"\"meaning\":\"branches\",\"found\":false,\"class\":\"multiplicative\","                   \
	"\"verdict\":\"counts half\",\"a\":0,\"b\":0.5}]}"
#define SAID "event 'n' is not to be trusted on this processor: of branches it counts half"

static const struct perfctr_request found = { .evntsel = 0x4100c4,
					      .modes = PERFCTR_MODE_USER,
					      .general = 1 };

static void expect_warning(struct perfctr_request request, bool wanted)
{
	const struct perfctr_pmu_info info = { .size = sizeof(info) };
	struct event event = { .request = request, .name = "n" };
	const struct events events = { .event = &event, .n = 1 };
	FILE *said = fopen("said", "w+");
	char text[512];
	size_t n;
	int before = dup(2);

	ck_assert(said && before >= 0);
	dup2(fileno(said), 2);
	look_up_events(".", &events, &info);
	dup2(before, 2);
	close(before);
	rewind(said);
	n = fread(text, 1, sizeof(text) - 1, said);
	text[n] = '\0';
	fclose(said);
	ck_assert_msg(wanted ? strstr(text, SAID) != NULL : !n, "%s", text);
}

static void write_found(const char *text)
{
	char name[128];

	processor_file_name(name, sizeof(name));
	write_text(name, text);
}

START_TEST(what_was_found_is_said_of_the_same_event)
{
	struct perfctr_request other = found;

	write_found(FILE_OF("true"));
	expect_warning(found, true);
	other.evntsel = 0x4100c5;
	expect_warning(other, false);
}
END_TEST

START_TEST(a_validation_that_was_cut_short_warns_of_nothing)
{
	write_found(FILE_OF("false"));
	expect_warning(found, false);
	write_found(FILE_OF("null"));
	expect_warning(found, false);
}
END_TEST

/* With the same registers, an event of another kind of core, or of tagged replays, is another event. */
START_TEST(registers_that_are_not_the_whole_event_are_not_warned_of)
{
	struct perfctr_request of_a_kind = found, tagged = found;

	write_found(FILE_OF("true"));
	of_a_kind.kinds = 2;
	expect_warning(of_a_kind, false);
	tagged.p4_pebs_enable = 1;
	expect_warning(tagged, false);
}
END_TEST

TCase *warn_tests(void)
{
	TCase *tests = tcase_create("warn");

	tcase_add_checked_fixture(tests, enter_directory, leave_directory);
	tcase_add_test(tests, what_was_found_is_said_of_the_same_event);
	tcase_add_test(tests, a_validation_that_was_cut_short_warns_of_nothing);
	tcase_add_test(tests, registers_that_are_not_the_whole_event_are_not_warned_of);
	return tests;
}
