# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the files that "make install" installs, as programs use them.

CHECKS += check-install
FREE_RUNNING += check-install

.PHONY: check-install
check-install: $(LINUX_EVENTS)/index
	@tests/install/run
