#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Tests of the simulator: its truth against readers that know nothing of it (objdump, nm, perf, counts by construction).
#
#   test-simulator.sh SIMULATOR CHECK-TRUTH DIRECTORY-OF-PROGRAMS CASE
#
# Exit status 77: skipped, with the reason, where tracing is forbidden or perf is missing.
set -u
simulator=$1
check=$2
programs=$3
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export LC_ALL=C

fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

skip()
{
	echo "skipped: $*" >&2
	exit 77
}

need()
{
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

# simulate NAME [OPTION...] -- PROGRAM [ARGUMENT...]: writes $dir/NAME and the truth beside it
simulate()
{
	local name=$1 status

	shift
	"$simulator" -o "$dir/$name" "$@" 2>"$dir/simulator.err"
	status=$?
	[ $status = 77 ] && skip "tracing is not allowed: $(cat "$dir/simulator.err")"
	[ $status = 0 ] || fail "$name: simulator ended with $status: $(cat "$dir/simulator.err")"
	[ -s "$dir/simulator.err" ] && fail "$name: $(cat "$dir/simulator.err")"
	return 0
}

program()
{
	echo "$programs/simulated-$1"
}

truth()
{
	grep -v '^#' "$dir/$1.$2.tsv"
}

total()
{
	awk -v what="$2" '$1 == what { print $2 }' "$dir/$1.totals.tsv"
}

equal()
{
	[ "$2" = "$3" ] || fail "$1: $2, should be $3"
}

# perf, which must say nothing on stderr
quiet_perf()
{
	perf "$@" >"$dir/perf.out" 2>"$dir/perf.err" </dev/null || fail "perf $*: status $?"
	[ -s "$dir/perf.err" ] && fail "perf $*: $(cat "$dir/perf.err")"
	cat "$dir/perf.out"
}

# from, to, branch records, mispredicted, cycles of what `perf script -F brstack` prints
pairs_of_perf()
{
	tr -s ' ' '\n' | awk -F/ '
		NF > 3 { k = $1 "\t" $2; n[k]++; m[k] += $3 == "M"; c[k] += $6 }
		END { for (k in n) print k "\t" n[k] "\t" m[k] "\t" c[k] }' | sort
}

# the same of the truth, all images together
pairs_of_truth()
{
	truth "$1" pairs | awk -F'\t' '
		{ k = $2 "\t" $3; n[k] += $4; m[k] += $5; c[k] += $6 }
		END { for (k in n) print k "\t" n[k] "\t" m[k] "\t" c[k] }' | sort
}

same_pairs()
{
	perf script -i "$dir/$1" -F brstack 2>"$dir/perf.err" | pairs_of_perf >"$dir/perf.pairs"
	[ -s "$dir/perf.err" ] && fail "$1: $(cat "$dir/perf.err")"
	pairs_of_truth "$1" >"$dir/truth.pairs"
	[ -s "$dir/truth.pairs" ] || fail "$1: no branch records"
	cmp "$dir/perf.pairs" "$dir/truth.pairs" || fail "$1: perf reads other branch records than were written"
}

# names NAME FILE: one line a sample: pid tid outermost;...;leaf
names()
{
	"$check" names "$dir/$1" "$2" >"$dir/names.out" || fail "$1: no names"
	cat "$dir/names.out"
}

# Every branch, conditional and run that lies in the program's file is possible in its code, as objdump shows it.
case_code()
{
	need objdump readelf
	for name in chain recurse threads longjmp libc phases div tailcall forkexec names; do
		[ -x "$(program $name)" ] || continue
		simulate $name -- "$(program $name)" $((RANDOM % 7 + 20))
		"$check" code "$dir/$name" "$(program $name)" || fail "$name: impossible code"
	done
	simulate dlopen -- "$(program dlopen)" 20 "$(program plugin).so"
	"$check" code "$dir/dlopen" "$(program plugin).so" || fail "dlopen: impossible code"
	# a bigger program's worth of code: libc itself
	library=$(truth libc maps | awk -F'\t' '$7 ~ /\/libc\.so/ { print $7; exit }')
	"$check" code "$dir/libc" "$library" || fail "libc: impossible code"
}

# The fast way and single steps give the same truth to the last bit.
case_step()
{
	for args in "recurse 1" "longjmp 9" "libc 2"; do
		set -- $args
		simulate fast --period 53 -- "$(program $1)" $2
		simulate slow --period 53 --step -- "$(program $1)" $2
		for table in pairs runs ips taken conditionals blocks totals; do
			cmp "$dir/fast.$table.tsv" "$dir/slow.$table.tsv" || fail "$1: $table differ"
		done
		for name in fast slow; do
			truth $name samples | cut -f1,2,5- >"$dir/$name.samples"
		done
		cmp "$dir/fast.samples" "$dir/slow.samples" || fail "$1: samples differ"
	done
}

# What is known of the programs by construction.
case_counts()
{
	simulate phases --period 97 -- "$(program phases)" 130
	# two loops (in red and in blue), 130 * (300 + 100) turns each, left 2 * 130 times
	equal "loops of phases" "$(truth phases conditionals |
		awk -F'\t' '$4 == 52000 && $5 == 51740 { n++ } END { print n + 0 }')" 2
	equal "calls of red and blue" "$(truth phases taken |
		awk -F'\t' '$4 == 260 / 2 && $7 == "call" { n++ } END { print n + 0 }')" 0
	equal "calls of red and blue" "$(truth phases taken |
		awk -F'\t' '$4 == 260 && $7 == "call" { n++ } END { print n + 0 }')" 2
	names phases "$(program phases)" | awk -F';' '
		$NF == "red" || $NF == "blue" { name[n++] = $NF }
		END {
			for (i = 0; i < n; i++) {
				all += name[i] == "red"
				first += i < n / 2 && name[i] == "red"
			}
			printf "red: %.3f of all, %.3f of the first half, %d samples\n", all / n, first / n * 2, n
			exit !(all / n > .48 && all / n < .52 && first / n * 2 > .73 && first / n * 2 < .77)
		}' || fail "phases: wrong shares"
	simulate chain -- "$(program chain)" 57
	equal "calls in the chain" "$(truth chain taken |
		awk -F'\t' '$4 == 57 && $7 == "call" { n++ } END { print n + 0 }')" 43
	simulate recurse -- "$(program recurse)" 33
	# descend() is called by itself the sum of 60 + i * 37 % 41 - 1 times
	equal "recursive calls" "$(truth recurse taken | awk -F'\t' '
		BEGIN { for (i = 0; i < 33; i++) sum += 60 + i * 37 % 41 - 1 }
		$4 == sum && $7 == "call" { n++ } END { print n + 0 }')" 1
	equal "returns from descend()" "$(truth recurse taken | awk -F'\t' '
		BEGIN { for (i = 0; i < 33; i++) sum += 60 + i * 37 % 41 - 1 }
		$4 == sum && $7 == "return" { n++ } END { print n + 0 }')" 1
	# periods add up to the instructions, but for the part after the last sample
	truth chain samples | awk -F'\t' -v all="$(total chain instructions)" '
		{ sum += $7 } END { exit !(sum <= all && sum > all - 1200) }' || fail "chain: periods do not add up"
}

