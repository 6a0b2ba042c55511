# SPDX-License-Identifier: GPL-2.0-or-later

EXAMPLES := $(patsubst examples/%.c,$(BUILD)/examples/%,$(wildcard examples/*.c))

# This example needs a library that only "make check" installs.
GOOGLE_BENCHMARK := $(if $(wildcard /usr/include/benchmark/benchmark.h),$(BUILD)/examples/google-benchmark)

ALL += $(EXAMPLES) $(GOOGLE_BENCHMARK)
INSTALL_TARGETS += install-examples

$(BUILD)/examples/%: examples/%.c $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CC) $(CFLAGS) -pthread -MMD -MP -o $@ $< $(LIB_STATIC) $(LIB_STATIC_LIBS)

# With "-z now" the first pass through a region counts no binding of functions.
$(BUILD)/examples/google-benchmark: examples/google-benchmark.cpp $(LIB_STATIC)
	@mkdir -p $(@D)
	$(SAY_CC)$(CXX) -std=c++17 $(filter-out -std=%,$(CFLAGS)) -MMD -MP -o $@ $< \
		$(LIB_STATIC) -lbenchmark $(LIB_STATIC_LIBS) -pthread -Wl,-z,now

.PHONY: install-examples
install-examples:
	install -d $(DESTDIR)$(PREFIX)/share/perfctr/examples
	install -m 644 $(filter-out %.mk,$(wildcard examples/*)) $(DESTDIR)$(PREFIX)/share/perfctr/examples

-include $(addsuffix .d,$(EXAMPLES) $(GOOGLE_BENCHMARK))
