# SPDX-License-Identifier: GPL-2.0-or-later
# Compares the values of tables with those of other projects.

CHECKS += check-tables check-linux-events check-cache-names check-perf-options
CHECK_PROGRAMS += $(BUILD)/tests/tables/encodings

$(BUILD)/tests/tables/encodings: tests/tables/encodings.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -o $@ $< -lpfm

.PHONY: check-tables
check-tables: $(BUILD)/tests/tables/encodings
	@$< tests/families/profiles

.PHONY: check-linux-events
check-linux-events: $(PERFEX) $(LIB_SHARED) $(LINUX_EVENTS)/index
	@tests/tables/linux-events "$$(scripts/build-kernel --unpatched --source | tail -n 1)" $(PERFEX) $(LIB_SHARED)

.PHONY: check-cache-names
check-cache-names: $(PERFEX)
	@tests/tables/cache-names "$$(scripts/build-kernel --unpatched --source | tail -n 1)" $(PERFEX)

.PHONY: check-perf-options
check-perf-options: $(PERFEX)
	@tests/tables/perf-options "$$(scripts/build-kernel --unpatched --source | tail -n 1)" $(PERFEX)
