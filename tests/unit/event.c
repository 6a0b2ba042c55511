// SPDX-License-Identifier: GPL-2.0-or-later
/* Event specifications that are accepted, and the messages for those that are refused. */
#include "unit.h"

#include <errno.h>
#include <perfctr.h>
#include <string.h>

static const struct {
	const char *spec;
	uint64_t evntsel, evntsel2;
	uint32_t counter;
} valid[] = {
	{ "0x4100c0", 0x4100c0, 0, PERFCTR_ANY },
	{ "0X4100C0", 0x4100c0, 0, PERFCTR_ANY },
	{ "0x0", 0, 0, PERFCTR_ANY },
	{ "0xffffffffffffffff", UINT64_MAX, 0, PERFCTR_ANY },
	{ "0x000000000000000000001", 1, 0, PERFCTR_ANY },
	{ "0x4100c0@0", 0x4100c0, 0, 0 },
	{ "0x4100c0@9", 0x4100c0, 0, 9 },
	{ "0x4100c0@0xa", 0x4100c0, 0, 10 },
	{ "0x4100c0@10", 0x4100c0, 0, 10 },
	{ "0x4100c0@07", 0x4100c0, 0, 7 },
	{ "0x430000@1073741825", 0x430000, 0, PERFCTR_FIXED + 1 },
	{ "0x430000@0x40000001", 0x430000, 0, PERFCTR_FIXED + 1 },
	{ "0x39000/0x4000204", 0x39000, 0x4000204, PERFCTR_ANY },
	{ "0x39000/0x4000204@0x8000000c", 0x39000, 0x4000204, 0x8000000c },
	{ "0x4100c0/0x0@1", 0x4100c0, 0, 1 },
};

START_TEST(valid_specifications_are_read)
{
	struct perfctr_event_control event = { .flags = 1 };
	char error[200] = "";

	ck_assert_msg(perfctr_evntsel_parse(valid[_i].spec, &event, error, sizeof(error)) == 0,
		      "%s: %s", valid[_i].spec, error);
	ck_assert_uint_eq(event.evntsel, valid[_i].evntsel);
	ck_assert_uint_eq(event.evntsel2, valid[_i].evntsel2);
	ck_assert_uint_eq(event.counter, valid[_i].counter);
	ck_assert_uint_eq(event.flags, 0);
}
END_TEST

#define AMBIGUOUS(part, number)                                                                    \
	part " '" number "' could be hexadecimal or decimal; write 0x" number " for hexadecimal"
#define NOT_HEX(part, number) part " '" number "' is not a hexadecimal number like 0x4100c0"
#define EMPTY(part) part " is empty; give it as 0x..."
#define TOO_LONG(part, number, bits) part " '" number "' does not fit in " bits " bits"

static const struct {
	const char *spec, *error;
} invalid[] = {
	{ "", EMPTY("evntsel") },
	{ "@0", EMPTY("evntsel") },
	{ "/0x1", EMPTY("evntsel") },
	{ "0x1/", EMPTY("evntsel2") },
	{ "0x1/@0", EMPTY("evntsel2") },
	{ "0x1@", EMPTY("counter number") },
	{ "4100c0", AMBIGUOUS("evntsel", "4100c0") },
	{ "10", AMBIGUOUS("evntsel", "10") },
	{ "5", AMBIGUOUS("evntsel", "5") },
	{ "cafe", AMBIGUOUS("evntsel", "cafe") },
	{ "0x1/10", AMBIGUOUS("evntsel2", "10") },
	{ "0x1@a", AMBIGUOUS("counter number", "a") },
	{ "0x", NOT_HEX("evntsel", "0x") },
	{ "0xg", NOT_HEX("evntsel", "0xg") },
	{ "0x4100c0 ", NOT_HEX("evntsel", "0x4100c0 ") },
	{ " 0x4100c0", NOT_HEX("evntsel", " 0x4100c0") },
	{ "0x4100c0,", NOT_HEX("evntsel", "0x4100c0,") },
	{ "0x+1", NOT_HEX("evntsel", "0x+1") },
	{ "-0x1", NOT_HEX("evntsel", "-0x1") },
	{ "instructions:u", NOT_HEX("evntsel", "instructions:u") },
	{ "0x1/0x2/0x3", NOT_HEX("evntsel2", "0x2/0x3") },
	{ "0x1@0@1", NOT_HEX("counter number", "0@1") },
	{ "0x1@0/0x2", NOT_HEX("counter number", "0/0x2") },
	{ "0x1@-1", NOT_HEX("counter number", "-1") },
	{ "0x10000000000000000", TOO_LONG("evntsel", "0x10000000000000000", "64") },
	{ "0x1/0x10000000000000000", TOO_LONG("evntsel2", "0x10000000000000000", "64") },
	{ "0x1@4294967296", TOO_LONG("counter number", "4294967296", "32") },
	{ "0x1@99999999999999999999999",
	  TOO_LONG("counter number", "99999999999999999999999", "32") },
	{ "0x1@0x100000000", TOO_LONG("counter number", "0x100000000", "32") },
	{ "0x1@0xffffffff",
	  "counter number '0xffffffff' is not one; leave out '@0xffffffff' for any" },
};

