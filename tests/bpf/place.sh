# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bpf/run, after life.sh: tests a directory for the pins that other users can write to, and the remains of
# a service that was killed or held up. No service is loaded when this part begins, nor when it ends.
# shellcheck shell=bash disable=SC2154 # bpfd, perfex, machine and work are tests/bpf/run's; pins, and functions, service.sh's

# Each mount of type bpf is a file system of its own. The service has to find this one.
umount /sys/fs/bpf 2>/dev/null || true
mount -t bpf -o mode=1777 bpf /sys/fs/bpf

as_nobody mkdir -m 0777 "$pins"
check 'start in a directory that a user has made' says "*is user 65534's, mode 0777; *rm -r $pins" "$bpfd" start
check 'stop in a directory that a user has made' says "*is user 65534's, mode 0777; *" "$bpfd" stop
check 'a client of such a directory' says "*is not loaded (there is no $pins/call)*" "$perfex" --backend=bpf true
rm -rf "$pins"
mkdir -m 0733 "$pins"
check 'start in a directory that others may write' says "*is user 0's, mode 0733; *" "$bpfd" start
rm -rf "$pins"

# A user has put a link in the place of the directory. It leads to a directory that all users can write to, in which
# "info" is a loop of links.
mkdir -m 1777 "$work/shared"
touch "$work/shared/of-root" "$work/shared/call"
as_nobody ln -s "$work/shared" "$pins"
as_nobody ln -s loop "$work/shared/info"
as_nobody ln -s info "$work/shared/loop"
# Sets protected_symlinks to the kernel's default, which Debian changes. The setting is for the whole machine, so it
# stays as it is on the host.
links=/proc/sys/fs/protected_symlinks
protected=$(<$links)
[[ $machine == host ]] || echo 0 >$links
check 'start by a link that a user has made' says "*is no directory, *rm $pins" "$bpfd" start
check 'stop by a link that a user has made' says "*is no directory, *rm $pins" "$bpfd" stop
check 'nothing is removed behind a link' test -e "$work/shared/of-root" -a -e "$work/shared/call"
[[ $machine == host ]] || echo "$protected" >$links
rm -rf "$pins"

# Starts the service after removing the remains of a check that failed.
start_alone() {
	"$bpfd" stop 2>/dev/null || true
	rm -rf "$pins"
	"$bpfd" start
}

start_alone
# shellcheck disable=SC2016 # for the shell inside
check 'status in another pid namespace' \
	unshare --pid --fork --mount-proc sh -c '"$1" status | grep -q "^service  cannot be seen from this pid namespace"' sh "$bpfd"
"$bpfd" stop

# The service does not remove pins whose names it does not use.
start_alone
bpftool map create "$pins/others" type array key 4 value 4 entries 1 name others
check 'stop beside what others have pinned' "$bpfd" stop
check 'stop removes what start has pinned alone' test "$(ls "$pins")" == others
rm -rf "$pins"

# A start that was killed leaves the first pins of this list. The last one of them may still have its first mode, 600.
pinned_in_order=(slots info self walk count keep switch fork exec exit free call)
starts_anew() {
	local lacking=$1 name
	start_alone && kill_service || return
	for name in "${pinned_in_order[@]:12 - lacking}"; do
		rm -f "$pins/$name"
	done
	((lacking == 12)) || chmod 600 "$pins/${pinned_in_order[11 - lacking]}"
	"$bpfd" start && as_nobody "$perfex" --backend=bpf -e page-faults -o /dev/null /bin/true &&
		"$bpfd" stop && [[ ! -e $pins ]]
}
check 'start after one that was killed before its last mode' starts_anew 0
check 'start after one that was killed before its last pin' starts_anew 1
check 'start after one that was killed before half of its pins' starts_anew 6
check 'start after one that was killed after "info"' starts_anew 10
check 'start after one that was killed after its first pin' starts_anew 11
check 'start after one that was killed before its first pin' starts_anew 12
# A stop that was killed, or that cannot remove files, leaves all pins, but what they stand for has ended.
stop_in_vain() {
	local status=0
	mount --bind "$pins" "$pins"
	mount -o remount,bind,ro "$pins"
	"$bpfd" stop || status=$?
	umount "$pins"
	return "$status"
}
start_alone
kill_service
check 'stop where nothing can be removed' says '*cannot remove what is in*' stop_in_vain
check 'all pins are left' test -e "$pins/slots" -a -e "$pins/call"
check 'start after a stop that removed nothing' "$bpfd" start
check 'what is started then counts' as_nobody "$perfex" --backend=bpf -e page-faults -o /dev/null /bin/true
check 'stop once more' "$bpfd" stop

