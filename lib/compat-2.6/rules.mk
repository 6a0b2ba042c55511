# SPDX-License-Identifier: GPL-2.0-or-later
# The library of perfctr 2.6. It has its own directories, because its files have the same names as today's.

COMPAT := $(BUILD)/lib/perfctr-2.6
COMPAT_SOURCES := $(wildcard lib/compat-2.6/*.c)
COMPAT_PIC := $(COMPAT_SOURCES:lib/%.c=$(BUILD)/lib/%.pic.o) $(LIB_CORE_PIC)
COMPAT_STATIC := $(COMPAT)/libperfctr.a
COMPAT_SHARED := $(COMPAT)/libperfctr.so.6
COMPAT_MAP := lib/compat-2.6/libperfctr.map

PROGRAMS += $(COMPAT_STATIC) $(COMPAT_SHARED)
INSTALL_TARGETS += install-compat

$(COMPAT_SHARED): $(COMPAT_PIC) $(COMPAT_MAP)
	@mkdir -p $(@D)
	$(LIB_LINK) -Wl,-soname,$(@F) -Wl,--version-script=$(COMPAT_MAP) -o $@ $(COMPAT_PIC)
	ln -sf $(@F) $(@D)/libperfctr.so

# The archive has one object, in which all symbols are local except those in the .map file: programs unpack the archive,
# and may have functions with the same names as libpfm4 or libperfctr. __x86.get_pc_thunk.* of 32-bit code stays global,
# because the linker merges it with other objects.
define COMPAT_ARCHIVE
	@mkdir -p $(@D)
	@sed -n 's/^\t\(.*perfctr.*\);$$/\1/p' $(COMPAT_MAP) >$(@D)/names
	$(SAY_CC)$(CC) $(1) -r -nostdlib -o $(@D)/perfctr-2.6.o $(filter %.o,$^)
	@objcopy --wildcard --keep-global-symbols=$(@D)/names --keep-global-symbol='__x86.get_pc_thunk.*' \
		$(@D)/perfctr-2.6.o
	$(SAY_AR)rm -f $@; $(AR) rcs $@ $(@D)/perfctr-2.6.o
endef

$(COMPAT_STATIC): $(COMPAT_PIC) $(COMPAT_MAP)
	$(call COMPAT_ARCHIVE)

# Only tests use this library. "make all" does not build it, because it needs gcc-multilib.
COMPAT_STATIC_32 := $(BUILD)/lib32/perfctr-2.6/libperfctr.a
COMPAT_OBJECTS_32 := $(COMPAT_SOURCES:lib/%.c=$(BUILD)/lib32/%.o) $(LIB_CORE_SOURCES:lib/%.c=$(BUILD)/lib32/%.o)

$(COMPAT_STATIC_32): $(COMPAT_OBJECTS_32) $(COMPAT_MAP)
	$(call COMPAT_ARCHIVE,-m32)

.PHONY: install-compat
install-compat: $(COMPAT_STATIC) $(COMPAT_SHARED)
	install -d $(DESTDIR)$(LIBDIR)/perfctr-2.6 $(DESTDIR)$(PREFIX)/include/perfctr-2.6 $(DESTDIR)$(LIBDIR)/pkgconfig
	install -m 644 $^ $(DESTDIR)$(LIBDIR)/perfctr-2.6
	ln -sf $(notdir $(COMPAT_SHARED)) $(DESTDIR)$(LIBDIR)/perfctr-2.6/libperfctr.so
	install -m 644 include/perfctr-2.6/libperfctr.h $(DESTDIR)$(PREFIX)/include/perfctr-2.6
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' lib/compat-2.6/perfctr-2.6.pc.in \
		>$(DESTDIR)$(LIBDIR)/pkgconfig/perfctr-2.6.pc

-include $(COMPAT_SOURCES:lib/%.c=$(BUILD)/lib/%.pic.d) $(COMPAT_SOURCES:lib/%.c=$(BUILD)/lib32/%.d)
