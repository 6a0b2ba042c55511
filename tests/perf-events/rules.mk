# SPDX-License-Identifier: GPL-2.0-or-later
# Tests the perf_events backend on this machine itself, if its kernel allows perf_event_open(2).

PERF_EVENTS_TESTS := $(BUILD)/tests/perf-events/perf-events-tests

ALL += $(PERF_EVENTS_TESTS)
LONG_CHECKS += check-perf-events
FREE_RUNNING += check-perf-events

$(PERF_EVENTS_TESTS): tests/perf-events/perf_events.c tests/perf-events/perfex.c tests/perf-events/perfex.h \
		$(BUILD)/tests/backend/handles.o $(BUILD)/tests/bpf/work.o $(GUEST)/guest.o $(GUEST)/callers.o \
		$(GUEST)/perfex_shell.o $(LIB_STATIC) include/perfctr.h include/perfctr_sessions.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -D_GNU_SOURCE -o $@ $(filter %.c %.o,$^) $(LIB_STATIC) $(LIB_STATIC_LIBS) \
		$(shell pkg-config --libs check)

.PHONY: check-perf-events
check-perf-events: $(PERF_EVENTS_TESTS) $(PERFEX)
	PATH=$(CURDIR)/$(dir $(PERFEX)):$$PATH $(PERF_EVENTS_TESTS)
