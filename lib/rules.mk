# SPDX-License-Identifier: GPL-2.0-or-later
# libperfctr and libperfctr-core, each static and shared. libperfctr-core is the part that needs no other library. The
# .map files define the ABI of the shared libraries.

PERFCTR_VERSION := $(shell sed -n 's/^.define PERFCTR_VERSION "\(.*\)"/\1/p' include/perfctr.h)
# Before 1.0 each minor version has a different ABI.
LIB_ABI := $(basename $(PERFCTR_VERSION))
LIB_SONAME := libperfctr.so.$(LIB_ABI)
CORE_SONAME := libperfctr-core.so.$(LIB_ABI)

LIB_SOURCES := $(filter-out lib/compat-2.6/%,$(wildcard lib/*.c lib/*/*.c lib/*/*/*.c))
# The sources for names of events and for regions. libperfctr-core does not need them.
LIB_NAMES_SOURCES := lib/backend_for.c lib/count.c lib/spawn.c $(wildcard lib/regions/*.c) \
	$(addprefix lib/event/,answers.c libpfm.c linux.c modifier.c names.c request.c reverse.c suggest.c \
	tables.c visit.c)
LIB_CORE_SOURCES := $(filter-out $(LIB_NAMES_SOURCES),$(LIB_SOURCES))
LIB_OBJECTS := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib/%.o)
LIB_PIC := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib/%.pic.o)
LIB_CORE_OBJECTS := $(LIB_CORE_SOURCES:lib/%.c=$(BUILD)/lib/%.o)
LIB_CORE_PIC := $(LIB_CORE_SOURCES:lib/%.c=$(BUILD)/lib/%.pic.o)
# Static programs that use names of events, or write regions, link with these libraries. They run on hosts without them.
LIB_STATIC_LIBS := -l:libpfm.a -l:libjson-c.a
LIB_CFLAGS := -DPERFCTR_EVENTS_DIRECTORY='"$(PREFIX)/share/perfctr/events"' \
	-DPERFCTR_LINUX_DIRECTORY='"$(PREFIX)/share/perfctr/linux-events"'
LIB_TABLES := $(wildcard lib/event/tables/*.tbl)
LIB_FAMILIES := $(wildcard lib/pmu/*.c)
# libperfctr finds libperfctr-core in its own directory. Packages set this to nothing, because the system searches
# theirs.
LIB_RPATH = -Wl,-rpath,'$$ORIGIN'
LIB_STATIC := $(BUILD)/lib/libperfctr.a
LIB_SHARED := $(BUILD)/lib/libperfctr.so.$(PERFCTR_VERSION)
CORE_STATIC := $(BUILD)/lib/libperfctr-core.a
CORE_SHARED := $(BUILD)/lib/libperfctr-core.so.$(PERFCTR_VERSION)

PROGRAMS += $(LIB_STATIC) $(LIB_SHARED) $(CORE_STATIC) $(CORE_SHARED)
INSTALL_TARGETS += install-lib

$(BUILD)/lib/%.pic.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -fPIC -MMD -MP -c -o $@ $<

$(BUILD)/lib/%.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -MMD -MP -c -o $@ $<

# perfex links with these libraries.
LIB_LINKED := $(if $(filter shared,$(LINK)),$(LIB_SHARED) $(CORE_SHARED),$(LIB_STATIC))

# The library for processors that run only 32-bit programs. "make all" does not build it, because it needs gcc-multilib
# and packages of i386.
LIB_STATIC_32 := $(BUILD)/lib32/libperfctr.a
LIB_OBJECTS_32 := $(LIB_SOURCES:lib/%.c=$(BUILD)/lib32/%.o)
LIB_STATIC_LIBS_32 := $(addprefix $(BUILD)/lib32/,libpfm.a libjson-c.a)
LIB_DEBIAN_32 := $(LIB_STATIC_LIBS_32) $(BUILD)/lib32/libyaml.a

# The copies are newer than the script, so that make does not run the script each time.
$(LIB_DEBIAN_32) &: scripts/unpack-i386
	@mkdir -p $(BUILD)/lib32
	@directory=$$(scripts/unpack-i386 | tail -n 1) && cp "$$directory"/lib/*.a $(BUILD)/lib32

$(BUILD)/lib32/%.o: lib/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(LIB_CFLAGS) -m32 -MMD -MP -c -o $@ $<

$(LIB_STATIC_32): $(LIB_OBJECTS_32)
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $^

$(LIB_STATIC): $(LIB_OBJECTS)
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $^

$(CORE_STATIC): $(LIB_CORE_OBJECTS)
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $^

# Calls inside a library do not go through the PLT. The library stays loaded after dlclose(), because threads that end
# later call it to free their memory.
LIB_LINK = $(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,-Bsymbolic-functions

$(CORE_SHARED): $(LIB_CORE_PIC) lib/libperfctr-core.map
	$(LIB_LINK) -Wl,-soname,$(CORE_SONAME) -Wl,--version-script=lib/libperfctr-core.map -o $@ $(LIB_CORE_PIC)
	ln -sf $(@F) $(@D)/$(CORE_SONAME)
	ln -sf $(CORE_SONAME) $(@D)/libperfctr-core.so

# libperfctr uses the shared libperfctr-core in the same directory, so that a process has only one copy of the core. A
# program that links with -lperfctr gets both libraries if it needs both.
$(LIB_SHARED): $(LIB_PIC) $(CORE_SHARED) lib/libperfctr.map
	$(LIB_LINK) -Wl,-soname,$(LIB_SONAME) -Wl,--version-script=lib/libperfctr.map $(LIB_RPATH) \
		-o $@ $(filter-out $(LIB_CORE_PIC),$(LIB_PIC)) $(CORE_SHARED) -lpfm -ljson-c
	ln -sf $(@F) $(@D)/$(LIB_SONAME)
	rm -f $(@D)/libperfctr.so
	echo 'INPUT($(LIB_SONAME) AS_NEEDED($(CORE_SONAME)))' >$(@D)/libperfctr.so

# The assembler includes these tables with .incbin: the dependency files of the compiler do not list them.
$(foreach directory,lib lib32 sanitized/lib thread-sanitized/lib,\
		$(patsubst lib/%.c,$(BUILD)/$(directory)/%.o,$(LIB_FAMILIES))) \
	$(LIB_FAMILIES:%.c=$(BUILD)/%.pic.o): $(LIB_TABLES)

# Tables of the events that the kernel's source has for perf, one file for each model of processor. If nobody has made
# them, perfex works without them.
LINUX_EVENTS ?= $(BUILD)/share/perfctr/linux-events
$(LINUX_EVENTS)/index: scripts/linux-events scripts/debian-sources
	@tree=$$(scripts/build-kernel --unpatched --source | tail -n 1) && scripts/linux-events "$$tree" $(@D)

.PHONY: linux-events install-linux-events
linux-events: $(LINUX_EVENTS)/index
linux-events: ## make tables of the events that perf knows, of the kernel's source, which this downloads
INSTALL_TARGETS += install-linux-events
install-linux-events:
	@! [ -e $(LINUX_EVENTS)/index ] || { install -d $(DESTDIR)$(PREFIX)/share/perfctr/linux-events && \
		install -m 644 $(LINUX_EVENTS)/* $(DESTDIR)$(PREFIX)/share/perfctr/linux-events; }

.PHONY: library
library: $(LIB_STATIC) $(LIB_SHARED)

.PHONY: install-lib
install-lib: $(LIB_STATIC) $(LIB_SHARED) $(CORE_STATIC) $(CORE_SHARED)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/linux
	install -m 644 $^ $(BUILD)/lib/libperfctr.so $(DESTDIR)$(LIBDIR)
	ln -sf $(notdir $(LIB_SHARED)) $(DESTDIR)$(LIBDIR)/$(LIB_SONAME)
	ln -sf $(notdir $(CORE_SHARED)) $(DESTDIR)$(LIBDIR)/$(CORE_SONAME)
	ln -sf $(CORE_SONAME) $(DESTDIR)$(LIBDIR)/libperfctr-core.so
	install -m 644 include/perfctr.h include/perfctr_events.h include/perfctr_regions.h include/perfctr_sessions.h \
		include/perfctr_count.h include/perfctr_samples.h include/perfctr.hpp include/perfctr.f90 \
		$(DESTDIR)$(PREFIX)/include
	install -m 644 include/linux/perfctr.h $(DESTDIR)$(PREFIX)/include/linux
	for name in libperfctr libperfctr-core; do \
		sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@VERSION@|$(PERFCTR_VERSION)|' \
			lib/$$name.pc.in >$(DESTDIR)$(LIBDIR)/pkgconfig/$$name.pc || exit; \
	done

-include $(LIB_OBJECTS:.o=.d) $(LIB_OBJECTS_32:.o=.d) $(LIB_PIC:.o=.d)
