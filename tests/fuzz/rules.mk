# SPDX-License-Identifier: GPL-2.0-or-later
# The device's fuzzer, which runs inside the machine.

FUZZ := $(BUILD)/tests/fuzz/fuzz
FUZZ_OBJECTS := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%.o,$(wildcard tests/fuzz/*.c))

ALL += $(FUZZ)
CHECKS += check-fuzz
LONG_CHECKS += check-fuzz-kasan check-fuzz-module
FREE_RUNNING += check-fuzz-kasan check-fuzz-module

$(BUILD)/tests/fuzz/%.o: tests/fuzz/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(FUZZ): $(FUZZ_OBJECTS)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^

.PHONY: check-fuzz check-fuzz-kasan check-fuzz-module
check-fuzz check-fuzz-kasan check-fuzz-module: $(FUZZ) $(GUEST)/loop-tiny
check-fuzz:
	@OPERATIONS=100000 KERNEL=vm DETERMINISTIC=1 tests/fuzz/run
check-fuzz-kasan:
	@tests/fuzz/run
check-fuzz-module:
	@KERNEL=debian-6.12 MODULE=1 tests/fuzz/run

-include $(FUZZ_OBJECTS:.o=.d)
