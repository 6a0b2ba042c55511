# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the installed library with programs of other languages, and with the examples: errors on the host, exact
# counts in the machine.

CHECKS += check-languages
FREE_RUNNING += check-languages

.PHONY: check-languages
check-languages: $(LIB_STATIC) $(LIB_SHARED) $(PERFEX) $(GUEST_PROGRAMS)
	tests/languages/run

LONG_CHECKS += check-rust
.PHONY: check-rust
check-rust: $(LIB_STATIC) $(LIB_SHARED) $(PERFEX) ## build and test the Rust crate, without a network
	@tests/languages/run-rust
