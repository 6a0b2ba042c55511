# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the pages that users see in a browser.

LONG_CHECKS += check-pictures
FREE_RUNNING += check-pictures

.PHONY: check-pictures
check-pictures: $(PERFEX) $(addprefix $(GUEST)/,loop memory)
	@tests/pictures/run
