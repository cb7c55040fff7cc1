# SPDX-License-Identifier: LGPL-2.1-or-later
# bash completion for branchctl, which knows its own words: "branchctl __complete WORD..."

# The line as $words, without quotes; $open: the quote that is not closed. Of the last word bash replaces
# the end, which is $1 as it was typed: $n_kept characters are before it.
_branchctl_words() {
	local line=${COMP_LINE:0:COMP_POINT} i c plain='' begun=''

	words=() open='' n_kept=0
	for ((i = 0; i < ${#line}; i++)); do
		c=${line:i:1}
		if [[ -z $open && $c == [[:space:]] ]]; then
			[[ $begun ]] && words+=("$plain")
			plain='' begun='' n_kept=0
			continue
		fi
		begun=1
		if [[ $c == "\\" && $open != "'" ]]; then
			((++i))
			plain+=${line:i:1}
		elif [[ $c == "$open" ]]; then
			open=''
		elif [[ -z $open && $c == [\"\'] ]]; then
			open=$c
		else
			plain+=$c
		fi
		((${#line} - i > ${#1})) && n_kept=${#plain}
	done
	words+=("$plain")
}

# $1 as it is to be typed.
_branchctl_quote() {
	case $open in
	'"')
		quoted=${1//\\/\\\\} quoted=${quoted//\"/\\\"} quoted=${quoted//\$/\\\$}
		quoted=${quoted//\`/\\\`}
		;;
	"'") quoted=${1//\'/\'\\\'\'} ;;
	*)
		quoted=$1
		[[ $1 == *[!a-zA-Z0-9_./,:@%+=-]* ]] && printf -v quoted %q "$1"
		;;
	esac
}

_branchctl() {
	local words open quoted n_kept line rest=:nothing

	_branchctl_words "$2"
	COMPREPLY=()
	while IFS= read -r line; do
		if [[ $line == :* ]]; then
			rest=$line
			continue
		fi
		line=${line%%$'\t'*}
		_branchctl_quote "${line:n_kept}"
		COMPREPLY+=("$quoted")
	done < <("${COMP_WORDS[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null)

	case $rest in
	:files) compopt -o default ;;
	:directories) compopt -o dirnames ;;
	:command*)
		if declare -F _command_offset >/dev/null; then
			_command_offset $((${rest#:command } + 1))
		elif ((${#words[@]} == ${rest#:command } + 2)); then
			mapfile -t COMPREPLY < <(compgen -c -- "${words[-1]}")
		else
			compopt -o default
		fi
		;;
	esac
}

complete -F _branchctl branchctl
