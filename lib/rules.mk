# SPDX-License-Identifier: GPL-2.0-or-later
# libperfctr, static and shared.  The ABI of the shared one: lib/libperfctr.map.

PERFCTR_VERSION := $(shell sed -n 's/^.define PERFCTR_VERSION "\(.*\)"/\1/p' include/perfctr.h)
# Before 1.0 each minor version has an ABI of its own.
LIB_SONAME := libperfctr.so.$(basename $(PERFCTR_VERSION))

LIB_SOURCES := $(wildcard lib/*.c lib/*/*.c lib/*/*/*.c)
LIB_OBJECTS := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib/%.o)
LIB_PIC := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib/%.pic.o)
# For static programs that use events, or write regions: they run where these are not installed.
LIB_STATIC_LIBS := -l:libpfm.a -l:libjson-c.a
LIB_CFLAGS := -DPERFCTR_EVENTS_DIRECTORY='"$(PREFIX)/share/perfctr/events"'
LIB_TABLES := $(wildcard lib/event/tables/*.tbl)
LIB_FAMILIES := $(wildcard lib/pmu/*.c)
LIB_STATIC := $(BUILD)/lib/libperfctr.a
LIB_SHARED := $(BUILD)/lib/libperfctr.so.$(PERFCTR_VERSION)

ALL += $(LIB_STATIC) $(LIB_SHARED)
INSTALL_TARGETS += install-lib

$(BUILD)/lib/%.pic.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(BUILD)/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

# For processors that run 32-bit programs only; not of "make all", as it needs gcc-multilib.  Debian has
# no 32-bit libpfm4 beside the 64-bit one.
LIB_STATIC_32 := $(BUILD)/lib32/libperfctr.a
LIB_OBJECTS_32 := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib32/%.o)

$(BUILD)/lib32/%.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -m32 -DWITHOUT_LIBPFM -MMD -MP -c -o $@ $<

$(LIB_STATIC_32): $(LIB_OBJECTS_32)
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $^

$(LIB_STATIC): $(LIB_OBJECTS)
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $^

$(LIB_SHARED): $(LIB_PIC) lib/libperfctr.map
	$(SAY_CC)$(CC) $(CFLAGS) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--version-script=lib/libperfctr.map \
		-Wl,-z,defs -o $@ $(LIB_PIC) -lpfm -ljson-c
	ln -sf $(@F) $(@D)/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(@D)/libperfctr.so

# They are included by the assembler, which the compiler does not tell.
$(foreach directory,lib lib32 sanitized/lib thread-sanitized/lib,$(patsubst lib/%.c,$(BUILD)/$(directory)/%.o,$(LIB_FAMILIES))) \
	$(LIB_FAMILIES:%.c=$(BUILD)/%.pic.o): $(LIB_TABLES)

.PHONY: install-lib
install-lib: $(LIB_STATIC) $(LIB_SHARED)
	install -d $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 $(LIB_STATIC) $(LIB_SHARED) $(DESTDIR)$(PREFIX)/lib
	ln -sf $(notdir $(LIB_SHARED)) $(DESTDIR)$(PREFIX)/lib/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) $(DESTDIR)$(PREFIX)/lib/libperfctr.so
	install -m 644 include/perfctr.h include/perfctr_events.h include/perfctr_regions.h include/perfctr_groups.h \
		$(DESTDIR)$(PREFIX)/include
	install -m 644 include/linux/perfctr.h $(DESTDIR)$(PREFIX)/include/linux
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(PERFCTR_VERSION)|' lib/libperfctr.pc.in \
		>$(DESTDIR)$(PREFIX)/lib/pkgconfig/libperfctr.pc

-include $(LIB_OBJECTS:.o=.d) $(LIB_OBJECTS_32:.o=.d) $(LIB_PIC:.o=.d)
