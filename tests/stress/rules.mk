# SPDX-License-Identifier: GPL-2.0-or-later
# Counts random trees, marks, sessions and contexts, and compares the counts with those that a model computes. "make
# stress" runs SEEDS of them, from the seed SEED on.

STRESS := $(BUILD)/tests/stress
STRESS_OBJECTS := $(patsubst tests/stress/%.c,$(STRESS)/%.o,$(wildcard tests/stress/*.c))
STRESS_SHORT := 25
STRESS_LONG := 2000

ALL += $(STRESS)/stress $(STRESS)/worker
CHECKS += check-stress
LONG_CHECKS += check-stress-seeds check-stress-module
FREE_RUNNING += check-stress-seeds check-stress-module

$(STRESS)/%.o: tests/stress/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -D_GNU_SOURCE -MMD -MP -c -o $@ $<

$(STRESS)/stress: $(STRESS_OBJECTS) $(GUEST)/guest.o $(GUEST)/callers.o $(GUEST)/marks.o
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(shell pkg-config --libs check)

$(STRESS)/worker: tests/stress/worker.S tests/stress/steps.h
	@mkdir -p $(@D)
	$(GUEST_ASSEMBLE)

.PHONY: check-stress
check-stress: $(STRESS)/stress $(STRESS)/worker
	@DETERMINISTIC=1 tests/stress/run $(or $(SEED),1) $(STRESS_SHORT)

# Runs other seeds each day.
.PHONY: check-stress-seeds check-stress-module
check-stress-seeds check-stress-module: $(STRESS)/stress $(STRESS)/worker
check-stress-seeds:
	@tests/stress/run $(or $(SEED),$(shell date +%Y%m%d)) $(or $(SEEDS),500)
check-stress-module:
	@KERNEL=debian-6.12 MODULE=1 tests/stress/run $(or $(SEED),$(shell date +%Y%m%d)) $(or $(SEEDS),100)

.PHONY: stress
stress: all machine ## compare counts of random programs with a model, for an hour: SEED=n, SEEDS=n
	@tests/stress/run $(or $(SEED),1) $(or $(SEEDS),$(STRESS_LONG))

-include $(STRESS_OBJECTS:.o=.d)
