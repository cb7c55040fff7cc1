# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stitched call stacks of real programs, beside those of --no-stitch and of perf: a table.

    real-stacks.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS [--perf PERF] [--keep DIRECTORY]
                   [--check] [--row ROW]...

ROW is "PROGRAM", "PROGRAM WAY" or a part of one; without, all rows are measured. Recordings are kept in DIRECTORY
and used again. --check compares the figures with the bounds below.

Ways: *dense* is a sample every 137 instructions, *a tenth* every 1370. Records have cycles and flags; or, *as
perf*, neither, as `perf record --call-graph lbr` asks for none; *no index* has no hardware index either. To
main, wrong, and the share of the depth are what score() of stacks.py computes. A program that is not installed
has no rows.
"""

import argparse
import itertools
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import stacks
from engine import sample_branches

# Comparisons, operators and code in regular expressions call the interpreter within itself.
PERL = """
package N; use overload '+' => sub { my ($x, $y) = @_; my $d = $x->{d};
  return bless { d => $d, v => $x->{v} + (ref $y ? $y->{v} : $y) } if $d <= 0;
  my $z = bless({ d => $d - 1, v => $x->{v} }) + $y; my %h = (a => $z->{v}, b => $d); $z->{v} += $h{b}; $z; };
package main;
sub order { my $d = shift; return $_[0] if $d <= 0; my @s = sort { order($d - 1, $a) <=> order($d - 1, $b) } @_[0 .. 2];
  my $t = join ",", @s; $t =~ s/(\\d)(\\d)/$2$1/g; length($t) > 3 ? $s[1] : $s[0] }
my $sum = 0;
for my $i (1 .. 100000) { my $n = bless({ d => $i % 7, v => $i }, "N") + 1; $sum += $n->{v} + order(3, $i, 7, $i * 3 % 11, 2) }
"""

SQL = """
create table t(a integer primary key, b text, c integer);
create table log(a, b);
create trigger t1 after insert on t begin insert into log select max(a), count(*) from t where c = new.c; end;
create trigger t2 after insert on log when new.b % 2 begin update t set b = b || new.b where a = new.a; end;
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
  insert into t select i, 'text ' || (i * 7919 % 1000), i % 17 from n;
create index t_c on t(c, b);
select c, count(*), max(b), group_concat(substr(b, 5)) from t group by c order by 2 desc;
select count(*) from t x join t y on x.c = y.a where x.b like '%7%' and y.b > 'text 3';
"""

BASH = """
f() { local n=$1; if (( n <= 0 )); then return $((n & 1)); fi; f $((n - 1)); local r=$?; (( r += n )); return $((r & 7)); }
for (( i = 0; i < 100000; i++ )); do f $((i % 7 + 3)); done
"""

# asort() calls the comparison, which calls the interpreter.
GAWK = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2) }
function order(i, x, j, y,   a, n) { if (depth > 3) return x < y ? -1 : x > y
  depth++; n = split("7 3 " x " " y, a, / /); asort(a, a, "order"); depth--; return a[1] + a[2] < y ? -1 : 1 }
function parts(s,   a, n, i, t) { n = split(s, a, /[ ,]+/); asort(a, a, "order"); for (i = 1; i <= n; i++) t = t a[i]
  gsub(/o+/, "0", t); return t }
BEGIN { for (i = 0; i < 100000; i++) { s += fib(5); t = parts("one two, three four, foo" i) } print s, t }
"""

# The arguments, and how many instructions of startup are not sampled, which is much alike in all of them.
PROGRAMS = {
    "perl": (["perl", "-e", PERL], 450000),
    "sqlite3": (["sqlite3", "-batch", ":memory:", SQL], 1750000),
    "bash": (["bash", "--norc", "-c", BASH], 500000),
    "gawk": (["gawk", GAWK], 1100000),
    "exceptions": (["simulated-exceptions", "100000"], 200000),
    "longjmp": (["simulated-longjmp", "100000"], 100000),
    "threads": (["simulated-threads", "1000"], 100000),
    "recurse": (["simulated-recurse", "10000"], 100000),
}

# How the recording is made, and what is removed from it then.
WAYS = {
    "dense": ("dense", False, False),
    "a tenth": ("a tenth", False, False),
    "dense, as perf": ("dense", True, False),
    "a tenth, as perf": ("a tenth", True, False),
    "dense, no index": ("dense", True, True),
    "a tenth, no index": ("a tenth", True, True),
}
RECORDINGS = {
    "dense": ["--period", "137", "--max-samples", "8000"],
    "a tenth": ["--period", "1370", "--max-samples", "2500"],
}


