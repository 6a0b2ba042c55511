# SPDX-License-Identifier: GPL-2.0-or-later
# What scripts/packages.list says that targets need is enough, and is installed before anything is compiled.

CHECKS += check-groups

.PHONY: check-groups
check-groups:
	@scripts/as-before --without docs/pictures -- tests/groups/run
