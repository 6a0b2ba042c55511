# SPDX-License-Identifier: GPL-2.0-or-later
# Parsers of text that others wrote: under libFuzzer by "make fuzz-parsers", and in "make check" on the files of the corpus.

FUZZ := $(BUILD)/fuzz-parsers
FUZZ_SOURCES := $(filter-out %/replay.c %/libfuzzer.c,$(wildcard tests/fuzz-parsers/*.c)) tests/unit/machines.c
FUZZ_REPLAY := $(FUZZ)/replay
FUZZ_LIBFUZZER := $(FUZZ)/libfuzzer
FUZZ_REPLAY_OBJECTS := $(patsubst %.c,$(SANITIZED)/%.o,$(FUZZ_SOURCES) tests/fuzz-parsers/replay.c)
FUZZ_LIBFUZZER_OBJECTS := $(patsubst %.c,$(FUZZ)/%.o,$(FUZZ_SOURCES) tests/fuzz-parsers/libfuzzer.c $(LIB_SOURCES) \
	$(filter-out perfex/main.c,$(wildcard perfex/*.c)))
FUZZ_WRAP := $(addprefix -Wl$(comma)--wrap=,exit malloc calloc realloc reallocarray free strdup strndup vasprintf getline fopen fclose)
FUZZ_SANITIZE := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
SECONDS_EACH ?= 60

CHECKS += check-fuzz-parsers
CHECK_PROGRAMS += $(FUZZ_REPLAY)

$(FUZZ)/%.o: %.c
	@mkdir -p $(@D)
	clang $(CFLAGS) $(FUZZ_SANITIZE) -DPERFCTR_VERSION='"$(PERFCTR_VERSION)"' -MMD -MP -c -o $@ $<

$(FUZZ_LIBFUZZER): $(FUZZ_LIBFUZZER_OBJECTS)
	clang $(FUZZ_SANITIZE) $(FUZZ_WRAP) -o $@ $^ $(PERFEX_LIBS)

$(FUZZ_REPLAY): $(FUZZ_REPLAY_OBJECTS) $(filter-out %/main.o,$(PERFEX_OBJECTS_SANITIZED)) $(LIB_OBJECTS_SANITIZED)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(SANITIZE) $(FUZZ_WRAP) -o $@ $^ $(PERFEX_LIBS)

$(FUZZ)/lib/tables_built_in.o: $(LIB_TABLES)

.PHONY: check-fuzz-parsers fuzz-parsers fuzz-parsers-programs
check-fuzz-parsers: $(FUZZ_REPLAY)
	@tests/fuzz-parsers/run $(FUZZ_REPLAY)

# Of several targets, to be built after its packages are there.
fuzz-parsers-programs: $(FUZZ_LIBFUZZER)

fuzz-parsers: ## give text made at random to each parser, for SECONDS_EACH=60
	@scripts/packages build fuzz
	@$(MAKE) --no-print-directory -j2 fuzz-parsers-programs
	@tests/fuzz-parsers/fuzz $(FUZZ_LIBFUZZER) $(SECONDS_EACH) $(PARSERS)

-include $(FUZZ_LIBFUZZER_OBJECTS:.o=.d)
