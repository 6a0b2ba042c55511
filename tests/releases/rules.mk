# SPDX-License-Identifier: GPL-2.0-or-later
# Tests of the project on the releases of Debian, and with their compilers.

LONG_CHECKS += check-roots check-roots-user check-releases check-compilers

.PHONY: check-roots check-roots-user check-releases check-compilers
check-roots: ## build and run unit tests in new, bare roots of Debian 12 and 13, as root: some minutes each
	@tests/releases/run --make 'packages all check-unit' debian-12 debian-13
check-roots-user: ## "make run" in such roots as a user with sudo, up to the machine: half an hour each
	@tests/releases/run --user --make run debian-12 debian-13
check-releases: ## run, check and Containerfile in new roots of Debian 12 and 13, as root; RELEASES=
	@tests/releases/run $(RELEASES)
check-compilers: ## build with each gcc and clang of this release, without a warning; COMPILERS=
	@tests/releases/compilers $(COMPILERS)
