# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Completion for bash. perfex itself supplies the words: subcommands and options come from --help, events and groups
# from "perfex list".

# _perfex_options PERFEX SUBCOMMAND: print a line for each option of the subcommand: its letter or -, its name, and the
# name of its argument or -.
_perfex_options() {
	"$1" "$2" --help 2>/dev/null | awk '/^  (-.,|   ) --/ {
		letter = "-"
		if ($1 ~ /^-.,$/) { letter = substr($1, 1, 2); $1 = ""; $0 = $0 }
		n = index($1, "=")
		print letter, n ? substr($1, 1, n - 1) : $1, n ? substr($1, n + 1) : "-"
	}'
}

_perfex_subcommands() {
	"$1" --help 2>/dev/null | awk '/^Subcommands/ { inside = 1; next } inside && NF { print $1 }'
}

# _perfex_argument PERFEX NAME WORD: print the values that begin with WORD, for an argument that the help calls NAME.
_perfex_argument() {
	local before=${3%"${3##*[,\{]}"} # of a list, the events in front of the last one
	case $2 in
	FILE*) compgen -f -- "$3" ;;
	DIRECTORY*) compgen -d -- "$3" ;;
	PID) compgen -W "$(cd /proc && echo [0-9]*)" -- "$3" ;;
	EVENT)
		compgen -P "$before" -W "$("$1" list 2>/dev/null | awk '/^[A-Za-z]/ { print $1 }')" -- "${3#"$before"}"
		;;
	GROUP) compgen -W "$("$1" list --groups 2>/dev/null | awk '{ print $1 }')" -- "$3" ;;
	*\|*) compgen -W "${2//|/ }" -- "$3" | grep -vx N ;;
	esac
}

_perfex() {
	local program=${COMP_WORDS[0]} subcommand=run word='' pending='' place=1 command='' i letter name argument
	local -A takes=()
	local -a names=()
	COMPREPLY=()

	if ((COMP_CWORD > 1)) && _perfex_subcommands "$program" | grep -qxe "${COMP_WORDS[1]}"; then
		subcommand=${COMP_WORDS[1]} place=2
	fi
	while read -r letter name argument; do
		takes[$name]=$argument takes[$letter]=$argument
		names+=("$name")
	done < <(_perfex_options "$program" "$subcommand")
	unset 'takes[-]'

	# Read the words before the cursor. Find the option that waits for its argument, and the place of the command.
	for ((i = place; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]#=}
		if [[ $pending ]]; then
			[[ ! $word ]] || pending=''
		elif [[ $word == -- ]]; then
			command=$((i + 1))
			break
		elif [[ $word == -* ]]; then
			[[ ${takes[$word]:--} == - ]] || pending=${takes[$word]}
		elif [[ $word ]]; then
			command=$i
			break
		fi
	done
	word=${COMP_WORDS[COMP_CWORD]#=}

	if [[ $pending ]]; then
		mapfile -t COMPREPLY < <(_perfex_argument "$program" "$pending" "$word")
	elif [[ $command && $subcommand == run && $COMP_CWORD -gt $command ]] &&
		declare -F _command_offset >/dev/null; then
		_command_offset "$command"
	elif [[ $command ]] && ((COMP_CWORD > command)); then
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	elif [[ $word == -* && ! $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$word")
	elif [[ $subcommand == run ]]; then
		((COMP_CWORD > 1)) || mapfile -t names < <(_perfex_subcommands "$program")
		((COMP_CWORD == 1)) || names=()
		mapfile -t COMPREPLY < <(compgen -W "${names[*]}" -- "$word"; compgen -c -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _perfex perfex
