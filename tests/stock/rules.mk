# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of library and perfex on Debian's own kernel, without the patch. The program lies in the directory of
# tests/guest, whose programs it counts.

STOCK_TESTS := $(GUEST)/stock-tests
STOCK_OBJECTS := $(patsubst tests/stock/%.c,$(BUILD)/tests/stock/%.o,$(wildcard tests/stock/*.c))

ALL += $(STOCK_TESTS)
CHECKS += check-stock
LONG_CHECKS += check-stock-6.1
FREE_RUNNING += check-stock check-stock-6.1

$(BUILD)/tests/stock/%.o: tests/stock/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -MMD -MP -c -o $@ $<

$(STOCK_TESTS): $(STOCK_OBJECTS) $(BUILD)/tests/backend/handles.o $(BUILD)/tests/bpf/work.o $(GUEST)/guest.o \
		$(GUEST)/callers.o $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

.PHONY: check-stock check-stock-6.1
check-stock check-stock-6.1: $(STOCK_TESTS) $(GUEST)/backend-tests $(GUEST_PROGRAMS) $(PERFEX)
# check-backend runs the contract of backends on this one, too.
check-stock:
	@KERNEL=debian-6.12 $(AS_BEFORE) --with $(GUEST) --with $(PERFEX) -- \
		tests/stock/run witness contexts command refusals no_pmu
check-stock-6.1:
	@tests/stock/run

-include $(STOCK_OBJECTS:.o=.d)
