# SPDX-License-Identifier: GPL-2.0-or-later
# What programs of other languages, and examples, see of the installed library: on the host what is refused,
# in the machine exact counts.

CHECKS += check-languages
FREE_RUNNING += check-languages

.PHONY: check-languages
check-languages: $(LIB_STATIC) $(LIB_SHARED) $(PERFEX) $(GUEST_PROGRAMS)
	tests/languages/run
