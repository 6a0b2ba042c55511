# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scripts here: where things are and how to speak.
# shellcheck shell=bash disable=SC2034

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfctr
me=${0##*/}

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() { say "$*"; exit 1; }

# minutes_left DONE WHOLE BEGUN: in words, of what began at BEGUN of $SECONDS; nothing where that cannot be said.
minutes_left() {
	(($1 < 50 || $1 > $2)) || printf ', about %d minutes left' $((($2 - $1) * (SECONDS - $3) / $1 / 60 + 1))
}

# The value of an option that takes one: option_value "$@" fails when it is missing.
option_value() { (($# >= 2)) || die "option $1 needs a value"; printf '%s' "$2"; }

# A hash of the names (as given) and contents of files and directories.
hash_files() {
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-20
}

# What has passed, shown again as long as its key is the same. keep_verdict KEY NAME=FILE...: each FILE, as NAME in
# $verdicts/KEY. date_verdict FILE: says since when.
verdicts=$cache/verdicts
keep_verdict() {
	local kept pair
	mkdir -p "$verdicts"
	find "$verdicts" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
	kept=$(mktemp -d "$verdicts/new.XXXXXX")
	for pair in "${@:2}"; do cp "${pair#*=}" "$kept/${pair%%=*}"; done
	# Another one may have been kept under this key meanwhile.
	mv -T "$kept" "$verdicts/$1" 2>/dev/null || rm -rf "$kept"
}
date_verdict() { say "as on $(date -r "$1" '+%F %T'), of which nothing has changed"; }

# Debian's own kernels: the names of all; what scripts/debian-kernels says behind the NAME of one.
debian_kernels() { awk '!/^#/ { printf "%s%s", n++ ? ", " : "", $1 }' "$top/scripts/debian-kernels"; }
debian_kernel() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$top/scripts/debian-kernels"; }

# What is patched of Debian's: what scripts/debian-sources says behind the NAME of one.
debian_source() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$top/scripts/debian-sources"; }
debian_revision() { debian_source "$1" | cut -d ' ' -f 2; }

# The compiler and the C library, on which depends what a build in the cache is, and where it runs: a cache may be shared by
# systems that differ.
toolchain() { printf 'gcc%s-%s' "$(gcc -dumpversion 2>/dev/null || echo ?)" "$(getconf GNU_LIBC_VERSION | tr ' ' -)"; }

# derive_sources DIRECTORY TYPE [SUITE]: apt's own sources, of TYPE (deb or deb-src), as files in DIRECTORY; with SUITE those
# alone that have a release of Debian (its security updates if SUITE ends in -security), and of it SUITE instead.
derive_sources() {
	local file name release='(bookworm|trixie|forky|sid|stable|testing|unstable)'
	[[ ${3-} != *-security ]] || release+=-security
	mkdir -p "$1"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources; do
		[[ -f $file ]] || continue
		name=$1/${3-}$(basename "$file" .list | tr -c 'a-zA-Z0-9\n' _)
		case $file in
		*.sources)
			awk -v type="$2" -v suite="${3-}" -v release="$release" 'BEGIN { RS = ""; ORS = "\n\n" }
				suite && $0 !~ "(^|\n)Suites:([^\n]* )?" release "( [^\n]*)?(\n|$)" { next }
				{
					$0 = "\n" $0
					sub(/\nTypes:[^\n]*/, "\nTypes: " type)
					if (suite)
						sub(/\nSuites:[^\n]*/, "\nSuites: " suite)
					print
				}' "$file" >"$name.sources" ;;
		*)
			awk -v type="$2" -v suite="${3-}" -v release="$release" '/^deb(-src)?[ \t]/ {
				$1 = type
				at = $2 ~ /^\[/ ? 3 : 2
				while (at > 2 && at < NF && $(at - 1) !~ /\]$/)
					at++
				if (suite && $(at + 1) !~ "^" release "$")
					next
				if (suite)
					$(at + 1) = suite
				print
			}' "$file" | sort -u >"$name.list" ;;
		esac
	done
}

# private_apt DIRECTORY PROGRAM ARGUMENT...: apt-get or apt-cache with the sources and lists in DIRECTORY; of the
# machine's own configuration nothing changes.
private_apt() {
	mkdir -p "$1/lists/partial"
	"$2" -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$1/sources" -o Dir::State::lists="$1/lists" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root "${@:3}"
}
