# SPDX-License-Identifier: GPL-2.0-or-later
# perfex contains libperfctr, so that it runs in every directory. With LINK=shared it uses the shared library.

PERFEX := $(BUILD)/bin/perfex
# These sources are only for perfex of 64 bits: "validate" contains 64-bit assembly, and "scope" needs ncurses. perfex
# of 32 bits has a file instead of each, which says that the subcommand is missing.
PERFEX_SOURCES_64 := perfex/tools/cmd_validate.c perfex/tools/machine/check_events.c \
	$(wildcard perfex/tools/validate/*.c) perfex/cmd_scope.c $(wildcard perfex/scope/*.c)
# perfex finds the source lines of samples by libdw, if the linker can link it. A part is missing in the libdw.a of
# Debian 13, but not in its shared libdw.
LIBDW := $(if $(filter shared,$(LINK)),-ldw -lelf,-l:libdw.a -l:libelf.a -l:libz.a)
HAS_LIBDW := $(shell printf 'int main(void) { extern int dwarf_begin_elf(); return dwarf_begin_elf(); }' | \
	$(CC) $(if $(filter shared,$(LINK)),,-static) -xc -o /dev/null - -xnone $(LIBDW) 2>/dev/null && echo yes)
# perfex demangles names of C++ and Rust by libiberty, if the linker can link it.
HAS_LIBIBERTY := $(shell printf 'int main(void) { extern char *cplus_demangle(); return !cplus_demangle("x", 0); }' | \
	$(CC) $(if $(filter shared,$(LINK)),,-static) -xc -o /dev/null - -xnone -l:libiberty.a 2>/dev/null && echo yes)
PERFEX_SOURCES_64 += perfex/tools/samples/lines_dw.c perfex/tools/samples/names_iberty.c
PERFEX_SOURCES_32 := perfex/tools/cmd_validate_32.c perfex/cmd_scope_32.c perfex/tools/samples/lines_none.c \
	perfex/tools/samples/names_none.c
PERFEX_SOURCES := $(filter-out $(PERFEX_SOURCES_32),$(wildcard perfex/*.c perfex/*/*.c perfex/*/*/*.c))
ifeq ($(HAS_LIBDW),)
PERFEX_SOURCES := $(filter-out perfex/tools/samples/lines_dw.c,$(PERFEX_SOURCES)) perfex/tools/samples/lines_none.c
endif
ifeq ($(HAS_LIBIBERTY),)
PERFEX_SOURCES := $(filter-out perfex/tools/samples/names_iberty.c,$(PERFEX_SOURCES)) perfex/tools/samples/names_none.c
endif
# The kernel maps pages around those that are executed: what perfex run does not need is linked behind the rest.
PERFEX_APART := $(filter-out perfex/cmd_run.c,$(wildcard perfex/cmd_*.c)) \
	$(addprefix perfex/,exact/% result/% rotate/% run/together.c sample/% scope/% session/% tools/%)
PERFEX_SOURCES := $(filter-out $(PERFEX_APART),$(PERFEX_SOURCES)) $(filter $(PERFEX_APART),$(PERFEX_SOURCES))
PERFEX_OBJECTS := $(PERFEX_SOURCES:perfex/%.c=$(BUILD)/perfex/%.o)
# perfex is static, at a fixed address. Otherwise the loader and relocations would take most of the instructions when
# perfex starts. A static perfex also runs in any container. On a host without a static C library, "make PERFEX_STATIC="
# links with the shared one.
PERFEX_STATIC ?= -static
PERFEX_LIBS := $(LIB_STATIC_LIBS) -l:libjson-c.a -l:libyaml.a -l:libncursesw.a -l:libtinfo.a \
	$(if $(HAS_LIBDW),$(LIBDW)) $(if $(HAS_LIBIBERTY),-l:libiberty.a) -lm
PERFEX_LINKED_LIBS := $(if $(filter shared,$(LINK)),-Wl$(comma)--as-needed -ljson-c -lyaml -lncursesw -ltinfo \
	$(if $(HAS_LIBDW),$(LIBDW)) $(if $(HAS_LIBIBERTY),-l:libiberty.a) -lm,$(PERFEX_LIBS))
# Code and constants share one segment: the kernel maps less, and perfex starts with 18,000 instructions less.
PERFEX_LINK := $(if $(filter shared,$(LINK)),,-no-pie -Wl,-z,noseparate-code $(PERFEX_STATIC))
PERFEX_CFLAGS := -DPERFCTR_GROUPS_DIRECTORY='"$(PREFIX)/share/perfctr/groups"' \
	-DPERFCTR_PROCESSORS_DIRECTORY='"$(PREFIX)/share/perfctr/processors"'

PROGRAMS += $(PERFEX)
INSTALL_TARGETS += install-perfex

$(BUILD)/perfex/%.o: perfex/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(PERFEX_CFLAGS) -MMD -MP -c -o $@ $<

$(PERFEX): $(PERFEX_OBJECTS) $(LIB_LINKED)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(PERFEX_LINK) $(LDFLAGS) -o $@ $^ $(PERFEX_LINKED_LIBS)

# perfex for 32-bit machines is static, because the host's shared libraries have 64 bits.
PERFEX_32 := $(BUILD)/bin32/perfex
PERFEX_OBJECTS_32 := $(patsubst perfex/%.c,$(BUILD)/perfex32/%.o, \
	$(sort $(filter-out $(PERFEX_SOURCES_64),$(PERFEX_SOURCES)) $(PERFEX_SOURCES_32)))

$(BUILD)/perfex32/%.o: perfex/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(PERFEX_CFLAGS) -m32 -MMD -MP -c -o $@ $<

$(PERFEX_32): $(PERFEX_OBJECTS_32) $(LIB_STATIC_32) $(LIB_DEBIAN_32)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -m32 -static -o $@ $^ -lm

.PHONY: perfex
perfex: $(PERFEX) ## build perfex alone, build/bin/perfex

.PHONY: perfex32
perfex32: $(PERFEX_32) ## build perfex for 32-bit machines, build/bin32/perfex: scripts/vm --cpu p5 -- perfex ...

# The assembler includes these files with .incbin: the dependency files of the compiler do not list them.
$(addprefix $(BUILD)/,perfex/groups/groups.o perfex32/groups/groups.o sanitized/perfex/groups/groups.o): \
		$(wildcard perfex/groups/*.group)

.PHONY: install-perfex
install-perfex: $(PERFEX)
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 755 $(PERFEX) $(DESTDIR)$(PREFIX)/bin
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -m 644 perfex/perfex.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/perfex
	install -D -m 644 packaging/cdi/perfctr.json $(DESTDIR)$(PREFIX)/share/perfctr/cdi/perfctr.json
	install -D -m 644 packaging/udev/60-perfctr.rules $(DESTDIR)$(PREFIX)/share/perfctr/udev/60-perfctr.rules

-include $(PERFEX_OBJECTS:.o=.d) $(PERFEX_OBJECTS_32:.o=.d)
