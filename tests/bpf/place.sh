# SPDX-License-Identifier: GPL-2.0-or-later
# Part of tests/bpf/run, after life.sh: the directory of the pins where others may write, and what is left of a service
# that was killed or held up.  Nothing is loaded at its beginning, nor at its end.
# shellcheck shell=bash disable=SC2154 # bpfd, perfex, machine and work are tests/bpf/run's; pins, and functions, service.sh's

# A second one in a mount namespace would be another one: this is what start finds.
umount /sys/fs/bpf 2>/dev/null || true
mount -t bpf -o mode=1777 bpf /sys/fs/bpf

as_nobody mkdir -m 0777 "$pins"
check 'start in a directory that a user has made' says "*is user 65534's, mode 0777; *rm -r $pins" "$bpfd" start
check 'stop in a directory that a user has made' says "*is user 65534's, mode 0777; *" "$bpfd" stop
rm -rf "$pins"
mkdir -m 0733 "$pins"
check 'start in a directory that others may write' says "*is user 0's, mode 0733; *" "$bpfd" start
rm -rf "$pins"

# A user's link to where everybody keeps files; "info" is a loop of links there.
mkdir -m 1777 "$work/shared"
touch "$work/shared/of-root" "$work/shared/call"
as_nobody ln -s "$work/shared" "$pins"
as_nobody ln -s loop "$work/shared/info"
as_nobody ln -s info "$work/shared/loop"
# The kernel's own setting, which Debian changes; in a machine of its own only.
links=/proc/sys/fs/protected_symlinks
protected=$(<$links)
[[ $machine == host ]] || echo 0 >$links
check 'start by a link that a user has made' says "*is no directory, *rm $pins" "$bpfd" start
check 'stop by a link that a user has made' says "*is no directory, *rm $pins" "$bpfd" stop
check 'nothing is removed behind a link' test -e "$work/shared/of-root" -a -e "$work/shared/call"
[[ $machine == host ]] || echo "$protected" >$links
rm -rf "$pins"

# Whatever is left of a check that failed.
start_alone() {
	"$bpfd" stop 2>/dev/null || true
	rm -rf "$pins"
	"$bpfd" start
}

# Names that the service does not use are not its own.
start_alone
bpftool map create "$pins/others" type array key 4 value 4 entries 1 name others
check 'stop beside what others have pinned' "$bpfd" stop
check 'stop removes what start has pinned alone' test "$(ls "$pins")" == others
rm -rf "$pins"

# Before it has pinned anything, a start has the lock alone.
mkdir -m 0711 "$pins"
flock --no-fork "$pins" sleep 30 &
starter=$!
until ! flock -n "$pins" true; do sleep 0.05; done
check 'stop beside a start' says '*about to start or stop it*' "$bpfd" stop
check 'it leaves the directory to the start' test -d "$pins"
kill "$starter"
wait "$starter" 2>/dev/null || true
rm -rf "$pins"

# A service that is held up, as by a freezer, while the next one starts.
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
