# SPDX-License-Identifier: GPL-2.0-or-later
# Directories and functions that the scripts share. They source this file.
# shellcheck shell=bash disable=SC2034

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfctr
me=${0##*/}

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() { say "$*"; exit 1; }

# minutes_left DONE WHOLE BEGUN: print how many minutes are left after DONE of WHOLE steps, if the first began when
# $SECONDS was BEGUN. The function prints nothing if DONE is below 50, or above WHOLE.
minutes_left() {
	(($1 < 50 || $1 > $2)) || printf ', about %d minutes left' $((($2 - $1) * (SECONDS - $3) / $1 / 60 + 1))
}

# option_value "$@": print the value of the option in $1. The function fails if the value is missing.
option_value() { (($# >= 2)) || die "option $1 needs a value"; printf '%s' "$2"; }

# hash_files PATH...: print a hash of the names (as given) and the contents of files and directories.
hash_files() {
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-20
}

# A verdict is the output of a test that passed. A script shows it again, instead of a new run, while the key is the
# same.
# keep_verdict KEY NAME=FILE...: copy each FILE to $verdicts/KEY/NAME, and remove verdicts that nobody used for 30 days.
# date_verdict FILE: tell the date of FILE, since when nothing has changed.
verdicts=$cache/verdicts
keep_verdict() {
	local kept pair
	mkdir -p "$verdicts"
	find "$verdicts" -mindepth 1 -maxdepth 1 -mtime +30 -exec rm -rf {} +
	kept=$(mktemp -d "$verdicts/new.XXXXXX")
	for pair in "${@:2}"; do cp "${pair#*=}" "$kept/${pair%%=*}"; done
	# Another script may have kept a verdict under this key in the meantime.
	mv -T "$kept" "$verdicts/$1" 2>/dev/null || rm -rf "$kept"
}
date_verdict() { say "as on $(date -r "$1" '+%F %T'), of which nothing has changed"; }

# debian_kernels: print the names of Debian's kernels. debian_kernel NAME: print the other columns of NAME in
# scripts/debian-kernels.
debian_kernels() { awk '!/^#/ { printf "%s%s", n++ ? ", " : "", $1 }' "$top/scripts/debian-kernels"; }
debian_kernel() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$top/scripts/debian-kernels"; }

# debian_source NAME: print the other columns of NAME in scripts/debian-sources. debian_revision NAME: print the
# revision.
debian_source() { awk -v name="$1" '$1 == name { $1 = ""; print substr($0, 2) }' "$top/scripts/debian-sources"; }
debian_revision() { debian_source "$1" | cut -d ' ' -f 2; }

# toolchain: print the versions of gcc and of the C library. The keys of builds in the cache contain them, because
# different systems may share a cache: a build depends on the compiler, and runs only with a C library that suits it.
toolchain() { printf 'gcc%s-%s' "$(gcc -dumpversion 2>/dev/null || echo ?)" "$(getconf GNU_LIBC_VERSION | tr ' ' -)"; }

# derive_sources DIRECTORY TYPE [SUITE]: write the host's apt sources as files into DIRECTORY, with TYPE (deb or
# deb-src) instead of their type. With SUITE the function takes only the sources of a release of Debian (or of the
# security updates of a release, if SUITE ends in -security), and writes SUITE instead of the release.
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

# private_apt DIRECTORY PROGRAM ARGUMENT...: run apt-get or apt-cache with the sources and lists in DIRECTORY. The
# function changes nothing in the host's own configuration and lists.
private_apt() {
	mkdir -p "$1/lists/partial"
	"$2" -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$1/sources" -o Dir::State::lists="$1/lists" \
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root "${@:3}"
}
