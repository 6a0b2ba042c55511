# SPDX-License-Identifier: GPL-2.0-or-later

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

ALL += $(EXAMPLES)

$(BUILD)/examples/%: examples/%.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread -MMD -MP -o $@ $< $(LIB_STATIC) $(LIB_STATIC_LIBS)

-include $(EXAMPLES:=.d)
