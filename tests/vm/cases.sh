# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests of commands: runs a command, checks its results, and counts the checks. The caller has set $work to a
# directory.
# shellcheck shell=bash disable=SC2154

passed=0 failed=0

# capture COMMAND...: runs the command. Its outputs are in $work/out and $work/err, its exit status in $status.
capture() {
	status=0
	"$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# check NAME CONDITION...: runs the condition. If it fails, shows the captured outputs.
check() {
	local name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
		echo "ok      $name"
	else
		failed=$((failed + 1))
		echo "FAILED  $name (status ${status:-none})"
		head -c 600 "$work/out" "$work/err"
	fi
}

status_is() { ((status == $1)); }
out_is() { printf '%s' "$1" | cmp -s - "$work/out"; }
err_has() { grep -q -- "$1" "$work/err"; }
both() { local one=$1; shift; $one && "$@"; }
# The next command boots a machine without scripts/vm, which notes its own: the sum is that of tests/budget.
note_boot() { [[ ! ${VM_BOOTS-} ]] || echo booted >>"$VM_BOOTS"; }
