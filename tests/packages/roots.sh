# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/packages/run: makes roots of a release, runs commands in them, and checks the results.
# shellcheck shell=bash disable=SC2154 # of the other files
# shellcheck source=scripts/common.sh
. scripts/common.sh

# check NAME COMMAND...: the check passes if the command succeeds. The output of the command is in $work/said.
check() {
	if "${@:2}" >"$work/said" 2>&1 </dev/null; then
		passed=$((passed + 1))
		echo "ok      $release: $1"
	else
		failed=$((failed + 1))
		printf 'FAILED  %s: %s\n' "$release" "$1"
		tail -n 30 "$work/said"
	fi
}
# check_said PATTERN: a line that the last command before keep_said has printed must match the pattern.
check_said() { check "says: $1" grep -xE -e "$1" "$work/said.before"; }
keep_said() { cp "$work/said" "$work/said.before"; }

in_root() {
	# shellcheck disable=SC2016 # of the other shell
	unshare --mount --pid --fork --kill-child --mount-proc="$root/proc" sh -c '
		mount --rbind /dev "$1/dev"
		root=$1
		shift
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/root \
			DEBIAN_FRONTEND=noninteractive INITRD=No "$@"' sh "$root" "$@"
}
apt() { in_root apt-get -q -y -o Dpkg::Use-Pty=0 --no-install-recommends "$@"; }

# Downloads a root of the release. The tests run in copies of it.
make_base() {
	local kind
	local -a files
	root=$work/$release-base
	[[ ! -d $root/usr ]] || return 0
	for kind in "$suite" "$suite-security"; do
		derive_sources "$work/sources-$kind" deb "$kind"
	done
	mapfile -t files < <(find "$work/sources-$suite" "$work/sources-$suite-security" -type f -size +0)
	# The settings of downloads, such as the machine's proxy.
	apt-config dump Acquire >"$work/acquire"
	mmdebstrap --quiet --mode=root --variant=apt --aptopt="$work/acquire" "$suite" "$root" "${files[@]}" && apt update
}

# make_root PURPOSE: makes a new copy of the root.
make_root() {
	root=$work/$release-$1
	rm -rf "$root"
	cp -a --reflink=auto "$work/$release-base" "$root"
	mkdir "$root/packages"
	[[ ! -d $packages ]] || cp -r "$packages/." "$root/packages"
}
