# SPDX-License-Identifier: GPL-2.0-or-later
# Sourced by the scripts here: where things are and how to speak.
# shellcheck shell=bash disable=SC2034

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfctr
me=${0##*/}

say() { printf '%s: %s\n' "$me" "$*" >&2; }
die() { say "$*"; exit 1; }

# The value of an option that takes one: option_value "$@" fails when it is missing.
option_value() { (($# >= 2)) || die "option $1 needs a value"; printf '%s' "$2"; }

# A hash of the names (as given) and contents of files and directories.
hash_files() {
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-20
}
