# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by scripts that run suites of guest-tests in machines: boots the machines, and sums up. Argument: the name of
# the check.
# shellcheck shell=bash

check=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

complain() {
	printf '%s: %s\n' "$check" "$*"
	failed=$((failed + 1))
}

# Prints the variables of the environment that a deterministic machine gets beside those of the command itself. Tests
# that ask the clock run there in any tier, since the clock is the machine's own.
passed_on() {
	local name
	for name in TEST_ROUNDS CK_RUN_CASE CK_RUN_SUITE CK_INCLUDE_TAGS; do
		[[ ! -v $name ]] || printf '%s=%s\n' "$name" "${!name}"
	done
}

# boot MACHINE SUITES ENVIRONMENT OPTION...: boots a machine and adds up its results. The words of ENVIRONMENT are for
# env(1), the options for scripts/vm. libcheck closes with "100%: Checks: 31, Failures: 0, Errors: 0".
boot() {
	local machine=$1 status=0 checks bad begun=$SECONDS
	local -a suites environment
	read -ra suites <<<"$2"
	read -ra environment <<<"$3"
	if [[ " ${*:4} " == *' --deterministic'* ]]; then
		mapfile -t -O ${#environment[@]} environment < <(passed_on)
		set -- "$@" --once --files tests/guest/files.list
	fi
	printf -- '-- %s: %s\n' "$machine" "${suites[*]}"
	mkdir -p build/stats	# what the PMUs of the machines were asked for: --stats
	scripts/vm "${@:4}" -- env "${environment[@]}" build/tests/guest/guest-tests "${suites[@]}" 2>&1 | tee "$log" ||
		status=$?
	read -r checks bad < <(awk '/^[0-9]+%: Checks:/ { gsub(",", ""); print $3, $5 + $7; found = 1 }
		END { if (!found) print "none 0" }' "$log")
	if [[ $checks == none ]]; then
		complain "$machine: ended with status $status before its tests did"
		return
	fi
	printf -- '-- %s: %d s\n' "$machine" $((SECONDS - begun))
	passed=$((passed + checks - bad)) failed=$((failed + bad))
	if ((status && !bad)); then
		complain "$machine: status $status although every test passed"
	fi
}

# machines_of TABLE: prints the lines of the table that belong to the tier in TIER, or all lines if TIER is empty.
# TIER=gate: the machines of "make check".
machines_of() { awk -F '|' -v tier="${TIER:-}" '!/^#/ && NF && (tier == "" || $1 == tier)' "$1"; }

# Each machine can run all its tests, so none is skipped.
sum_up() {
	printf '%s: %d passed, %d failed, 0 skipped\n' "$check" "$passed" "$failed"
	((failed == 0))
}