# True call stacks begin where programs and threads do, and name the functions in between.
case_stacks()
{
	need nm readelf
	simulate chain -- "$(program chain)" 60
	names chain "$(program chain)" | grep -q "_start;.*;main;f1;f2;f3;.*;f41;f42;f43$" || fail "chain: no deep stack"
	simulate longjmp -- "$(program longjmp)" 60
	names longjmp "$(program longjmp)" | awk '/;attempt/ && !/_start;[^m]*main;attempt(;descend)*(;bottom)?(;\[[^;]*)*$/ {
		print; bad = 1 } /bottom/ { seen = 1 } END { exit bad || !seen }' || fail "longjmp: left frames are kept"
	names longjmp "$(program longjmp)" | awk '{ n = gsub(/;descend/, ""); if (n > 20) exit 1 }' ||
		fail "longjmp: left frames are kept"
	simulate threads -- "$(program threads)" 20
	names threads "$(program threads)" >"$dir/names"
	awk '$1 != $2' "$dir/names" | grep -q ' \[libc[^;]*\];\[libc[^;]*\];run;even;odd;even' ||
		fail "threads: no stack of a thread"
	awk '$1 != $2 && / (_start|main|\[ld)/ { bad = 1 } END { exit bad }' "$dir/names" ||
		fail "threads: a thread begins in the program's beginning"
	equal "threads with samples" "$(cut -d' ' -f2 "$dir/names" | sort -u | wc -l)" 5
	simulate forkexec -- "$(program forkexec)" 4000
	names forkexec "$(program forkexec)" >"$dir/names"
	for name in parent_work forked_work executed_work; do
		grep -q " _start;.*;main;$name$" "$dir/names" || fail "forkexec: no sample in $name"
	done
	equal "processes with samples" "$(cut -d' ' -f1 "$dir/names" | sort -u | wc -l)" 3
	equal "images by exec" "$(truth forkexec images | awk '$4 == "exec"' | wc -l)" 2
	simulate signals --period 53 -- "$(program forkexec)" 4000
	names signals "$(program forkexec)" | grep -qE ';main;(.*;)?![^;]*;[^;]*;on_child;handler_work$' ||
		fail "forkexec: no sample in the signal handler"
	simulate dlopen -- "$(program dlopen)" 200 "$(program plugin).so"
	equal "mappings of the plugin" "$(truth dlopen maps | grep -c 'simulated-plugin.so$')" 3
	names dlopen "$(program dlopen)" | grep -q "_start;.*;main;load_and_run;\[simulated-plugin.so\]" ||
		fail "dlopen: no stack through the plugin"
	simulate tailcall -- "$(program tailcall)" 300
	names tailcall "$(program tailcall)" | grep -q ";main;caller;leaf$" || fail "tailcall: no frame was replaced"
	names tailcall "$(program tailcall)" | grep -q "direct;leaf" && fail "tailcall: a frame outlived its function"
	return 0
}

