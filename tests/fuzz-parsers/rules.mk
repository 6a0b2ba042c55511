# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the parsers of text that others wrote. "make fuzz-parsers" runs them under libFuzzer, "make check" on the
# files of the corpus.

PARSERS_BUILD := $(BUILD)/fuzz-parsers
PARSERS_SOURCES := $(filter-out %/replay.c %/libfuzzer.c,$(wildcard tests/fuzz-parsers/*.c)) tests/unit/machines.c
PARSERS_REPLAY := $(PARSERS_BUILD)/replay
PARSERS_LIBFUZZER := $(PARSERS_BUILD)/libfuzzer
PARSERS_REPLAY_OBJECTS := $(patsubst %.c,$(SANITIZED)/%.o,$(PARSERS_SOURCES) tests/fuzz-parsers/replay.c)
PARSERS_LIBFUZZER_OBJECTS := $(patsubst %.c,$(PARSERS_BUILD)/%.o,$(PARSERS_SOURCES) tests/fuzz-parsers/libfuzzer.c \
	$(LIB_SOURCES) $(filter-out perfex/main.c,$(PERFEX_SOURCES)))
PARSERS_WRAP := $(addprefix -Wl$(comma)--wrap=,exit malloc calloc realloc reallocarray free strdup strndup vasprintf \
	getline fopen fclose)
PARSERS_SANITIZE := -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all
SECONDS_EACH ?= 60

CHECKS += check-fuzz-parsers
CHECK_PROGRAMS += $(PARSERS_REPLAY)
LONG_CHECKS += fuzz-parsers
LONG_PROGRAMS += $(PARSERS_LIBFUZZER)

# libFuzzer looks for paths through the parsers, not through the test code that calls them.
$(PARSERS_BUILD)/tests/fuzz-parsers/%.o: PARSERS_SANITIZE += -fno-sanitize=fuzzer

$(PARSERS_BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(SAY_CC)clang $(CFLAGS) $(PARSERS_SANITIZE) -MMD -MP -c -o $@ $<

$(PARSERS_LIBFUZZER): $(PARSERS_LIBFUZZER_OBJECTS)
	$(SAY_CC)clang $(PARSERS_SANITIZE) $(PARSERS_WRAP) -o $@ $^ $(PERFEX_LIBS)

$(PARSERS_REPLAY): $(PARSERS_REPLAY_OBJECTS) $(filter-out %/main.o,$(PERFEX_OBJECTS_SANITIZED)) $(LIB_OBJECTS_SANITIZED)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) $(SANITIZE) $(PARSERS_WRAP) -o $@ $^ $(PERFEX_LIBS)

$(PARSERS_BUILD)/lib/event/tables_built_in.o: $(LIB_TABLES)

.PHONY: check-fuzz-parsers fuzz-parsers
check-fuzz-parsers: $(PARSERS_REPLAY) $(PERFEX)
	@tests/fuzz-parsers/run $(PARSERS_REPLAY)
	@tests/fuzz-parsers/worst $(PERFEX)

fuzz-parsers: ## give text made at random to each parser, for SECONDS_EACH=60, or TEXTS_EACH=1000000 of them
	@$(MAKE) --no-print-directory -j2 $(PARSERS_LIBFUZZER)
	@TEXTS_EACH=$(TEXTS_EACH) tests/fuzz-parsers/fuzz $(PARSERS_LIBFUZZER) $(SECONDS_EACH) $(PARSERS)

-include $(PARSERS_LIBFUZZER_OBJECTS:.o=.d)
