# SPDX-License-Identifier: GPL-2.0-or-later
# Each directory has a rules.mk with its rules. A rules.mk adds to these variables:
#   PROGRAMS         files below $(BUILD) that "make install" installs
#   ALL              other files that "make all" builds: tests and examples
#   INSTALL_TARGETS  phony targets that install below $(DESTDIR)
#   CHECKS           phony targets that "make check" runs, two at a time
#   LONG_CHECKS      phony targets that "make check-all" runs in addition
#   CHECK_PROGRAMS   files that CHECKS need and ALL lacks: make builds them before the first check
#   LONG_PROGRAMS    files that LONG_CHECKS need in addition
#   FREE_RUNNING     targets of CHECKS and LONG_CHECKS whose machines run by the host's clock: see scripts/check
# A check ends with the line "NAME: N passed, N failed[, N skipped]", or with the closing line of libcheck.

# Users can set CC, CPPFLAGS, CFLAGS, LDFLAGS, DESTDIR, PREFIX, LIBDIR and LINK, on the command line or in the
# environment. V=1 shows the commands. WERROR=1 makes warnings errors: "make check" sets it.
BUILD   := build
CC      ?= cc
CFLAGS  ?= -O2 -g
# The same sources make the same programs in every directory.
SAME_ANYWHERE := -ffile-prefix-map=$(CURDIR)=.
override CFLAGS := -std=gnu11 -Wall -Wextra -Wno-unused-parameter $(if $(WERROR),-Werror) -Iinclude $(SAME_ANYWHERE) \
	$(CPPFLAGS) $(CFLAGS)
DESTDIR ?=
PREFIX  ?= /usr/local
# On a distribution with libraries of several architectures, LIBDIR is a directory such as /usr/lib/x86_64-linux-gnu.
LIBDIR  ?= $(PREFIX)/lib
# static: perfex and perfctr-bpfd contain libperfctr, and run in every directory. shared: they need shared libraries.
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

# $(call machines_of,TIER,FILE): the names of the machines of TIER in a table of machines. $(call same_each_time,FILE):
# the names of the deterministic machines in the table. One with --icount alone waits for files of the host.
machines_of = $(shell awk -F '|' '$$1 == "$(1)" && !seen[$$2]++ { print $$2 }' $(2))
same_each_time = $(shell awk -F '|' '/--deterministic/ { print $$2 }' $(1))

# What checks of built programs need not read: the sources of programs and driver, and documents.
BUILT_FROM := bpf debian emulator include kernel-patch lib packaging papi perfex python rust
PROSE := NEWS README.md CONTRIBUTING.md SECURITY.md

# $(AS_BEFORE) [--with PATH]... -- COMMAND: run a check that needs neither perfex, the documents, the examples,
# Python nor Rust, and of $(BUILD) only each PATH. If it has passed, and nothing else has changed, make shows its old
# output instead.
AS_BEFORE := scripts/as-before $(addprefix --without ,perfex docs examples python rust README.md CONTRIBUTING.md NEWS)

# These tests take longest, and begin first.
DEAR_CHECKS = check-families check-bpf-debian-6.12 check-documents check-guest-life check-guest-shared check-vm \
	check-guest-perfex check-module-6.12 check-unit check-guest-thread check-groups check-kernel-patch \
	check-module-load

comma := ,

# Install the packages that the goals need, as scripts/packages.list says, before the files below look for libraries.
# "make -n" installs nothing. Its n is in the first word of MAKEFLAGS, but only until the line below adds to MAKEFLAGS.
ifeq ($(findstring n,$(firstword -$(MAKEFLAGS))),)
$(shell scripts/packages --for $(or $(MAKECMDGOALS),all))
ifneq ($(.SHELLSTATUS),0)
$(error Debian packages are missing)
endif
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

# $(SAY_CC)$(CC) ... prints the name of the target instead of the command, except with V=1.
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
include tests/exact/rules.mk
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
include rust/rules.mk
include tests/languages/rules.mk
include tests/cluster/rules.mk
include examples/rules.mk
include tests/ci/rules.mk
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

# README.md shows these programs in the emulated machine.
.PHONY: demo-programs
demo-programs: $(PERFEX) $(GUEST_PROGRAMS) $(EXAMPLES)

