# SPDX-License-Identifier: GPL-2.0-or-later
# The cost of everything, beside perf_events and beside nothing.

BENCH := $(BUILD)/bench/bench
BENCH_OBJECTS := $(patsubst tests/bench/%.c,$(BUILD)/bench/%.o,$(wildcard tests/bench/*.c))

ALL += $(BENCH)
CHECKS += check-bench

# Optimised whatever CFLAGS say: inline reads are measured.
$(BUILD)/bench/%.o: tests/bench/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(BENCH): $(BENCH_OBJECTS) $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS)

# On the same packages it finds no difference.
.PHONY: performance-diff
performance-diff: bench
	tests/bench/report page $(BUILD)/bench/all | diff -u docs/performance.md -

.PHONY: check-bench
check-bench: $(BENCH) $(PERFEX)
	@tests/bench/run --bars

-include $(BENCH_OBJECTS:.o=.d)