# perf reads recordings of branches without a word, and the branch records that were written.
case_perf_branch()
{
	need perf
	for options in "" "--rows 8" "--rows 64 --no-hw-idx" "--no-hw-idx-field" "--event branches" "--wipe" "--callchain" \
		       "--build-id"; do
		simulate libc $options --period 307 -- "$(program libc)" 8
		same_pairs libc
		equal "samples" "$(quiet_perf script -i "$dir/libc" -F time | wc -l)" "$(total libc samples)"
		quiet_perf report -i "$dir/libc" --stdio -b | grep -q 'compare' || fail "perf report -b: no compare()"
	done
	simulate forkexec -- "$(program forkexec)" 3000
	same_pairs forkexec
	quiet_perf script -i "$dir/forkexec" --show-mmap-events --show-task-events -F comm,pid,tid,time,ip,brstack \
		>"$dir/script"
	grep -o 'PERF_RECORD_MMAP2.*' "$dir/script" | sed 's/.*\[\(0x[0-9a-f]*\)(\(0x[0-9a-f]*\)) @ \(0x[0-9a-f]*\|0\) .*\]: \(....\) /\1 \3 /' |
		sort >"$dir/mmaps"
	awk -F'\t' 'NR == FNR { if ($4 == "exec") exec[$1] = 1; next } ($1 in exec) { print $4, $6, $7 }' \
		<(truth forkexec images) <(truth forkexec maps) | sort >"$dir/maps"
	cmp "$dir/mmaps" "$dir/maps" || fail "forkexec: other mappings"
	equal "forks" "$(grep -c PERF_RECORD_FORK "$dir/script")" 2
	equal "exits" "$(grep -c PERF_RECORD_EXIT "$dir/script")" 3
	equal "execs" "$(grep -c 'PERF_RECORD_COMM exec' "$dir/script")" 2
	"$simulator" --pipe -o - --truth "$dir/pipe" -- "$(program libc)" 8 | perf script -i - -F brstack 2>"$dir/perf.err" |
		pairs_of_perf >"$dir/perf.pairs" || fail "pipe: status $?"
	[ -s "$dir/perf.err" ] && fail "pipe: $(cat "$dir/perf.err")"
	pairs_of_truth pipe | cmp - "$dir/perf.pairs" || fail "pipe: other branch records"
	simulate few --max-samples 20 -- "$(program div)"
	equal "samples with --max-samples" "$(quiet_perf script -i "$dir/few" -F time | wc -l)" 20
	simulate hwidx --build-id -- "$(program div)" 100
	quiet_perf report -i "$dir/hwidx" --header-only | grep -q 'branches=32' || fail "no depth in the header"
	quiet_perf buildid-list -i "$dir/hwidx" | grep -q 'simulated-div' || fail "no build-ids in the header"
}