def find_program(arguments, name):
    built = os.path.join(arguments.programs, PROGRAMS[name][0][0])
    return built if os.path.exists(built) else shutil.which(PROGRAMS[name][0][0])


def record(arguments, recording, name, way):
    """Runs the program in the simulator, unless there is a recording."""
    if os.path.exists(recording + ".samples.tsv"):
        return
    (_, *words), delay = PROGRAMS[name]
    environment = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    done = subprocess.run(
        [arguments.simulator, "-o", recording, "--mode", "stack", "--delay", str(delay), *RECORDINGS[way], "--",
         find_program(arguments, name), *words], env=dict(environment, LC_ALL="C"), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=3600, check=False)
    if done.returncode == stacks.SKIPPED:
        print("skipped: tracing is not allowed", file=sys.stderr)
        sys.exit(stacks.SKIPPED)
    if not os.path.exists(recording + ".samples.tsv"):
        sys.exit(done.stderr.decode(errors="replace"))


def reduce(recording, reduced, without_index):
    """Copies the recording without cycles and flags, with its truth."""
    with open(recording, "rb") as f:
        data = bytearray(f.read())
    for at in sample_branches(data, True):
        n, _ = struct.unpack_from("<QQ", data, at)
        if without_index:
            struct.pack_into("<Q", data, at + 8, 2 ** 64 - 1)
        for i in range(n):
            struct.pack_into("<Q", data, at + 32 + 24 * i, 0)
    with open(reduced, "wb") as f:
        f.write(data)
    for table in ("samples", "maps"):
        shutil.copy("%s.%s.tsv" % (recording, table), "%s.%s.tsv" % (reduced, table))


def measure(arguments, recording):
    """(to main, wrong, share of the depth, mean of frames right), of each of the three."""
    true_ones = list(stacks.true_stacks(recording))
    chosen = [True] * len(true_ones)
    offset = stacks.offsets(recording)
    in_files = [(true[:1] + [offset(address) for address in true[1:]], n) for true, n in true_ones]
    ways = [(true_ones, stacks.shown_stacks(arguments.branchctl, recording)[0]),
            (true_ones, stacks.shown_stacks(arguments.branchctl, recording, "--no-stitch")[0])]
    if arguments.perf:
        ways.append((in_files, list(stacks.stacks_of_perf(arguments.perf, recording))))
    return [stacks.score(true, shown, chosen) for true, shown in ways]


def is_bad(name, way, scores):
    """A list of what is wrong with a row."""
    ours, plain = scores[0], scores[1]
    bad = []
    if ours[4] > max(0.5, plain[4]):
        bad.append("wrong")
    for other, what in zip(scores[1:], ["--no-stitch", "perf"]):
        if ours[0] < other[0] - other[4]:
            bad.append("to main less than " + what)
    if ours[2] < plain[2] - plain[4]:
        bad.append("depth less than --no-stitch")
    return bad


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("simulator")
    parser.add_argument("branchctl")
    parser.add_argument("programs")
    parser.add_argument("--perf")
    parser.add_argument("--keep")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--row", dest="rows", action="append")
    arguments = parser.parse_args()
    bad = []
    print("| program, way | possible % | to main %: stitched / --no-stitch / perf | wrong % | depth % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as temporary:
        for name, way in itertools.product(PROGRAMS, WAYS):
            title = "%s, %s" % (name, way)
            if arguments.rows and not any(row in title for row in arguments.rows):
                continue
            if not find_program(arguments, name):
                continue
            recorded_way, is_reduced, without_index = WAYS[way]
            recording = os.path.join(arguments.keep or temporary, name + "-" + recorded_way.replace(" ", "-"))
            record(arguments, recording, name, recorded_way)
            measured = os.path.join(temporary, "reduced") if is_reduced else recording
            if is_reduced:
                reduce(recording, measured, without_index)
            scores = measure(arguments, measured)
            columns = [" / ".join("%.*f" % (digits, score[i]) for score in scores)
                       for i, digits in ((0, 1), (4, 2), (2, 1))]
            print("| %s | %.1f | %s |" % (title, scores[0][1], " | ".join(columns)), flush=True)
            bad += ["%s: %s" % (title, what) for what in is_bad(name, way, scores)]
    if arguments.check:
        print("\n".join(bad))
        sys.exit(bool(bad))


main()
