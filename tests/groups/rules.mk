# SPDX-License-Identifier: GPL-2.0-or-later
# Checks that the packages that scripts/packages.list names for targets are enough, and are installed before anything is
# compiled.

CHECKS += check-groups

.PHONY: check-groups
check-groups:
	@scripts/as-before --without docs/pictures -- tests/groups/run
