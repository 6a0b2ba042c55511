# SPDX-License-Identifier: GPL-2.0-or-later
# Tables that are compared by value with those of others.

CHECKS += check-tables
CHECK_PROGRAMS += $(BUILD)/tests/tables/encodings

$(BUILD)/tests/tables/encodings: tests/tables/encodings.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -o $@ $< -lpfm

.PHONY: check-tables
check-tables: $(BUILD)/tests/tables/encodings
	@$< tests/families/profiles
