# SPDX-License-Identifier: GPL-2.0-or-later

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

ALL += $(EXAMPLES)

$(BUILD)/examples/%: examples/%.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -MMD -MP -o $@ $< $(LIB_STATIC)

-include $(EXAMPLES:=.d)
