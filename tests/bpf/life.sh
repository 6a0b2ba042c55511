# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bpf/run: starts, stops and kills the service in several ways. No service is loaded when this part
# begins, nor when it ends.
# shellcheck shell=bash disable=SC2154 # bpfd, perfex and work are tests/bpf/run's; pins, and functions, service.sh's

# When two services start at once, one of them starts, and has loaded everything. The other one is refused.
start_twice_at_once() {
	local first=0 second=0
	"$bpfd" start 2>"$work/first" &
	"$bpfd" start 2>"$work/second" || second=1
	wait $! || first=1
	((first + second == 1)) || { cat "$work/first" "$work/second"; return 1; }
	cat "$work/first" "$work/second" | grep -qE 'runs already|is about to start' &&
		as_nobody "$perfex" --backend=bpf -o /dev/null /bin/true && sleep 1.2 && [[ $(pid_of_service) ]] &&
		"$bpfd" stop && [[ ! -e $pins ]]
}
for _ in 1 2 3 4 5; do
	check 'two starts at once' start_twice_at_once
done

# umask 0077 is that of the systemd unit.
check 'start' sh -c 'umask 0077 && exec "$@"' sh "$bpfd" start --slots 16
# systemd starts the service in the foreground. Such a start is refused while a service runs that was started by hand.
check 'a start in the foreground beside it' says '*runs already, as process*' "$bpfd" start --foreground
check 'the first one still runs' test "$(pid_of_service)"
check 'users may use it' as_nobody "$perfex" --backend=bpf -o /dev/null /bin/true
# Only the owner can lock the directory.
check 'a user cannot lock others out' says '*Permission denied*' as_nobody flock -n "$pins" true

held_open() { as_nobody "$perfex" --backend=bpf -e page-faults -o "$work/counts" sh -c 'sleep 2; true'; }
held_open &
holder=$!
sleep 0.5
kill_service
check 'other programs than this would load' says '*another build*' "$work/bpfd" start
check 'another number of slots' says '*16 slots*' "$bpfd" start --slots 32
check 'start goes on' "$bpfd" start
check 'what was counted meanwhile is there' wait "$holder"
"$bpfd" stop

held_open &
holder=$!
"$bpfd" start
sleep 0.3
"$bpfd" stop
check 'start after a stop while it was used' "$bpfd" start
check 'stop again' "$bpfd" stop
wait "$holder" || true

# A start that fails leaves nothing behind.
check 'a start that fails' says '*--event*' "$bpfd" start --event no_such_event
check 'it leaves nothing' test ! -e "$pins"

# Programs do not read a map whose elements are longer than in their version: the kernel would write beyond the buffer.
fake() {
	mkdir -p "$pins"
	bpftool map create "$pins/info" type array key 4 value 4096 entries 1 name info
	bpftool map create "$pins/call" type array key 4 value 4 entries 1 name call
	# shellcheck disable=SC2046 # numbers
	bpftool map update pinned "$pins/info" key 0 0 0 0 value $(yes 65 | head -4096)
	chmod 711 "$pins"
	chmod 644 "$pins/info" "$pins/call"
}
unload_fake() { "$bpfd" stop && [[ ! -e $pins ]]; }
mount | grep -q ' /sys/fs/bpf ' || { mount -t bpf -o mode=0711 bpf /sys/fs/bpf; mounted=1; }
fake
check 'perfex with another version' says '*another version*' as_nobody "$perfex" --backend=bpf -e page-faults true
check 'start with another version' says '*another version*' "$bpfd" start
check 'status with another version' says '*another version*' "$bpfd" status
check 'stop with another version' unload_fake
[[ ! ${mounted:-} ]] || umount /sys/fs/bpf

# While a BPF program at a tracepoint is preempted, the other BPF programs miss what happens on its CPU. Here the
# programs for exec and exit are removed, so that the service learns of no exec and no exit at all.
install -m 4755 -o daemon /bin/sleep "$work/as-daemon"
untold() {
	"$bpfd" start && rm "$pins/exec" "$pins/exit" || return
	# as_nobody is not used here: in the background a function has a shell of its own, which would come between.
	# setsid makes a process group, and the group is killed as a whole.
	setsid setpriv --reuid=nobody --regid=nogroup --clear-groups \
		"$perfex" --backend=bpf -e page-faults -o /dev/null "$@" &
	untold=$!
	sleep 1
}
is_status() {
	for _ in {1..1200}; do
		"$bpfd" status | grep -q "$1" && return
		sleep 0.05
	done
	"$bpfd" status
	return 1
}
check 'start for an exec that is not told' untold sh -c "$work/as-daemon 30; true"
check 'what changes ids is dropped all the same' is_status ', dropped 1$'
check 'who is counted as before is there' is_status 'taken by 1 contexts'
kill -KILL -- "-$untold"
wait "$untold" 2>/dev/null || true
check 'slots come back all the same' is_status 'taken by 0 contexts and 0 marks'
"$bpfd" stop
check 'start for another exec' untold sh -c 'sleep 0.1; exec sleep 2'
check 'what changes nothing is counted on' is_status ', dropped 0$'
wait "$untold" || true
"$bpfd" stop

# The setting is for the whole machine, so this check does not run on the host.
disabled=/proc/sys/kernel/unprivileged_bpf_disabled
if [[ $machine != host && $(<$disabled) == 2 ]]; then
	echo 0 >$disabled
	check 'users may load programs' says '*unprivileged_bpf_disabled=2*' "$bpfd" start
	echo 2 >$disabled
fi
run_tests 'root, as systemd' "$tests" notify

# systemd-analyze rates the rights that the unit leaves to the service, from 0 to 10; the threshold of 30 means 3.0.
# /bin/true stands for the service's program, since it exists on every machine.
sed -e 's|@PREFIX@/sbin/perfctr-bpfd|/bin/true|' bpf/perfctr-bpfd.service.in >"$work/perfctr-bpfd.service"
check 'the unit is hardened' test "$(systemd-analyze security --offline=true --threshold=30 \
	"$work/perfctr-bpfd.service" >/dev/null && echo yes)"
