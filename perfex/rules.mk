# SPDX-License-Identifier: GPL-2.0-or-later
# perfex, with the library inside: it runs from anywhere.

PERFEX := $(BUILD)/bin/perfex
PERFEX_OBJECTS := $(patsubst perfex/%.c,$(BUILD)/perfex/%.o,$(wildcard perfex/*.c perfex/*/*.c))
# Static where perfex must not depend on what is installed.
PERFEX_LIBS := $(LIB_STATIC_LIBS) -l:libjson-c.a -l:libyaml.a -lm
PERFEX_CFLAGS := -DPERFCTR_GROUPS_DIRECTORY='"$(PREFIX)/share/perfctr/groups"' \
	-DPERFCTR_PROCESSORS_DIRECTORY='"$(PREFIX)/share/perfctr/processors"'

ALL += $(PERFEX)
INSTALL_TARGETS += install-perfex

$(BUILD)/perfex/%.o: perfex/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(PERFEX_CFLAGS) -MMD -MP -c -o $@ $<

$(PERFEX): $(PERFEX_OBJECTS) $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PERFEX_LIBS)

# They are included by the assembler, which the compiler does not tell.
$(BUILD)/perfex/groups/groups.o $(BUILD)/sanitized/perfex/groups/groups.o: $(wildcard perfex/groups/*.group)

.PHONY: install-perfex
install-perfex: $(PERFEX)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PERFEX) $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 644 perfex/perfex.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/perfex

-include $(PERFEX_OBJECTS:.o=.d)