# The deepest stack that perf prints of the recording.
deepest()
{
	quiet_perf script -i "$dir/$1" -F ip "${@:2}" | awk 'NF { n++; if (n > max) max = n } !NF { n = 0 } END { print max }'
}

# perf reads call stacks, and stitches them if the header says how deep the LBR is.
case_perf_stack()
{
	need perf
	simulate chain --mode stack -- "$(program chain)" 100
	same_pairs chain
	# 32 branch records and the target of the newest
	equal "deepest stack" "$(deepest chain)" 33
	[ "$(deepest chain --stitch-lbr)" -ge 44 ] || fail "chain: nothing was stitched"
	quiet_perf report -i "$dir/chain" --stdio --call-graph caller --stitch-lbr --no-children | grep -q 'f42' ||
		fail "perf report: no call graph"
	simulate nocaps --mode stack --no-caps -- "$(program chain)" 100
	equal "deepest stack without the LBR's depth" "$(deepest nocaps --stitch-lbr)" 33
	simulate noindex --mode stack --no-hw-idx -- "$(program chain)" 100
	equal "deepest stack without hardware index" "$(deepest noindex --stitch-lbr)" 33
	simulate plain --mode stack --no-flags -- "$(program chain)" 100
	[ "$(deepest plain --stitch-lbr)" -ge 44 ] || fail "chain without flags: nothing was stitched"
	simulate wiped --mode stack --wipe --threads-quantum 300 -- "$(program chain)" 100
	[ "$(deepest wiped)" -lt 33 ] || fail "chain: the LBR was not emptied"
	simulate threads --mode stack -- "$(program threads)" 20
	same_pairs threads
	# a call of the very next instruction is a taken branch, but not a record of a call stack
	simulate tailcall --mode stack -- "$(program tailcall)" 100
	truth tailcall taken | while IFS=$'\t' read -r image from to count mispredicted cycles kind; do
		[ "$kind" = call ] && [ "$count" -ge 100 ] && [ $((to - from)) = 5 ] && echo "$from"
	done >"$dir/empty-calls"
	equal "calls of the next instruction" "$(wc -l <"$dir/empty-calls")" 1
	truth tailcall pairs | grep -q "$(cat "$dir/empty-calls")" && fail "tailcall: an empty call was pushed"
	same_pairs tailcall
	# the recorded call chain is the true one: main is called and calls in all but the first samples
	simulate true --callchain -- "$(program chain)" 100
	truth true samples | awk -F'\t' '{ n = split($12, a, ";"); if (n > max) max = n } END { print max }' >"$dir/depth"
	equal "deepest recorded call chain" "$(quiet_perf script -i "$dir/true" -F ip | awk '
		NF { n++; if (n > max) max = n } !NF { n = 0 } END { print max }')" "$(cat "$dir/depth")"
}

# perf reads registers and stacks, and unwinds the true stack from them, but where it fails by itself.
case_perf_user()
{
	need perf
	simulate user --stack 8192 --period 97 -- "$(program recurse)" 1
	equal "samples" "$(quiet_perf script -i "$dir/user" -F time | grep -c .)" "$(total user samples)"
	equal "branch records" "$(total user rows)" 0
	quiet_perf script -i "$dir/user" --no-inline -F ip,sym | awk '
		NF { stack = stack " " $2 }
		!NF { if (stack ~ /^( descend)+ main .*_start/) n[split(stack, a, " ")] = 1; stack = "" }
		END { exit length(n) < 20 }' || fail "recurse: perf unwinds no stacks"
	quiet_perf script -i "$dir/user" -F ip,uregs | awk '
		{ for (i = 1; i < NF; i++) if ($i ~ /ABI/) n++ } END { exit n == 0 }' || fail "perf reads no registers"
	simulate both --stack 512 --mode branch --period 97 -- "$(program recurse)" 1
	same_pairs both
	simulate named --stack 512 --named sampled --period 1 -- "$(program lazy)"
	# two calls of three functions each, of which the first ones bind
	names named "$(program lazy)" | grep -c ';once;\[libc' >"$dir/n"
	[ "$(cat "$dir/n")" -gt 50 ] || fail "lazy: not every instruction was sampled"
	names named "$(program lazy)" | grep -vE ';main(;|$)' && fail "lazy: something outside of main was sampled"
	return 0
}

declare -F "case_$4" >/dev/null || fail "no such case: $4"
"case_$4"
