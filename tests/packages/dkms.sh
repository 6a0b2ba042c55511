# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/packages/run: tests perfctr-dkms without headers of kernels, and beside headers of kernels that it is
# for, and of kernels that it is not for.
# shellcheck shell=bash disable=SC2154 # of the other files
# shellcheck source=scripts/common.sh
. scripts/common.sh

# Prints the kernels that have headers.
kernels() { (cd "$root/lib/modules" && for kernel in */build; do echo "${kernel%/build}"; done); }

# is_installed VERSION: perfctr is installed in this version alone, for the one kernel that it is for, signed with the
# key of dkms, and is loaded at boot.
is_installed() {
	local kernel serial info
	kernel=$(kernels | grep -E '^6\.(1|12)\.' | grep -v -e -rt-)
	info=$(in_root modinfo -k "$kernel" perfctr) || return 1
	echo "$info"
	serial=$(openssl x509 -inform DER -in "$root/var/lib/dkms/mok.pub" -noout -serial | cut -d= -f2)
	[[ $(in_root dkms status) == "perfctr/$1, $kernel, x86_64: installed" ]] || { in_root dkms status; return 1; }
	[[ $(sed -n 's/^vermagic: *\([^ ]*\) .*/\1/p' <<<"$info") == "$kernel" ]] || { echo "not for $kernel"; return 1; }
	[[ $(sed -n 's/^sig_key: *//p' <<<"$info" | tr -d :) == "$serial" ]] || { echo "not signed by $serial"; return 1; }
	in_root modprobe -n -S "$kernel" perfctr || return 1
	grep -qx perfctr "$root/usr/lib/modules-load.d/perfctr.conf" || return 1
	cmp packaging/cdi/perfctr.json "$root/etc/cdi/perfctr.json" || return 1
	[[ $(cd "$root/usr/src" && echo perfctr-*) == "perfctr-$1" ]] || { echo "not the sources of $1 alone"; return 1; }
}

# Nothing of perfctr may be left, and nothing of dkms but its key. An architecture has a header of the same name.
is_gone() {
	local left
	left=$(find "$root" -xdev -path "$root/packages" -prune -o -path '*/arch/sparc/*' -o -name '*perfctr*' -print
		grep -l perfctr "$root"/lib/modules/*/modules.*
		find "$root"/lib/modules/*/updates "$root"/var/lib/dkms -mindepth 1 ! -name 'mok.*'
		find "$root/usr/lib" -empty -name '*modules-load.d')
	[[ ! $left ]] || { echo "$left"; return 1; }
}

test_dkms() {
	local package=/packages/now/perfctr-dkms_${version}_all.deb newer=/packages/next/perfctr-dkms_${next}_all.deb
	make_root dkms
	check 'installs without headers of a kernel' apt install "$package"
	keep_said
	check_said "perfctr-dkms: there is no perfctr for the kernel that runs, .*"
	check 'is built when headers come' apt install linux-headers-amd64
	check 'is installed and signed' is_installed "$version"
	check 'purges' apt purge perfctr-dkms
	check 'nothing is left' is_gone

	check 'installs beside headers' apt install "$package"
	check 'is installed and signed' is_installed "$version"
	check 'installs a second time' apt install --reinstall "$package"
	check 'is installed and signed' is_installed "$version"
	check 'upgrades' apt install "$newer"
	check 'is installed and signed' is_installed "$next"

	derive_sources "$root/etc/apt/sources.list.d" deb "$other_suite"
	check 'the lists of another suite' apt update
	check "leaves $other of $other_suite alone" apt install -t "$other_suite" "$other"
	keep_said
	check_said "perfctr: skipped for .*: it is for Linux 6\.1 .*"
	check 'is installed and signed' is_installed "$next"
	check 'installs beside these headers' apt install --reinstall "$newer"
	keep_said
	check_said '.*includes a BUILD_EXCLUSIVE directive.*'
	check 'is installed and signed' is_installed "$next"

	# Pretends that the module is loaded: unloading cannot be tested here.
	mkdir -p "$root/sys/module/perfctr"
	echo live >"$root/sys/module/perfctr/initstate"
	check 'removes while it is loaded' apt remove perfctr-dkms
	keep_said
	check_said 'perfctr-dkms: the module stays loaded until the next boot, or until "rmmod perfctr"'
	rm -r "$root/sys/module"
	check 'purges what was removed' apt purge perfctr-dkms
	check 'nothing is left' is_gone
	check 'dpkg knows of no fault' in_root dpkg --audit
}
