# SPDX-License-Identifier: GPL-2.0-or-later
# The targets that tests/summary/run gives to scripts/check, through MAKEFILES. $(WORK) is the directory of
# tests/summary/run.

.PHONY: boots computes builds breaks passes skips fails kernels libcheck silent silent-status liar left right \
		takes-a-while takes-as-long sleeps sleeps-too fails-once fails-first fails-before
builds:
	@touch $(WORK)/built
breaks:
	@false
passes:
	@test -e $(WORK)/built
	@echo 'some words'
	@echo 'passes: 3 passed, 0 failed'
skips:
	@echo 'skips: 1 passed, 0 failed, 4 skipped'
fails:
	@echo 'fails: 2 passed, 1 failed'; false
kernels:
	@echo 'on-debian-6.1: 5 passed, 0 failed, 0 skipped'
	@echo 'on-debian-6.12: 3 passed, 2 failed, 0 skipped'; false
libcheck:
	@echo 'tests/a.c:7:F:case:a_test:0: not so'
	@echo '50%: Checks: 4, Failures: 1, Errors: 1'; false
silent:
	@echo 'nothing that sums up'
silent-status:
	@exit 3
liar:
	@echo 'liar: 2 passed, 0 failed'; false

# Each of the two ends after the other one has begun.
left right:
	@touch $(WORK)/$@
	@timeout 60 sh -c 'until test -e $(WORK)/left && test -e $(WORK)/right; do sleep 0.1; done'
	@echo '$@: 1 passed, 0 failed'
takes-a-while takes-as-long:
	@sleep 2; echo '$@: 1 passed, 0 failed'
boots:
	@printf '%s\n' booted 'as before' booted >>"$$VM_BOOTS"; echo 'boots: 1 passed, 0 failed'
computes:
	@sh -c 'ulimit -t 2; while :; do :; done' || echo 'computes: 1 passed, 0 failed'
sleeps:
	@echo $$$$ >$(WORK)/pid; sleep 1000
sleeps-too:
	@sleep 1000

# These fail the first time, and pass then.
fails-once fails-first fails-before:
	@if mkdir $(WORK)/$@ 2>/dev/null; then echo 'tests/a.c:7:F:case:races:0: not so'; \
		echo '$@: 1 passed, 1 failed'; false; \
		else echo '$@: 2 passed, 0 failed'; fi
