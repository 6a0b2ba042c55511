# SPDX-License-Identifier: GPL-2.0-or-later
# The bpf backend: on this machine itself where its kernel lets BPF programs in, and on Debian's own kernel.

BPF_TESTS := $(BUILD)/tests/bpf/bpf-tests
BPF_TEST_OBJECTS := $(patsubst tests/bpf/%.c,$(BUILD)/tests/bpf/%.o,$(wildcard tests/bpf/*.c))

BPF_SWITCHES := $(BUILD)/tests/bpf/switches

ALL += $(BPF_TESTS) $(BPF_SWITCHES)
CHECKS += check-bpf

$(BUILD)/tests/bpf/%.o: tests/bpf/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(BPF_SWITCHES): tests/bpf/programs/switches.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -D_GNU_SOURCE -pthread -o $@ $<

$(BPF_TESTS): $(BPF_TEST_OBJECTS) $(LIB_STATIC)
	$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

.PHONY: check-bpf
check-bpf: $(BPF_TESTS) $(BPF_SWITCHES) $(BPFD) $(PERFEX)
	@bpf/make-skeleton --check $(BPF_SOURCES)
	@tests/bpf/run host
	@scripts/vm --kernel debian-6.1 --timeout 300 -- tests/bpf/run debian

-include $(BPF_TEST_OBJECTS:.o=.d)
