# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bpf/run: functions for the running service.
# shellcheck shell=bash disable=SC2034,SC2154 # pins is for others; bpfd is tests/bpf/run's
pins=/sys/fs/bpf/perfctr

pid_of_service() { "$bpfd" status | awk '/^service  process/ { print $3 }'; }

kill_service() {
	local pid
	pid=$(pid_of_service)
	kill -KILL "$pid"
	while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done
}