# A client that has the pins open reports an error. It does not count on with a part of the programs.
is_told() {
	! wait "$holder" && grep -q '^perfex: ' "$work/held"
}
start_alone
kill_service
as_nobody "$perfex" --backend=bpf -e page-faults -o /dev/null sh -c 'sleep 3; true' 2>"$work/held" &
holder=$!
sleep 1
rm -f "$pins/exit"
check 'start after a pin was removed' "$bpfd" start
check 'who counts with less than all is told' is_told
check 'stop after a pin was removed' "$bpfd" stop

# stop removes the other pins even where open_info() fails.
start_alone
old=$(pid_of_service)
kill -STOP "$old"
rm -f "$pins/info"
check 'stop without the map that tells of it' says '*all is removed, but a perfctr-bpfd has not ended yet; *' "$bpfd" stop
check 'no other pin is left' test ! -e "$pins"
kill -CONT "$old"
rm -rf "$pins"

# The caller may have closed the standard streams: the lock must not become one of them.
check 'start without standard streams' sh -c 'exec "$@" <&- >&- 2>&-' sh "$bpfd" start
check 'start beside one without standard streams' says '*runs already, as process*' "$bpfd" start
check 'stop the one without standard streams' "$bpfd" stop

# BPF programs read the kernel's clock, so the service refuses to start in a time namespace with another clock.
check 'start where the clock is behind' says '*time namespace*' unshare --time --monotonic -5 "$bpfd" start
check 'start where the clock is ahead' says '*time namespace*' unshare --time --monotonic 5 "$bpfd" start

# Clients trust the contents of the maps.
run_tests 'root, among forged maps' "$tests" forged
# count_by FILE: runs perfex with FILE in the place of the pin "walk". FILE may be one that gives nothing, or has no
# end.
count_by() {
	local status=0
	mount --bind "$1" "$pins/walk"
	# 400,000 KiB are less than the machine's memory, and far more than a walk takes.
	(ulimit -v 400000 && exec timeout --kill-after=1 20 "$perfex" --backend=bpf -e page-faults -o /dev/null /bin/true) || status=$?
	umount "$pins/walk"
	return "$status"
}
start_alone
mkfifo "$work/fifo"
check 'a walk that never comes' says 'perfex: *' count_by "$work/fifo"
check 'a walk that never ends' says 'perfex: *out of range*' count_by /dev/zero
check 'a walk that is one' as_nobody "$perfex" --backend=bpf -e page-faults -o /dev/null /bin/true
"$bpfd" stop

# Until a start has pinned something, it has nothing but the lock.
mkdir -m 0711 "$pins"
flock --no-fork "$pins" sleep 30 &
starter=$!
until ! flock -n "$pins" true; do sleep 0.05; done
check 'stop beside a start' says '*about to start or stop it*' "$bpfd" stop
check 'it leaves the directory to the start' test -d "$pins"
kill "$starter"
wait "$starter" 2>/dev/null || true
rm -rf "$pins"

# A service is held up, as the freezer of control groups does it, while the next one starts.
is_gone() {
	for _ in {1..200}; do
		[[ -d /proc/$1 ]] || return 0
		sleep 0.05
	done
	return 1
}
start_alone
old=$(pid_of_service)
kill -STOP "$old"
check 'stop says that the service has not ended' says "*process $old has not ended*" "$bpfd" stop
check 'start beside one that is held up' "$bpfd" start
check 'the next one runs' test "$(pid_of_service)" != "$old"
new=$(pid_of_service)
kill -CONT "$old"
check 'the one that was held up ends' is_gone "$old"
check 'it leaves the next one alone' test "$(pid_of_service)" == "$new"
check 'the next one is of use' as_nobody "$perfex" --backend=bpf -o /dev/null /bin/true
check 'the next one stops' "$bpfd" stop
umount /sys/fs/bpf
