# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl export for BOLT, llvm-profgen and AutoFDO, end to end: each tool takes the profile of a simulated run, and the
program that is made with it takes fewer branches than before, in another run and with the same result."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../client"))
# pylint: disable=wrong-import-position
from harness import SKIPPED, check, finish, one_line, run

LLVM = "/usr/lib/llvm-19/bin/"
TOOLS = [LLVM + "clang", LLVM + "perf2bolt", LLVM + "llvm-bolt", LLVM + "llvm-profgen", LLVM + "llvm-profdata",
         "create_llvm_prof"]
# autofdo 0.19 reads no DWARF 5
FLAGS = ["-O2", "-gdwarf-4", "-fdebug-info-for-profiling", "-fno-inline-functions"]
KINDS = {"fixed": ["-no-pie"], "pie": ["-fPIE", "-pie"]}
TRAINED, TRIED = "5", "4"  # rounds
N_FUNCTIONS, N_BRANCHES = 5, 20  # layout.c has at least
source, simulator = os.path.abspath(sys.argv[3]), os.path.abspath(sys.argv[2])


def call(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=dict(os.environ, **environment))
    check(done.returncode == 0, *command, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout + done.stderr


def compile_with(path, kind, *flags):
    call(LLVM + "clang", *FLAGS, *KINDS[kind], *flags, "-o", path, source)
    return path


def simulate(data, program, rounds):
    """The number of taken branches of the program's own code, and what it prints."""
    out = call(simulator, "-o", data, "--mode=branch", "--period=997", "--build-id", "--", program, rounds)
    with open(data + ".totals.tsv", encoding="ascii") as opened:
        return int(re.search(r"^taken\t(\d+)", opened.read(), re.M)[1]), out


def lines_of(file, pattern):
    with open(file, encoding="utf-8") as opened:
        return re.findall(pattern, opened.read(), re.M)


def enough(name, n, least):
    """The entries of a profile, before it is used: an empty one is no fault of the tool that takes it."""
    if not check(n >= least, "the profile", name, "has", n, "entries, not", least, "or more"):
        finish()
    return n


def branch_rows(folder, program):
    return json.loads(run("top", folder + "/perf.data", "--object", program, "--by", "branch-site", "--json", "-n",
                          "0")[1])["rows"]


def export(name, folder, program):
    """The file, which has the branches of top: their number, and how often they were taken."""
    file = os.path.join(folder, name)
    status, out, err = run("export", "--format", name, folder + "/perf.data", "--object", program, "-o", file)
    check(status == 0 and out == "", name, status, err)
    branches = lines_of(file, r"^B \S+ \S+ (\d+)" if name == "bolt" else r"->.*:(\d+)$")
    enough(name, len(branches), N_BRANCHES)
    rows = [row for row in branch_rows(folder, program)
            if name == "bolt" or row["from"]["object"] == row["to"]["object"]]  # the others know no code of others
    seen, wanted = (len(branches), sum(map(int, branches))), (len(rows), sum(row["count"] for row in rows))
    check(seen == wanted, name, "has other branches than top", seen, wanted)
    print(name, "branches, taken:", seen, "top:", wanted)
    return file


def check_heads(file, folder, program):
    """A text profile has a line `name:samples:head` for each function; head is how often it was called."""
    seen = {name: int(head) for name, head in lines_of(file, r"^(\w[^:\n]*):\d+:(\d+)$")}
    enough(file, len(seen), N_FUNCTIONS)
    calls = dict.fromkeys(seen, 0)
    for row in branch_rows(folder, program):
        if row["to"]["symbol_offset"] == 0 and row["to"]["symbol"] in calls:
            calls[row["to"]["symbol"]] += row["count"]
    for name in "step", "rare_work", "next":
        check(seen[name] == calls[name] > 100, file, name, "is called", seen[name], "top:", calls[name])
    print(os.path.basename(file), "calls:", seen, "top:", calls)


def with_bolt(folder, program, _):
    out = call(LLVM + "perf2bolt", "-pa", "-p", export("bolt", folder, program), "-o", folder + "/fdata", program)
    read, wrote = re.search(r"read (\d+) aggregated", out), re.search(r"wrote (\d+) objects", out)
    check(read and int(read[1]) == len(lines_of(folder + "/bolt", r"^[BF] ")), "perf2bolt reads", read and read[1])
    enough("fdata", int(wrote[1]) if wrote else 0, N_FUNCTIONS)
    print("perf2bolt:", read and read[0], wrote and wrote[0])
    wrong = re.search(r"traces mismatching.*\(([\d.]+)%\)", out), re.search(r"Out of range.*\(([\d.]+)%\)", out)
    check(all(found and float(found[1]) < 0.5 for found in wrong), "perf2bolt", out)
    call(LLVM + "llvm-bolt", program, "-o", program + "-bolt", "-data=" + folder + "/fdata", "-reorder-blocks=ext-tsp",
         "-reorder-functions=hfsort")
    return program + "-bolt"


def with_profgen(folder, program, kind):
    call(LLVM + "llvm-profgen", "--unsymbolized-profile=" + export("llvm-profgen", folder, program),
         "--binary=" + program, "--output=" + folder + "/prof", "--format=text")
    check_heads(folder + "/prof", folder, program)
    return compile_with(program + "-profgen", kind, "-fprofile-sample-use=" + folder + "/prof")


def with_autofdo(folder, program, kind):
    call("create_llvm_prof", "--profiler=text", "--profile=" + export("autofdo", folder, program), "--binary=" + program,
         "--out=" + folder + "/afdo", "--format=text")
    check_heads(folder + "/afdo", folder, program)
    return compile_with(program + "-autofdo", kind, "-fprofile-sample-use=" + folder + "/afdo")


def with_own(folder, program, kind):
    """As clang does it alone: counts of every edge."""
    compile_with(program + "-counts", kind, "-fprofile-instr-generate")
    call(program + "-counts", TRAINED, LLVM_PROFILE_FILE=folder + "/raw")
    call(LLVM + "llvm-profdata", "merge", "-o", folder + "/own", folder + "/raw")
    counted = re.search(r"Total functions: (\d+)", call(LLVM + "llvm-profdata", "show", folder + "/own"))
    enough("own", int(counted[1]) if counted else 0, N_FUNCTIONS)
    return compile_with(program + "-own", kind, "-fprofile-instr-use=" + folder + "/own")


def check_kind(kind, folder):
    program = compile_with(folder + "/layout-" + kind, kind, "-Wl,--emit-relocs")
    simulate(folder + "/perf.data", program, TRAINED)
    before, result = simulate(folder + "/tried.data", program, TRIED)
    taken = {}
    for how in with_own, with_bolt, with_profgen, with_autofdo:
        made = how(folder, program, kind)
        taken[how], seen = simulate(folder + "/tried.data", made, TRIED)
        check(seen == result, kind, how.__name__, "has another result", seen, result)
    print(kind, "taken branches:", before, "before;", ", ".join(f"{n} {how.__name__}" for how, n in taken.items()))
    for how, n in taken.items():
        check(n < 0.7 * before, kind, how.__name__, n, "taken branches, before", before)
        check(n < 1.02 * taken[with_own], kind, how.__name__, n, "taken branches, with its own profile", taken[with_own])


def check_refused(folder):
    """One line each: no choice, none of that name, and a file that is another one now."""
    program = folder + "/layout-pie"
    for arguments, words in (
            (["--format", "bolt"], "choose one by --object"),
            (["--format", "autofdo", "--object", "no-such-file"], "nothing matches the filters"),
            (["--format", "llvm-profgen", "--comm", "nobody"], "there are the processes layout-pie")):
        status, out, err = run("export", folder + "/perf.data", *arguments)
        check(status == 1 and out == "" and one_line(err) and words in err, arguments, status, err)
    shutil.copy(folder + "/layout-fixed", program)
    for name in "bolt", "llvm-profgen":
        status, out, err = run("export", folder + "/perf.data", "--format", name, "--object", program)
        check(status == 1 and out == "" and one_line(err) and "build-id" in err, name, status, err)


missing = [tool for tool in TOOLS if not shutil.which(tool)]
if missing:
    print("not installed:", *missing)
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as place:
    for each in KINDS:
        check_kind(each, place)
    check_refused(place)
finish()