# "make check" leaves out the tests with the tag "clock", which depend on the host's clock. TEST_ROUNDS=0.1: loops of
# tests run a tenth of their rounds.
.PHONY: check
check: ## set everything up, then run the tests that each change must pass, and print one summary
	@TIER=gate CK_EXCLUDE_TAGS=clock TEST_ROUNDS=0.1 FREE_RUNNING='$(FREE_RUNNING)' BUDGET=tests/budget WERROR=1 \
		scripts/check all-and-machine $(call dear_first,$(CHECKS))

.PHONY: check-all
check-all: ## the same and all other tests: other kernels, debugging kernels, mutants, seeds; more than a day
	@FREE_RUNNING='$(FREE_RUNNING)' WERROR=1 \
		scripts/check all-and-all-machines $(call dear_first,$(CHECKS)) $(LONG_CHECKS)

.PHONY: check-emulator
check-emulator:
	@$(AS_BEFORE) -- tests/emulator/run-baremetal

dear_first = $(filter $(1),$(DEAR_CHECKS)) $(filter-out $(DEAR_CHECKS),$(1))

.PHONY: bench
bench: ## measure what counting costs, beside perf_events and beside nothing
	@$(MAKE) --no-print-directory -j2 all qemu kernel
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

LONG_CHECKS += fuzz
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

# Installs below another directory, to learn the names of the files.
UNINSTALL := $(abspath $(BUILD)/uninstall)
.PHONY: uninstall
uninstall: ## remove what "make install" has installed below $(DESTDIR)$(PREFIX)
	@rm -rf $(UNINSTALL)
	@$(MAKE) --no-print-directory install DESTDIR=$(UNINSTALL) >/dev/null
	cd $(UNINSTALL) && find . ! -type d -printf '$(DESTDIR)/%P\0' | xargs -0 rm -f
	cd $(UNINSTALL) && find . -depth -type d -path '*perfctr*' -printf '$(DESTDIR)/%P\0' | \
		xargs -0 rmdir --ignore-fail-on-non-empty 2>/dev/null; rm -rf $(UNINSTALL)

.PHONY: deb
deb: ## build Debian packages of the patched kernel, for a real machine
	@scripts/debian-packages

.PHONY: deb-packages
deb-packages: ## build Debian packages of all else: libraries, perfex, machine, service, Python, module for dkms
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
	install -D -m 644 packaging/cdi/perfctr.json $(DESTDIR)/etc/cdi/perfctr.json
# The release for which modules are installed. "make kernelrelease" prints another one in Debian's headers.
UTS_RELEASE = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(KDIR)/include/generated/utsrelease.h)
MODULES = $(DESTDIR)/lib/modules/$(or $(UTS_RELEASE),$(error no headers of a kernel at $(KDIR)))
module-uninstall: ## remove what module-install has installed for the kernel that runs here, or KDIR=
	rm -f $(MODULES)/updates/perfctr.ko* $(MODULES)/extra/perfctr.ko* $(DESTDIR)/etc/modules-load.d/perfctr.conf \
		$(DESTDIR)/etc/cdi/perfctr.json
	find $(MODULES) -maxdepth 1 \( -name updates -o -name extra \) -empty -delete
	$(if $(DESTDIR),,depmod $(notdir $(MODULES)))

.PHONY: packages
packages: ## install the Debian packages that all of this needs
	@scripts/packages

.PHONY: clean
clean: ## remove what was built here; the caches stay
	rm -rf $(BUILD)

# These targets build the emulated machine in the user's cache directory. With -j2 make builds QEMU and the kernel at
# once.
.PHONY: machine machine-archive install-machine qemu kernel debian-kernel other-kernels
.PHONY: all-and-machine all-and-all-machines
machine: qemu kernel $(PERFEX) ## build the emulated machine, and pack it for perfex exact
	@$(MAKE) --no-print-directory linux-events
	@scripts/build-machine $(BUILD)/machine $(PERFEX)
machine-archive: machine ## perfex and the machine as one archive, which unpacks anywhere
	tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --transform='s|^|perfctr-machine/|' \
		-cJf $(BUILD)/perfctr-machine.tar.xz -C $(BUILD) bin/perfex machine
install-machine: machine ## install the machine below $(DESTDIR)$(PREFIX)/lib/perfctr
	install -d $(DESTDIR)$(PREFIX)/lib/perfctr
	cp -rT $(BUILD)/machine $(DESTDIR)$(PREFIX)/lib/perfctr/machine
qemu:
	@scripts/build-qemu
kernel:
	@scripts/build-kernel
# Debian's kernel 6.12, and the driver as a module for it.
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
