/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings as texts that are put together from parts, for the tests of programs that read them. */
#ifndef RECORDINGS_H
#define RECORDINGS_H

#define COUNTS(counts)	"\"counts\":[" counts "],\"mean\":null,\"stddev\":null,\"low\":null," \
	"\"high\":null,\"min\":null,\"max\":null"
#define EVENT(name, modes, pass, counts)                                                           \
	"{\"name\":\"" name "\",\"evntsel\":\"0x4100c0\",\"evntsel2\":\"0x0\",\"counter\":0,"      \
	"\"modes\":\"" modes "\",\"pass\":" pass "," COUNTS(counts) "}"
#define RULE(name, definition) \
	"{\"name\":\"" name "\",\"definition\":\"" definition "\",\"mean\":null,\"low\":null," \
	"\"high\":null,\"why\":\"0/0\"}"
#define PASS(number, tsc, elapsed) \
	"{\"pass\":" number ",\"tsc\":{" COUNTS(tsc) "},\"elapsed_ns\":{" COUNTS(elapsed) "}}"
#define RECORDING(view, tsc, elapsed, events, rules) \
	RECORDING_PASSES(view, PASS("0", tsc, elapsed), events, rules)
#define RECORDING_PASSES(view, passes, events, rules) \
	"{\"schema\":\"perfex-run\",\"version\":2,\"command\":[\"loop\",\"1000\"]," \
	"\"directory\":\"/\",\"date\":\"2026-11-20T09:00:00Z\",\"perfex\":\"0.1.0\"," \
	"\"pmu\":\"Intel architectural PerfMon v2\",\"view\":\"" view "\",\"confidence\":95," \
	"\"tsc_khz\":1,\"warmup\":0,\"passes\":1,\"runs\":1,\"exit_status\":0,\"signal\":null," \
	"\"time\":[" passes "],\"events\":[" events "],\"derived\":[" rules "]," \
	"\"members\":[],\"intervals\":0,\"consistent\":true,\"running\":0,\"lost\":0}\n"
#define INTERVAL \
	"{\"schema\":\"perfex-interval\",\"version\":2,\"run\":0,\"pass\":0," \
	"\"time_ns\":5,\"tsc\":7,\"events\":[]}\n"

#endif
