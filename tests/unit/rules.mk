# SPDX-License-Identifier: GPL-2.0-or-later
# Unit tests on the host, once plain and once under sanitizers. Tests of the library and perfex with the driver, in the
# machine.

UNIT := $(BUILD)/tests/unit/unit
UNIT_SANITIZED := $(BUILD)/tests/unit/unit-sanitized
PERFEX_SANITIZED := $(BUILD)/tests/unit/perfex-sanitized
UNIT_LAYOUTS := $(BUILD)/tests/unit/abi-layout-32 $(BUILD)/tests/unit/abi-layout-64
UNIT_NAMES_32 := $(BUILD)/tests/unit/names32
PERFEX_SHARED_C := $(BUILD)/tests/unit/perfex-shared-c
PERFEX_RECORDINGS := $(BUILD)/tests/unit/recordings
PERFEX_LIVE := $(BUILD)/tests/unit/perfex-live
UNIT_SOURCES := $(filter-out tests/unit/abi_layout.c tests/unit/names32.c tests/unit/%live.c,$(wildcard tests/unit/*.c))
UNIT_HEADERS := $(wildcard tests/unit/*.h include/*.h include/linux/*.h lib/*.h lib/*/*.h lib/*/*/*.h \
	perfex/*.h perfex/*/*.h perfex/*/*/*.h)
UNIT_WRAP := -Wl,--wrap=pfm_initialize,--wrap=pfm_get_pmu_info,--wrap=perfctr_counted_parse
UNIT_WRAP += -Wl,--wrap=perfctr_counted_open
UNIT_LIBS := $(shell pkg-config --libs check 2>/dev/null)
UNIT_LOCALE := $(BUILD)/tests/unit/locale/de_DE.UTF-8
SANITIZED := $(BUILD)/sanitized
PERFEX_OBJECTS_SANITIZED := $(patsubst %.c,$(SANITIZED)/%.o,$(PERFEX_SOURCES))
LIB_OBJECTS_SANITIZED := $(LIB_SOURCES:%.c=$(SANITIZED)/%.o)
THREAD_SANITIZED := $(BUILD)/thread-sanitized
THREADS_LIVE := $(BUILD)/tests/unit/threads-live
THREADS_OBJECTS := $(patsubst %.c,$(THREAD_SANITIZED)/%.o,$(LIB_SOURCES) tests/unit/threads_live.c)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all

ALL += $(UNIT) $(UNIT_SANITIZED) $(PERFEX_SANITIZED) $(UNIT_LAYOUTS) $(PERFEX_LIVE)
CHECKS += check-unit check-names32 check-formats check-completion check-perfex check-threads
LONG_CHECKS += check-host-long
FREE_RUNNING += check-names32 check-perfex check-threads
CHECK_PROGRAMS += $(THREADS_LIVE) $(UNIT_NAMES_32) $(UNIT_LOCALE)

# The tests link the objects of perfex and the library. There are other objects for the sanitizers.
$(SANITIZED)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(SANITIZE) -MMD -MP -c -o $@ $<

# The thread sanitizer does not know fences. The fences here are between the library and the kernel, which it does not
# see.
$(THREAD_SANITIZED)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -fsanitize=thread -Wno-tsan -MMD -MP -c -o $@ $<

$(UNIT)-%.o: tests/unit/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

$(UNIT): $(UNIT_SOURCES:tests/unit/%.c=$(UNIT)-%.o) $(filter-out %/main.o,$(PERFEX_OBJECTS)) $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) $(UNIT_WRAP) -o $@ $^ $(PERFEX_LIBS) $(UNIT_LIBS)

$(UNIT_SANITIZED): $(UNIT_SOURCES:%.c=$(SANITIZED)/%.o) $(filter-out %/main.o,$(PERFEX_OBJECTS_SANITIZED)) \
		$(LIB_OBJECTS_SANITIZED)
	$(SAY_CC)$(CC) $(CFLAGS) $(SANITIZE) $(UNIT_WRAP) -o $@ $^ $(PERFEX_LIBS) $(UNIT_LIBS)

# For valgrind, which needs the C library as a shared library.
$(PERFEX_SHARED_C): $(PERFEX_OBJECTS) $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PERFEX_LIBS)

