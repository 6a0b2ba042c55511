# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the installed library with programs of other languages, and with the examples: errors on the host, exact
# counts in the machine.

CHECKS += check-languages
FREE_RUNNING += check-languages

# They install the library, Python's package and the examples, and need no sources of perfex.
LANGUAGES_NEED_NOT := perfex rust $(PROSE) $(filter-out docs/man,$(wildcard docs/*)) \
	$(filter-out tests/languages,$(wildcard tests/*))

.PHONY: check-languages
check-languages: $(LIB_STATIC) $(LIB_SHARED) $(PERFEX) $(GUEST_PROGRAMS)
	@scripts/as-before $(addprefix --without ,$(LANGUAGES_NEED_NOT)) \
		$(addprefix --with ,$(BUILD)/lib $(GUEST) $(PERFEX)) -- tests/languages/run

LONG_CHECKS += check-rust
.PHONY: check-rust
check-rust: $(LIB_STATIC) $(LIB_SHARED) $(PERFEX) ## build and test the Rust crate, without a network
	@tests/languages/run-rust
