# SPDX-License-Identifier: GPL-2.0-or-later
# Each directory describes itself in its rules.mk, which adds to
#   PROGRAMS         what is built to be installed, below $(BUILD)
#   ALL              what "make all" builds beside it: the tests
#   INSTALL_TARGETS  phony targets that install below $(DESTDIR)
#   CHECKS           phony targets that "make check" runs, two at a time
#   LONG_CHECKS      those that "make check-all" runs beside them
#   CHECK_PROGRAMS   what CHECKS need beyond ALL: built before the first runs; LONG_PROGRAMS: what LONG_CHECKS need
#                    beyond that
#   FREE_RUNNING     those of both whose machines run by the host's clock: scripts/check
# A check ends with the line "NAME: N passed, N failed[, N skipped]", or with libcheck's own.

# On the command line or in the environment: CC, CPPFLAGS, CFLAGS, LDFLAGS, DESTDIR, PREFIX, LIBDIR, LINK;
# V=1 shows commands, WERROR=1, which "make check" sets, makes warnings errors.
BUILD   := build
CC      ?= cc
CFLAGS  ?= -O2 -g
# The same sources make the same programs, in whatever directory.
SAME_ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
override CFLAGS := -std=gnu11 -Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) -Iinclude $(SAME_ANYWHERE) \
	$(CPPFLAGS) $(CFLAGS)
DESTDIR ?=
PREFIX  ?= /usr/local
# Where a distribution has libraries of several architectures: /usr/lib/x86_64-linux-gnu.
LIBDIR  ?= $(PREFIX)/lib
# static: perfex has the library and others inside, and runs from anywhere, as does perfctr-bpfd; shared: they need
# others.
LINK    ?= static
ifeq ($(filter static shared,$(LINK)),)
$(error LINK is static or shared, not '$(LINK)')
endif

PROGRAMS :=
ALL :=
INSTALL_TARGETS :=
CHECKS :=
LONG_CHECKS :=
CHECK_PROGRAMS :=
LONG_PROGRAMS :=
FREE_RUNNING :=

# The names in a table of machines: $(call machines_of,TIER,FILE). Those whose time is the number of instructions.
machines_of = $(shell awk -F '|' '$$1 == "$(1)" && !seen[$$2]++ { print $$2 }' $(2))
same_each_time = $(shell awk -F '|' '/--icount|--deterministic/ { print $$2 }' $(1))

# A check that needs nothing of what users read and call, and of $(BUILD) nothing but each PATH, says the same until
# something else changes: $(AS_BEFORE) [--with PATH]... -- COMMAND
AS_BEFORE := scripts/as-before $(addprefix --without ,perfex docs examples python README.md CONTRIBUTING.md NEWS)

# The tests that take longest begin first.
DEAR_CHECKS = check-families check-bpf-debian-6.12 check-documents check-guest-life check-guest-shared check-vm \
	check-guest-perfex check-module-6.12 check-unit check-guest-thread check-groups check-kernel-patch \
	check-module-load

comma := ,

# Before anything is compiled, or looked for below: what the goals need, as scripts/packages.list says. "make -n"
# installs nothing; it is known by the first word of MAKEFLAGS, as long as nothing was added to these.
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
$(shell scripts/packages --for $(or $(MAKECMDGOALS),all))
ifneq ($(.SHELLSTATUS),0)
$(error Debian packages are missing)
endif
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# $(SAY_CC)$(CC) ... shows what is made instead of how.
SAY_CC = $(if $(filter 1,$(V)),,@printf '  CC      %s\n' $@;)
SAY_AR = $(if $(filter 1,$(V)),,@printf '  AR      %s\n' $@;)

include lib/rules.mk
include lib/compat-2.6/rules.mk
include perfex/rules.mk
include bpf/rules.mk
include tests/unit/rules.mk
include tests/samples/rules.mk
include tests/kernel-patch/rules.mk
CHECKS += check-emulator
include tests/vm/rules.mk
include tests/guest/rules.mk
include tests/bench/rules.mk
include tests/stress/rules.mk
include tests/mutants/rules.mk
include tests/coverage/rules.mk
include tests/kernels/rules.mk
include tests/stock/rules.mk
include tests/module/rules.mk
include tests/packages/rules.mk
include tests/rpm/rules.mk
include tests/install/rules.mk
include tests/compat-2.6/rules.mk
include tests/releases/rules.mk
include tests/families/rules.mk
include tests/documents/rules.mk
include tests/pictures/rules.mk
include tests/fuzz/rules.mk
include tests/tables/rules.mk
include tests/static/rules.mk
include tests/summary/rules.mk
include tests/groups/rules.mk
include tests/bpf/rules.mk
include tests/backend/rules.mk
include tests/perf-events/rules.mk
include tests/papi/rules.mk
include tests/fuzz-parsers/rules.mk
include python/rules.mk
include tests/languages/rules.mk
include tests/cluster/rules.mk
include examples/rules.mk
include docs/rules.mk

.PHONY: help
help: ## show this
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' \
		$(filter Makefile %/rules.mk,$(MAKEFILE_LIST))

.PHONY: run
run: ## set everything up, then show perfex counting on the emulated machine
	@$(MAKE) --no-print-directory -j2 $(PERFEX)
	@scripts/demo host
	@$(MAKE) --no-print-directory -j2 demo-programs machine
	@scripts/demo machine

# The programs that README.md shows in the machine.
.PHONY: demo-programs
demo-programs: $(PERFEX) $(GUEST_PROGRAMS) $(EXAMPLES)

