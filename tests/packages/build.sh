# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by tests/packages/run: builds the packages, as README.md says, in a root of their own.
# shellcheck shell=bash disable=SC2154 # of the other files

# copy_checkout DIRECTORY: copies the project into the root.
copy_checkout() {
	mkdir -p "$root/$1"
	tar --exclude=./build --exclude=./.git --exclude=__pycache__ -cf - . | tar -C "$root/$1" -xf -
}
# The packages contain the machine that "make machine" has made here, in both releases.
copy_machine() {
	mkdir -p "$root/$1/build"
	cp -r build/machine "$root/$1/build"
}
# build DIRECTORY OUTPUT [OPTION...]: builds the packages as root.
build() { in_root "$1/scripts/deb-packages" --output "/packages/$2" "${@:3}" && cp -r "$root/packages/$2" "$packages"; }

# Builds as an ordinary user, in a directory of that user whose name has spaces.
build_as_user() {
	in_root chown -R nobody '/home/a user' &&
		in_root setpriv --reuid nobody --regid nogroup --clear-groups env HOME='/home/a user' TMPDIR='/home/a user/tmp' \
			'/home/a user/perf ctr/scripts/deb-packages' &&
		cp -r "$root/home/a user/perf ctr/build/deb" "$packages/now" && cp -r "$packages/now" "$root/packages"
}
# Static and shared builds have another user, directory and time. Only packages that have programs linked in another way
# may differ.
static_differ() {
	local package differ=()
	for package in "$packages"/now/*.deb; do
		cmp -s "$package" "$packages/static/${package##*/}" || differ+=("$(basename "${package%%_*}")")
	done
	[[ ${differ[*]} == 'perfctr-bpfd perfctr-tools' ]] || { echo "differ: ${differ[*]}"; return 1; }
}
builds_next() {
	sed -i "s/\"${version//./\\.}\"/\"$next\"/" "$root"/root/perfctr/{include/perfctr.h,python/pyproject.toml,python/perfctr/_native.py}
	build /root/perfctr next && (($(find "$packages/next" -name "*_${next}_*.deb" | wc -l) == $(find "$packages/now" -name '*.deb' | wc -l)))
}
# The packages must be those of debian/control.
are_all() {
	diff <(sed -n 's/^Package: //p' debian/control | sort) <(cd "$packages/now" && printf '%s\n' *.deb | sed 's/_.*//' | sort)
}
# foresees [NAME]: --dry-run lists all packages but NAME.
foresees() {
	diff <(in_root /root/perfctr/scripts/deb-packages --dry-run | sed 's|.*/\(.*\)_[^_]*$|\1|' | sort) \
		<(cd "$packages/now" && printf '%s\n' *.deb | sed 's/_[^_]*$//' | grep -v "^${1-nothing}_" | sort)
}
# The machine must be packed as it is: the same files with the same permissions, in at most 40 MB.
packs_machine() {
	local file=$packages/now/perfctr-machine_${version}_amd64.deb unpacked=$work/unpacked
	rm -rf "$unpacked"
	dpkg-deb -x "$file" "$unpacked" || return 1
	diff -r build/machine "$unpacked/usr/lib/perfctr/machine" &&
		diff <(list_modes build/machine) <(list_modes "$unpacked/usr/lib/perfctr/machine") &&
		[[ -z $(dpkg-deb -f "$file" Depends) ]] && ls -l "$file" && (($(stat -c %s "$file") <= 40000000))
}
list_modes() { (cd "$1" && find . -printf '%m %p\n' | sort); }

# Tags that are overridden are not printed, but --fail-on would count them as failures. The lintian of Debian 12 asks
# for an init script beside each unit of systemd; that of Debian 13 does not know this tag. The lintian of Debian 13 takes
# a kernel for a file of gzip, and reads a date in it.
lint() {
	local -a suppressed=()
	local said
	[[ $suite != bookworm ]] || suppressed=(--suppress-tags package-supports-alternative-init-but-no-init.d-script)
	[[ $suite != trixie ]] || suppressed=(--suppress-tags package-contains-timestamped-gzip)
	# shellcheck disable=SC2016 # of the other shell
	said=$(in_root sh -c 'cd /packages/now && exec lintian --allow-root --fail-on none --display-info "$@" *.deb' sh "${suppressed[@]}" 2>&1) || { echo "$said"; return 1; }
	[[ ! $said ]] || { echo "$said"; return 1; }
}

test_build() {
	rm -rf "$packages"
	mkdir "$packages"
	root=$work/$release-build
	[[ -d $root/usr ]] || make_root build
	rm -rf "$root/home/a user" "$root/root/perfctr" "$root"/packages/*
	mkdir -p "$root/home/a user/tmp"
	copy_checkout '/home/a user/perf ctr'
	copy_machine '/home/a user/perf ctr'
	copy_checkout /root/perfctr
	check 'what the build needs' in_root /root/perfctr/scripts/packages perfex debian
	check 'a user builds, in a directory with spaces' build_as_user
	check 'all packages' are_all
	check 'without a machine one fewer is foreseen' foresees perfctr-machine
	copy_machine /root/perfctr
	check 'with a machine all are foreseen' foresees
	check 'the machine is packed as it is' packs_machine
	check 'lintian' apt install lintian
	check 'lintian has nothing to say' lint
	check 'root builds static ones' build /root/perfctr static --static
	check 'two differ' static_differ
	check 'the next version' builds_next
}