START_TEST(invalid_specifications_are_refused_in_words)
{
	struct perfctr_event_control event, untouched;
	char error[200] = "";

	memset(&event, 0x5a, sizeof(event));
	untouched = event;
	errno = 0;
	ck_assert_msg(perfctr_evntsel_parse(invalid[_i].spec, &event, error, sizeof(error)) == -1,
		      "'%s' was accepted", invalid[_i].spec);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(error, invalid[_i].error);
	ck_assert_mem_eq(&event, &untouched, sizeof(event));
}
END_TEST

START_TEST(a_short_buffer_cuts_the_words)
{
	struct perfctr_event_control event;
	char error[8];

	ck_assert_int_eq(perfctr_evntsel_parse("", &event, error, sizeof(error)), -1);
	ck_assert_str_eq(error, "evntsel");
}
END_TEST

static const struct {
	struct perfctr_event_control event;
	const char *text;
} formatted[] = {
	{ { .evntsel = 0x4100c0, .counter = 0 }, "0x004100c0@0" },
	{ { .evntsel = 0x4100c0, .counter = PERFCTR_ANY }, "0x004100c0" },
	{ { .evntsel = 0x430000, .counter = PERFCTR_FIXED }, "0x00430000@0x40000000" },
	{ { .evntsel = 0, .counter = 10 }, "0x00000000@0xa" },
	{ { .evntsel = 0x39000, .evntsel2 = 0x4000204, .counter = 0x8000000c },
	  "0x00039000/0x04000204@0x8000000c" },
	{ { .evntsel = UINT64_MAX, .evntsel2 = UINT64_MAX, .counter = 0xfffffffe },
	  "0xffffffffffffffff/0xffffffffffffffff@0xfffffffe" },
};

START_TEST(events_are_written_as_they_are_read)
{
	struct perfctr_event_control event;
	char text[PERFCTR_EVNTSEL_TEXT + 2], error[200];

	ck_assert_int_eq(perfctr_evntsel_format(&formatted[_i].event, text, sizeof(text)),
			 (int)strlen(formatted[_i].text));
	ck_assert_str_eq(text, formatted[_i].text);
	ck_assert_int_eq(perfctr_evntsel_parse(text, &event, error, sizeof(error)), 0);
	ck_assert_mem_eq(&event, &formatted[_i].event, sizeof(event));
	ck_assert_uint_lt(strlen(text), PERFCTR_EVNTSEL_TEXT);
}
END_TEST

TCase *event_tests(void)
{
	TCase *tests = tcase_create("event");

	tcase_add_loop_test(tests, valid_specifications_are_read, 0, ARRAY_SIZE(valid));
	tcase_add_loop_test(tests, invalid_specifications_are_refused_in_words, 0,
			    ARRAY_SIZE(invalid));
	tcase_add_test(tests, a_short_buffer_cuts_the_words);
	tcase_add_loop_test(tests, events_are_written_as_they_are_read, 0, ARRAY_SIZE(formatted));
	return tests;
}
