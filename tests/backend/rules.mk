# SPDX-License-Identifier: GPL-2.0-or-later
# Runs the contract of backends on each backend. The program lies in the directory of tests/guest, whose programs it
# counts.

BACKEND_TESTS := $(GUEST)/backend-tests
BACKEND_OBJECTS := $(patsubst tests/backend/%.c,$(BUILD)/tests/backend/%.o,$(wildcard tests/backend/*.c))

ALL += $(BACKEND_TESTS)
CHECKS += check-backend
LONG_CHECKS += check-backend-free
FREE_RUNNING += check-backend-free

$(BUILD)/tests/backend/%.o: tests/backend/%.c
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -O2 -D_GNU_SOURCE -pthread -MMD -MP -c -o $@ $<

$(BACKEND_TESTS): $(BACKEND_OBJECTS) $(BUILD)/tests/bpf/work.o $(GUEST)/guest.o $(GUEST)/callers.o $(LIB_STATIC)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread $(LDFLAGS) -o $@ $^ $(LIB_STATIC_LIBS) $(shell pkg-config --libs check)

.PHONY: check-backend check-backend-free
check-backend check-backend-free: $(BACKEND_TESTS) $(GUEST_PROGRAMS) $(BPFD)
check-backend:
	@DETERMINISTIC=1 tests/backend/run
check-backend-free:
	@tests/backend/run

-include $(BACKEND_OBJECTS:.o=.d)
