# SPDX-License-Identifier: GPL-2.0-or-later
# The releases of Debian, and their compilers. Both take hours with nothing in the caches: "make check" runs neither.

.PHONY: check-releases check-compilers
check-releases: ## run, check and Containerfile in new roots of Debian 12 and 13, as root; RELEASES=
	@tests/releases/run $(RELEASES)
check-compilers: ## build with each gcc and clang of this release, without a warning; COMPILERS=
	@tests/releases/compilers $(COMPILERS)
