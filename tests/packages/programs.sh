# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/packages/run: tests all packages but perfctr-dkms, in a root that has nothing else of perfctr. There
# is no emulated machine, so perf_events counts.
# shellcheck shell=bash disable=SC2154 # of the other files

# Lists all files by name, kind and target of links. Leaves out the files that apt, dpkg, the loader and man have for
# themselves: these change with any package.
list_files() {
	(cd "$root" && find . -xdev \( -path ./packages -o -path ./proc -o -path ./sys -o -path ./dev -o -path ./root -o -path ./tmp -o \
		-path ./var/cache/apt -o -path ./var/cache/ldconfig -o -path ./var/cache/man -o -path ./var/lib/apt -o -path ./var/log -o -path './var/lib/dpkg/*-old' \) \
		-prune -o -printf '%p %y %l\n' | LC_ALL=C sort)
}
# debs DIRECTORY [NAME...]: prints the packages of these names by their files in the root; without NAME all but
# perfctr-dkms.
debs() {
	local name
	if (($# == 1)); then
		(cd "$root" && find "packages/$1" -name '*.deb' ! -name 'perfctr-dkms_*' -printf '/%p\n')
	else
		for name in "${@:2}"; do
			(cd "$root" && printf '/%s\n' "packages/$1/${name}"_*.deb)
		done
	fi
}
install_debs() {
	local -a files
	mapfile -t files < <(debs "$@")
	apt install "${files[@]}"
}
# Installs the packages that ours need first, so that the remains of ours can be told from theirs.
install_depended() {
	local -a files others
	mapfile -t files < <(debs now)
	mapfile -t others < <(apt install -s "${files[@]}" | awk '$1 == "Inst" { print $2 }' | grep -vE '^(lib|python3-)?perfctr')
	((${#others[@]})) && apt install "${others[@]}" gcc libc6-dev pkg-config man-db
}
# Installs our packages. They must need no other package now.
installs_alone() {
	local -a files
	mapfile -t files < <(debs "$@")
	apt install "${files[@]}" || return 1
	diff <(printf '%s\n' "${files[@]##*/}" | sed 's/_.*//' | sort) <(installed | cut -d ' ' -f 1)
}
installed() {
	# shellcheck disable=SC2016 # dpkg-query's own
	in_root dpkg-query -W -f '${Package} ${Version} ${db:Status-Status}\n' '*perfctr*' 2>/dev/null | awk '$3 == "installed" { print $1, $2 }' | sort
}
have_version() { [[ $(installed | cut -d ' ' -f 2 | sort -u) == "$1" ]] || { installed; return 1; }; }
nothing_left() { diff "$work/files-$release" <(list_files); }
broken_links() {
	local link
	installed | cut -d ' ' -f 1 | in_root xargs dpkg-query -L | while read -r link; do
		[[ ! -L $root$link ]] || in_root test -e "$link" || echo "$link leads nowhere"
	done | { ! grep .; }
}

# compile PROGRAM SOURCES PACKAGE [--static]: compiles with the files of libperfctr-dev.
compile() {
	# shellcheck disable=SC2016 # of the other shell
	in_root sh -c 'gcc -O2 -pthread ${4:+-static} -o "/root/$1" $2 $(pkg-config --cflags --libs $4 "$3")' sh "$@"
}
# needs PROGRAM [LIBRARIES]: the program must need these libraries, in addition to those of the C library.
needs() {
	local needed
	in_root readelf -d "$1" >"$work/dynamic" || return 1
	needed=$(sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' "$work/dynamic" | grep -vxE 'libc\.so\.6|libm\.so\.6|ld-linux.*' | sort | paste -sd ' ')
	[[ $needed == "${2-}" ]] || { echo "needs: $needed"; return 1; }
}
has_no_rpath() {
	in_root readelf -d "$@" >"$work/dynamic" && grep -q NEEDED "$work/dynamic" && ! grep -E 'R(UN)?PATH' "$work/dynamic"
}
counts_pages() { [[ $("${@:2}" | tee /dev/stderr) == "$1 100" ]]; }
python_count() {
	in_root python3 -c 'if True:
		import importlib.metadata, mmap, perfctr, sys
		pages = mmap.mmap(-1, 100 * 4096, mmap.MAP_PRIVATE)
		pages.madvise(mmap.MADV_NOHUGEPAGE)
		with perfctr.count("page-faults") as counter:
			for i in range(100):
				pages[i * 4096] = 1
		faults = counter.counts["page-faults"]
		print(perfctr.__version__, faults)
		plugins = [e.name for e in importlib.metadata.entry_points(group="pytest11")]
		sys.exit(perfctr.__version__ != sys.argv[1] or not 100 <= faults <= 110 or "perfctr" not in plugins)' "$1"
}
perfex_counts() {
	in_root perfex stat true 2>&1 | tee "$work/perfex.out" && grep -E '^task-clock +[1-9]' "$work/perfex.out" && grep -E '^backend +perf_events$' "$work/perfex.out"
}
# The program executes 100 times nop, and four instructions that end it.
exact_counts() {
	in_root perfex exact --no-directory --csv -e instructions -- /root/nops 2>&1 | tee "$work/perfex.out" &&
		tr ',"' '\n' <"$work/perfex.out" | grep -qx 104
}
# Without perfctr-machine perfex must say where one gets it.
exact_says() {
	! in_root perfex exact --no-directory true >"$work/perfex.out" 2>&1 &&
		grep 'the Debian package perfctr-machine has it' "$work/perfex.out"
}
has_manuals() {
	local page
	for page in perfex.1 perfex-mark.1 libperfctr.3 perfctr_count.3 perfctr_spawn.3 perfctr.4 perfex-rules.5 perfctr-bpfd.8; do
		in_root man -w "${page##*.}" "${page%.*}" || return 1
	done
}
# The service is enabled, and its program exists. It does not run, as there is no systemd.
has_service() {
	local program
	program=$(in_root sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' /lib/systemd/system/perfctr-bpfd.service)
	in_root test -x "$program" && in_root test -e /etc/systemd/system/multi-user.target.wants/perfctr-bpfd.service &&
		[[ $(in_root "$program" status 2>&1) == 'perfctr-bpfd: it is not loaded;'* ]]
}

use_programs() {
	check 'perfex counts' perfex_counts
	check 'perfex needs the shared libraries' needs /usr/bin/perfex "libdw.so.1 libelf.so.1 libjson-c.so.5 libncursesw.so.6 libperfctr-core.so.${version%.*} libperfctr.so.${version%.*} libtinfo.so.6 libyaml-0.so.2"
	check 'no path in perfex and the library' has_no_rpath /usr/bin/perfex "/usr/lib/x86_64-linux-gnu/libperfctr.so.${version%.*}"
	check 'perfex exact counts' exact_counts
	check 'bash completes it' in_root bash -c '. /usr/share/bash-completion/completions/perfex && complete -p perfex'
	check 'manual pages' has_manuals
	check 'links lead somewhere' broken_links
	check 'an example compiles' compile example /usr/share/doc/perfctr-tools/examples/regions.c libperfctr
	check 'a program compiles' compile shared /root/count.c libperfctr
	check 'counts' counts_pages "$version" in_root /root/shared
	check 'static' compile static /root/count.c libperfctr --static
	check 'counts' counts_pages "$version" in_root /root/static
	check 'by the core alone' compile core /usr/share/perfctr/examples/self.c libperfctr-core
	check 'needs that alone' needs /root/core "libperfctr-core.so.${version%.*}"
	check 'a program of perfctr 2.6 compiles' compile old '/root/compat-2.6/*.c' perfctr-2.6
	check 'needs its library alone' needs /root/old libperfctr.so.6
	check 'which is found' in_root env LD_BIND_NOW=1 ld.so --list /root/old
	check 'and no path in it' has_no_rpath /root/old
	check 'static' compile old-static '/root/compat-2.6/*.c' perfctr-2.6 --static
	check 'Python counts' python_count "$version"
	check 'the service is enabled' has_service
}

test_programs() {
	make_root programs
	mkdir "$root/root/guest"
	cp tests/guest/loop.h "$root/root/guest"
	cp -r tests/compat-2.6 tests/packages/count.c build/tests/exact/nops "$root/root"
	check 'what the packages need of others' install_depended
	list_files >"$work/files-$release"
	check 'installs no others' installs_alone now
	check 'this version' have_version "$version"
	use_programs
	check 'upgrades' installs_alone next
	check 'the next version' have_version "$next"
	check 'the program that was compiled counts' counts_pages "$next" in_root /root/shared
	check 'the static one as before' counts_pages "$version" in_root /root/static
	check 'perfex counts' perfex_counts
	check 'perfex exact counts' exact_counts
	check 'Python counts' python_count "$next"
	# shellcheck disable=SC2046 # names
	check 'removes' apt remove $(installed | cut -d ' ' -f 1)
	check 'the service is not enabled' in_root test ! -e /etc/systemd/system/multi-user.target.wants/perfctr-bpfd.service
	check 'purges' apt purge '?and(?config-files, ?name(perfctr))'
	check 'nothing is left' nothing_left

	check 'static perfex installs alone' installs_alone static perfctr-tools
	check 'perfex needs no library' needs /usr/bin/perfex
	check 'perfex counts' perfex_counts
	check 'perfex exact names the package that it lacks' exact_says
	check 'the machine installs alone' installs_alone static perfctr-tools perfctr-machine
	check 'perfex exact counts' exact_counts
	check 'the machine purges' apt purge perfctr-machine
	check 'purges' apt purge perfctr-tools
	check 'nothing is left' nothing_left
	check 'dpkg knows of no fault' in_root dpkg --audit
}