$(PERFEX_SANITIZED): $(PERFEX_OBJECTS_SANITIZED) $(LIB_OBJECTS_SANITIZED)
	$(SAY_CC)$(CC) $(CFLAGS) $(SANITIZE) -o $@ $^ $(PERFEX_LIBS)

# A locale that writes 1.234,5.
$(UNIT_LOCALE):
	@mkdir -p $(@D)
	localedef -i de_DE -f UTF-8 $@

$(PERFEX_LIVE): tests/unit/perfex_live.c $(LIB_STATIC) $(UNIT_HEADERS)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -o $@ $< $(LIB_STATIC) $(UNIT_LIBS)

$(THREADS_LIVE): $(THREADS_OBJECTS)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -fsanitize=thread -o $@ $^ $(LIB_STATIC_LIBS) $(UNIT_LIBS)

# Includes the kernel's headers only, which need no 32-bit C library; from the directory where a 64-bit Debian has them.
$(BUILD)/tests/unit/abi-layout-%: tests/unit/abi_layout.c include/linux/perfctr.h
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -m$* -isystem /usr/include/$(shell $(CC) -print-multiarch) -c -o $@ $<

# Linked statically, to run where there are no 32-bit libraries. Not in "make all", as it needs gcc-multilib.
$(UNIT_NAMES_32): tests/unit/names32.c tests/unit/machines.c $(LIB_STATIC_32) $(LIB_STATIC_LIBS_32) $(UNIT_HEADERS)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -m32 -static -o $@ $(filter %.c %.a,$^)

# The tests read their own directory, an example, and what is built: while that is the same, make shows the old output.
UNIT_NEEDS := $(UNIT) $(UNIT_SANITIZED) $(PERFEX) $(PERFEX_SANITIZED) $(UNIT_LOCALE)
UNIT_NEEDS_NOT := $(BUILT_FROM) $(PROSE) docs $(filter-out tests/unit,$(wildcard tests/*))

.PHONY: check-unit
check-unit: $(UNIT_NEEDS) $(UNIT_LAYOUTS)
	@scripts/as-before $(addprefix --without ,$(UNIT_NEEDS_NOT)) $(addprefix --with ,$(UNIT_NEEDS)) -- \
		sh -c 'PERFEX=$(PERFEX) $(UNIT) && PERFEX=$(PERFEX_SANITIZED) $(UNIT_SANITIZED)'

.PHONY: check-host-long
check-host-long: $(UNIT) $(PERFEX_SHARED_C) ## run unit tests and perfex under valgrind: some minutes
	@tests/unit/memcheck $(UNIT) $(PERFEX_SHARED_C)

.PHONY: check-completion
check-completion: $(PERFEX)
	tests/unit/check-completion $(PERFEX)

.PHONY: check-formats
check-formats: $(PERFEX)
	tests/unit/check-formats $(PERFEX)

# Runs in the machine, as not every kernel executes 32-bit programs.
.PHONY: check-names32
check-names32: $(UNIT_NAMES_32)
	scripts/vm -- $(UNIT_NAMES_32)

# tests/unit/tsan.suppressions lists the races that are there on purpose, and says why.
.PHONY: check-threads
check-threads: $(THREADS_LIVE)
	scripts/vm --timeout 900 --smp 2 -- \
		env TSAN_OPTIONS=suppressions=$(CURDIR)/tests/unit/tsan.suppressions $(THREADS_LIVE)

.PHONY: check-perfex
check-perfex: $(PERFEX_LIVE) $(PERFEX) $(BUILD)/tests/guest/fork
	rm -rf $(PERFEX_RECORDINGS)
	mkdir -p $(PERFEX_RECORDINGS)
	scripts/vm --timeout 900 -- env FORKING_PROGRAM=$(BUILD)/tests/guest/fork \
		RECORDINGS=$(PERFEX_RECORDINGS) $(PERFEX_LIVE)
	tests/unit/validate $(PERFEX_RECORDINGS)/*

-include $(wildcard $(UNIT)-*.d $(SANITIZED)/*/*.d $(SANITIZED)/*/*/*.d $(SANITIZED)/*/*/*/*.d \
	$(SANITIZED)/*/*/*/*/*.d) $(THREADS_OBJECTS:.o=.d)
