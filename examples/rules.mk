# SPDX-License-Identifier: GPL-2.0-or-later

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

ALL += $(EXAMPLES)
INSTALL_TARGETS += install-examples

$(BUILD)/examples/%: examples/%.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread -MMD -MP -o $@ $< $(LIB_STATIC) $(LIB_STATIC_LIBS)

.PHONY: install-examples
install-examples:
	install -d $(DESTDIR)$(PREFIX)/share/perfctr/examples
	install -m 644 $(filter-out %.mk,$(wildcard examples/*)) $(DESTDIR)$(PREFIX)/share/perfctr/examples

-include $(EXAMPLES:=.d)