# What asks the host's clock is not asked here: it is tagged. Loops are a tenth.
.PHONY: check
check: ## set everything up, then run the tests that each change must pass, and print one summary
	@TIER=gate CK_EXCLUDE_TAGS=clock TEST_ROUNDS=0.1 FREE_RUNNING='$(FREE_RUNNING)' BUDGET=tests/budget WERROR=1 \
		scripts/check all-and-machine $(call dear_first,$(CHECKS))

.PHONY: check-all
check-all: ## the same and all other tests: other kernels, debugging kernels, mutants, seeds; a day
	@FREE_RUNNING='$(FREE_RUNNING)' WERROR=1 \
		scripts/check all-and-all-machines $(call dear_first,$(CHECKS)) $(LONG_CHECKS)

.PHONY: check-emulator
check-emulator:
	@$(AS_BEFORE) -- tests/emulator/run-baremetal

dear_first = $(filter $(1),$(DEAR_CHECKS)) $(filter-out $(DEAR_CHECKS),$(1))

.PHONY: bench
bench: ## measure what counting costs, beside perf_events and beside nothing
	@$(MAKE) --no-print-directory -j2 all machine
	@scripts/build-kernel --unpatched
	@tests/bench/run

.PHONY: performance-page
performance-page: bench ## measure, and write docs/performance.md
	tests/bench/report page $(BUILD)/bench/all >$(BUILD)/bench/performance.md
	mv $(BUILD)/bench/performance.md docs/performance.md

LONG_CHECKS += check-debug
.PHONY: check-debug
check-debug: ## run guest tests on kernels that watch their own locks and memory
	@$(MAKE) --no-print-directory -j2 all qemu $(GUEST_OTHER_PROGRAMS)
	@tests/debug/run
	@tests/module/run debug-6.12 debug-7.3
	@OPERATIONS=200000 KERNEL=vm+debug APPEND=preempt=full tests/fuzz/run
	@OPERATIONS=10000000 SEED=$${SEED:-$$(date +%s)} APPEND=preempt=full tests/fuzz/run
	@OPERATIONS=1000000 SEED=$${SEED:-$$(date +%s)} KERNEL=vm+rt+kasan tests/fuzz/run

.PHONY: fuzz
fuzz: ## fuzz the device for long; OPERATIONS=, SEED=, KERNEL=
	@$(MAKE) --no-print-directory -j2 all qemu
	@OPERATIONS=$${OPERATIONS:-100000000} SEED=$${SEED:-$$(date +%s)} KERNEL=$${KERNEL:-vm} tests/fuzz/run

.PHONY: programs
programs: $(PROGRAMS) ## build what "make install" installs, without the tests

.PHONY: all
all: $(PROGRAMS) $(ALL) ## build the library, the programs and the tests; needs no root where "make packages" was run

.PHONY: install
install: $(INSTALL_TARGETS) ## install below $(DESTDIR)$(PREFIX)

.PHONY: deb
deb: ## build Debian packages of the patched kernel, for a real machine
	@scripts/debian-packages

.PHONY: deb-packages
deb-packages: ## build Debian packages of all else: libraries, perfex, service, Python, the module for dkms
	@scripts/deb-packages

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: module module-install module-uninstall
module: ## build the driver as a module, for the kernel that runs here or KDIR=its headers
	@test -e $(KDIR)/Makefile || \
		{ echo >&2 \
		'there are no headers at $(KDIR): install those of the kernel, such as linux-headers-amd64'; exit 1; }
	kernel-patch/make-module $(BUILD)/module
	$(MAKE) -C $(KDIR) M=$(abspath $(BUILD)/module) CONFIG_PERFCTR=m modules
module-install: module ## install it below /lib/modules, to be loaded at boot
	$(MAKE) -C $(KDIR) M=$(abspath $(BUILD)/module) CONFIG_PERFCTR=m INSTALL_MOD_PATH=$(abspath $(DESTDIR)) \
		modules_install
	install -d $(DESTDIR)/etc/modules-load.d
	echo perfctr >$(DESTDIR)/etc/modules-load.d/perfctr.conf
# The release that modules are installed for: "make kernelrelease" says another one of Debian's headers.
UTS_RELEASE = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODULES = $(DESTDIR)/lib/modules/$(or $(UTS_RELEASE),$(error no headers of a kernel at $(KDIR)))
module-uninstall: ## remove what module-install has installed for the kernel that runs here, or KDIR=
	rm -f $(MODULES)/updates/perfctr.ko* $(MODULES)/extra/perfctr.ko* $(DESTDIR)/etc/modules-load.d/perfctr.conf
	find $(MODULES) -maxdepth 1 \( -name updates -o -name extra \) -empty -delete
	$(if $(DESTDIR),,depmod $(notdir $(MODULES)))

.PHONY: packages
packages: ## install the Debian packages that all of this needs
	@scripts/packages

.PHONY: clean
clean: ## remove what was built here; the caches stay
	rm -rf $(BUILD)

# The emulated machine: built in the user's cache directory, side by side with -j2.
.PHONY: machine qemu kernel debian-kernel other-kernels all-and-machine all-and-all-machines
machine: qemu kernel
	@$(MAKE) --no-print-directory linux-events
qemu:
	@scripts/build-qemu
kernel:
	@scripts/build-kernel
# A distribution's kernel, and the module for it.
debian-kernel: kernel
	@scripts/unpack-kernel debian-6.12
	@scripts/build-module --kernel debian-6.12
other-kernels: debian-kernel
	@scripts/build-kernel --unpatched
	@scripts/build-kernel --arch i386
	@scripts/build-kernel --linux 6.1 --config vm+bpf
	@scripts/build-kernel --config vm+kasan
	@scripts/unpack-kernel
	@scripts/build-module
all-and-machine: all machine debian-kernel $(CHECK_PROGRAMS)
all-and-all-machines: all-and-machine other-kernels linux7 $(LONG_PROGRAMS)
