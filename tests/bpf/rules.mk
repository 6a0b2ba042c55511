# SPDX-License-Identifier: GPL-2.0-or-later
# The bpf backend is tested on this machine itself, if its kernel loads BPF programs, and on Debian's own kernels. The
# programs are fitted to each kernel, and Linux 7 keeps some data, and reports some events, in other places.
BPF_KERNELS := debian-6.1 debian-6.12 debian-7.3

BPF_TESTS := $(BUILD)/tests/bpf/bpf-tests
BPF_TEST_OBJECTS := $(patsubst tests/bpf/%.c,$(BUILD)/tests/bpf/%.o,$(wildcard tests/bpf/*.c))

BPF_SWITCHES := $(BUILD)/tests/bpf/switches

BPF_WITNESS := $(BUILD)/tests/bpf/witness/witness

ALL += $(BPF_TESTS) $(BPF_SWITCHES) $(BPF_WITNESS)
BPF_MACHINES := $(addprefix check-bpf-,$(BPF_KERNELS)) $(addprefix check-systemd-,$(BPF_KERNELS))

CHECKS += check-bpf-debian-6.12 check-bpf-unused check-systemd-debian-6.12 check-bpf-mutants-apply
LONG_CHECKS += $(filter-out %-6.12,$(BPF_MACHINES)) check-bpf-debian-6.12-free check-bpf-host check-bpf-preemptible \
	check-bpf-hostile check-witness check-bpf-mutants
FREE_RUNNING += $(filter-out check-bpf-debian-6.12,$(BPF_MACHINES)) check-bpf-debian-6.12-free check-bpf-host \
	check-bpf-preemptible check-bpf-hostile check-witness

$(BUILD)/tests/bpf/%.o: tests/bpf/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(BPF_SWITCHES): tests/bpf/programs/switches.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -D_GNU_SOURCE -pthread -o $@ $<

$(BPF_TESTS): $(BPF_TEST_OBJECTS) $(BUILD)/tests/backend/handles.o $(GUEST)/guest.o $(GUEST)/callers.o $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

$(BPF_WITNESS): $(BUILD)/tests/bpf/witness/witness.o $(BUILD)/tests/bpf/work.o $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

.PHONY: check-bpf $(BPF_MACHINES) check-bpf-debian-6.12-free check-bpf-host check-bpf-preemptible check-bpf-unused \
		check-witness check-bpf-hostile check-bpf-mutants check-bpf-mutants-apply
check-bpf-mutants-apply:
	@tests/bpf/mutants/run --dry-run
check-bpf-mutants: all ## put faults into perfctr-bpfd, one by one, and see that a test finds each
	@tests/bpf/mutants/run $(MUTANTS)
check-bpf: $(BPF_MACHINES) check-bpf-host check-bpf-preemptible check-bpf-unused
$(BPF_MACHINES) check-bpf-debian-6.12-free check-bpf-host check-bpf-preemptible check-bpf-unused: $(BPF_TESTS) \
		$(GUEST)/backend-tests $(BPF_SWITCHES) $(BPFD) $(PERFEX) $(GUEST_PROGRAMS)
check-bpf-host:
	@tests/bpf/run host
check-bpf-preemptible:
	@scripts/vm --kernel debian-7.3 --append preempt=full --timeout 600 -- tests/bpf/run debian-7.3-preemptible \
		attacks
check-bpf-debian-6.12:
	@scripts/vm --deterministic --once --files tests/bpf/files.list --kernel debian-6.12 --timeout 900 -- \
		tests/bpf/run debian-6.12
check-bpf-unused:
	@tests/bpf/unused
check-bpf-debian-6.1 check-bpf-debian-7.3 check-bpf-debian-6.12-free: check-bpf-%:
	@scripts/vm --kernel $(*:-free=) --timeout 900 -- tests/bpf/run $*
$(filter check-systemd-%,$(BPF_MACHINES)): check-systemd-%:
	@scripts/vm --kernel $* --timeout 600 -- tests/bpf/systemd/run $*
check-bpf-hostile: $(BPF_TESTS) $(BPFD) $(PERFEX) ## two hostile users of perfctr-bpfd for ten minutes
	@scripts/vm --kernel debian-6.1 --timeout 900 -- env HOSTILE_SECONDS=600 tests/bpf/run-hostile debian
check-witness: $(BPF_WITNESS) $(BPFD)
	@scripts/vm --kernel vm+bpf-6.1 --icount --timeout 300 -- env CK_FORK=no tests/bpf/witness/run

-include $(BPF_WITNESS).d $(BPF_TEST_OBJECTS:.o=.d)
