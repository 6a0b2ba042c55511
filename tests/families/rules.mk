# SPDX-License-Identifier: GPL-2.0-or-later
# The same tests on every profile that has a line in tests/families/profiles.

FAMILIES := $(BUILD)/tests/families
FAMILIES_SOURCES := $(wildcard tests/families/*.c)
FAMILIES_HEADERS := tests/families/families.h tests/emulator/pmu/pmu-stats.h include/perfctr.h include/linux/perfctr.h
# Of the library what reads and controls a thread's own counters: it is there for 32 bits too.
FAMILIES_LIB := $(addprefix lib/,control.c open.c read.c snapshot.c)

CHECKS += check-families

# Static: the 32-bit machines have no library. Not of "make all": 32 bits need a package that "make run" can do without.
$(FAMILIES)/families-%: $(FAMILIES_SOURCES) $(FAMILIES_LIB) $(FAMILIES_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -O2 -Itests/emulator/pmu -m$* -static -o $@ $(FAMILIES_SOURCES) $(FAMILIES_LIB)

.PHONY: check-families
check-families: $(FAMILIES)/families-32 $(FAMILIES)/families-64 $(PERFEX)
	@tests/families/run
