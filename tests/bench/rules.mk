# SPDX-License-Identifier: GPL-2.0-or-later
# The costs of perfctr, compared with perf_events and with no counting.

BENCH := $(BUILD)/bench/bench
BENCH_OBJECTS := $(patsubst tests/bench/%.c,$(BUILD)/bench/%.o,$(wildcard tests/bench/*.c))

ALL += $(BENCH)
CHECKS += check-bench
LONG_CHECKS += bench

# -O2 comes after CFLAGS, and so prevails: the benchmarks measure inline reads.
$(BUILD)/bench/%.o: tests/bench/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(BENCH): $(BENCH_OBJECTS) $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS)

# Compares docs/performance.md with a new measurement. With the same packages there is no difference.
.PHONY: performance-diff
performance-diff: bench
	tests/bench/report page $(BUILD)/bench/all | diff -u docs/performance.md -

.PHONY: check-bench
check-bench: $(BENCH) $(PERFEX)
	@tests/bench/run --bars

-include $(BENCH_OBJECTS:.o=.d)
