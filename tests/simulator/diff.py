# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchctl diff says of two simulated recordings, against what was changed between them.

    diff.py SIMULATOR BRANCHCTL FOLDER-OF-SOURCES COMPILER CASE

Programs are compiled here, twice, with the change in question between. Exit status 77: skipped, with the
reason, where tracing is forbidden or a tool is missing.
"""

import json
import os
import re
import shutil
import subprocess

from versions import (FLAGS, NEW_DIV, OLD_DIV, branchctl, check, check_whole, compared, compiled, compiler, edited,
                      path_of, recorded, run, run_case, simulator)


def by_name(rows):
    """The rows of a program's own functions and the library's."""
    return {(row["new"] or row["old"])["symbol"]: row for row in rows
            if not (row["new"] or row["old"])["object"].startswith("[")}


def functions_of(program):
    """Those that the program itself defines, by nm."""
    lines = run("nm", "--defined-only", program).decode().splitlines()
    return {line.split()[2] for line in lines if line.split()[1] in "tT"}


# Must the code of a function be the same, whatever the rest of the program?

def section_bytes(place, source, name, *flags):
    """The machine code of each function as the compiler left it: what the linker fills in is not there yet."""
    made = os.path.join(place, name + ".o")
    run(compiler, *FLAGS, *flags, "-ffunction-sections", "-c", source, "-o", made)
    sections = {}
    for line in run("readelf", "-SW", made).decode().splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 2 and words[1].startswith(".text.") and words[2] == "PROGBITS":
            raw = os.path.join(place, "section")
            run("objcopy", "-O", "binary", "-j", words[1], made, raw)
            with open(raw, "rb") as f:
                sections[words[1].rsplit(".", 1)[1]] = f.read()
    return sections


def check_code(place):
    """At -O2 and at -O3, and with 40 lines of comment before all: what changed, by fingerprints alone."""
    plain = edited(place + "/plain", "changed.c")
    commented = edited(place + "/commented", "changed.c",
                       ("#include", 40 * "/* a line of comment */\n" + "#include"))
    base = compiled(plain, place + "/base", "-O2")
    more = compiled(plain, place + "/optimised", "-O3")
    same = compiled(commented, place + "/moved", "-O2")
    fixed = compiled(plain, place + "/fixed", "-O2", "-fno-pie", "-no-pie")
    fixed_more = compiled(plain, place + "/fixed3", "-O3", "-fno-pie", "-no-pie")
    o2, o3 = (section_bytes(place, plain, level, level) for level in ("-O2", "-O3"))
    truth = {name for name in o2 if o2[name] != o3[name]}
    own = set(o2)
    check(0 < len(truth) < len(own), "a test of nothing:", truth, own)
    base, more, same, fixed, fixed_more = (
        recorded(p, 40, options=("--callchain", "--period", 31))
        for p in (base, more, same, fixed, fixed_more))
    for name, old, new, expected in (("-O2, -O3", base, more, truth), ("comment", base, same, set()),
                                     ("-O3, -O2", more, base, truth),
                                     ("fixed", fixed, fixed_more, truth)):
        rows = by_name(compared(old, new)["functions"])
        seen = own & {n for n, row in rows.items() if row["old"] and row["new"]}
        check(seen == own, name, "not sampled:", own - seen)
        changed = {n for n, row in rows.items() if row["reason"] == "code"}
        check(changed == expected, name, "changed:", changed, "should be", expected)
        print("%s: %d of %d functions changed" % (name, len(changed), len(own)))


def truth(recording, name):
    with open("%s.%s.tsv" % (recording, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def instructions_of(path, function):
    """Addresses of its instructions, as the file has them."""
    for tables in ["nm", "-S"], ["nm", "-D", "-S"]:
        for line in run(*tables, "--defined-only", path).decode().splitlines():
            words = line.split()
            if len(words) == 4 and words[3].split("@")[0] == function:
                start, size = int(words[0], 16), int(words[1], 16)
                code = run("objdump", "-d", "--start-address=%d" % start,
                           "--stop-address=%d" % (start + size), path).decode()
                return [int(line.split(":")[0], 16) for line in code.splitlines()
                        if line.startswith("  ") and ":\t" in line and len(line.split("\t")) > 2]
    return []


def exact_share(recording, function):
    """Its share of all instructions of the run, by the truth: counts of blocks, and what objdump has in these."""
    executed = 0
    for _, _, _, start, end, offset, path in truth(recording, "maps"):
        if not os.path.exists(path):
            continue
        base = int(start, 0) - int(offset, 0)  # in such files, addresses are offsets
        addresses = [base + a for a in instructions_of(path, function)]
        for _, begin, last, count, _ in truth(recording, "blocks"):
            if int(start, 0) <= int(begin, 0) < int(end, 0):
                n = sum(int(begin, 0) <= a <= int(last, 0) for a in addresses)
                executed += n * int(count)
    return 100 * executed / sum(int(row[4]) for row in truth(recording, "tasks"))


def check_div(place):
    old, new = (compiled(edited(place + "/" + name, "div.c", *edits), place + "/div-" + name)
                for name, edits in (("old", OLD_DIV), ("new", NEW_DIV)))
    old, new = (recorded(p, 1500, options=("--period", 13)) for p in (old, new))
    rows = by_name(compared(old, new)["functions"])
    for name, up in (("main", True), ("random_r", False), ("random", False),
                     ("compute_flag", False)):
        row = rows[name]
        exact = exact_share(new, name) - exact_share(old, name)
        low, high = row["interval"]
        check(low <= exact <= high, name, "moved by", exact, "which is not in", low, high)
        check((row["delta_percent"] > 0) == up == (exact > 0), name, row["delta_percent"], exact)
        check(row["significant"], name, "has not moved", row)
        print("%s: %+.2f points (%+.2f to %+.2f), exactly %+.2f" %
              (name, row["delta_percent"], low, high, exact))
    check(rows["main"]["significant"] and rows == by_name(compared(old, new)["functions"]))
    by_code = {name for name, row in rows.items() if row["reason"]}
    check(by_code == {"main", "compute_flag"}, "changed by code:", by_code)
    check_div_sources(place, old, new)
    check_div_streams(place, old, new)


def reasons(document):
    return {name: row["reason"] for name, row in by_name(document["functions"]).items()
            if row["reason"]}


def check_div_sources(place, old, new):
    folders = ("--before", place + "/old", "--after", place + "/new")
    document = compared(old, new, *folders)
    check(reasons(document) == {"main": "source", "compute_flag": "source"}, reasons(document))
    document = compared(old, new, "--changed-func", "main", "--changed-func", "rand")
    check(reasons(document) == {"main": "named", "rand": "named", "compute_flag": "code"},
          reasons(document))
    said = subprocess.run([branchctl, "diff", old, new, "--changed-func", "main", "--changed-func", "mian"],
                          env=dict(os.environ, LC_ALL="C.UTF-8"), stdin=subprocess.DEVNULL,
                          capture_output=True, check=True, timeout=900).stderr.decode()
    check("'mian'" in said and "'main'" not in said, "of names that match nothing:", said)
    lines = compared(old, new, *folders, "--by", "line")["lines"]
    changed = {(row["old"] or row["new"])["line"].rsplit("/", 1)[-1] for row in lines
               if row["reason"] == "source"}
    check(changed and changed <= {"div.c:13", "div.c:24"}, "changed lines:", changed)
    one_sided = [row for row in lines if not (row["old"] and row["new"]) and row["significant"]]
    check(all(row["reason"] == "source" for row in one_sided), "lines of one side:", one_sided)


def check_sections(name, document, functions):
    """Each stream is in one section, once; of the old those through the changed functions alone are changed."""
    streams = document["streams"]
    for section, sides in (("matched", (True, True)), ("changed", (True, False)),
                           ("old_only", (True, False)), ("new_only", (False, True))):
        check(all((row["old"] is not None, row["new"] is not None) == sides
                  for row in streams[section]), name, section)
        check(all((row["reason"] is None) == (section in ("matched", "old_only"))
                  for row in streams[section] if section != "new_only"), name, "reasons of", section)
    for section in "matched", "changed", "new_only":
        check(streams[section], name, "has none of", section)
    for row in streams["changed"]:
        check(functions & {symbol for symbol, _ in path_of(row)}, name, "not changed:", path_of(row))
    for side in "old", "new":
        rows = [row for section in streams.values() for row in section if row[side]]
        paths = {json.dumps([(frame["object"], frame["address"]) for frame in row[side]["frames"]])
                 for row in rows}
        check(len(paths) == len(rows), name, "a stream is listed twice")
    print("%s: streams %s" % (name, {section: len(rows) for section, rows in streams.items()}))


def streams_compared(old, new, *options):
    return json.loads(run(branchctl, "diff", old, new, "--json", "--percent-limit", 0.5, "--by", "stream",
                          "--depth", "full", *options))


def untouched(document):
    """The matched streams that have been through no function that was changed."""
    return {json.dumps(path_of(row)) for row in document["streams"]["matched"]
            if row["old"]["percent"] >= 0.5 and
            not {"main", "compute_flag"} & {symbol for symbol, _ in path_of(row)}}


def paths_of_sections(document):
    """Those of at least half a percent, or that moved, place by place."""
    return {section: {json.dumps([frame["address"] for frame in (row["old"] or row["new"])["frames"]])
                      for row in rows} for section, rows in document["streams"].items()}


def check_div_streams(place, old, new):
    """
    The four sections: by sources, by names, and by neither. Of eight branches; longer paths have all been
    through what was changed, for the loop turns that often.
    """
    folders = ("--before", place + "/old", "--after", place + "/new")
    changed_lines = {"div.c:13", "div.c:24"}
    own = {"main", "compute_flag", "rand", "random", "random_r"}
    check_whole(compared(old, new, "--by", "stream"))
    check_whole(compared(old, new, "--by", "stream", "--depth", "full"))
    old, new = (recorded(place + "/div-" + n, 1500, options=("--period", 13, "--rows", 8))
                for n in ("old", "new"))
    document = streams_compared(old, new, *folders)
    check_sections("by sources", document, {"main", "compute_flag"})
    for section in "matched", "old_only":
        for row in document["streams"][section]:
            check(not changed_lines & {line for _, line in path_of(row)}, section, path_of(row))
    for row in document["streams"]["old_only"]:
        check(not own & {symbol for symbol, _ in path_of(row)}, "not matched:", path_of(row))
    check(all(row["reason"] == "source" for row in document["streams"]["changed"]), "reasons")
    by_sources, sections = untouched(document), paths_of_sections(document)
    names = ("--changed-func", "main", "--changed-func", "rand")
    document = streams_compared(old, new, *names)
    check_sections("by names", document, {"main", "rand", "compute_flag"})
    named = {row["reason"] for row in document["streams"]["changed"]}
    check("named" in named and named <= {"named", "code"}, "reasons", named)
    document = streams_compared(old, new)
    check_sections("by code", document, {"main", "compute_flag"})
    check(by_sources and by_sources == untouched(document), "by sources", by_sources, "by code",
          untouched(document))
    for section, paths in paths_of_sections(document).items():
        check(paths == sections[section], section, "by code, not by sources:", paths - sections[section],
              "by sources, not by code:", sections[section] - paths)


# Changes planted in a program, and none.

def planted_program(place, name, *edits):
    return compiled(edited(place + "/" + name, "planted.c", *edits), place + "/planted-" + name,
                    "-static")


def first_of(document, what):
    row = document[what][0]
    check(row["significant"], "no significant change:", document["summary"])
    return row


def block_function(row):
    return row["new"]["start"]["symbol"]


def check_page(text, document):
    """Without --by: some of each kind in one page, and how to see more."""
    lines = text.splitlines()
    check(len(lines) <= 40 and lines[-1].startswith("... more of each with -n N, --by function"), "a page:", text)
    check(not any(line.endswith(" ") for line in lines), "blanks at the end of lines:", text)
    streams = sum(map(len, document["streams"].values()))
    heads = [i for i, line in enumerate(lines) if "significant change" in line]
    check([lines[i].split()[-2:] for i in heads] ==
          [[str(len(document["functions"])), "functions"], [str(streams), "streams"],
           [str(len(document["blocks"])), "blocks"]], "kinds:", text)
    functions = lines[heads[0] + 2:heads[1] - 1]
    check([line.split()[-1] for line in functions] ==
          [(row["new"] or row["old"])["symbol"] or "[unknown]" for row in document["functions"][:5]], functions)
    largest = max((row for rows in document["streams"].values() for row in rows),
                  key=lambda row: (row["significant"], abs(row["delta_percent"])))
    check("%.2f %%" % (largest["new"] or largest["old"])["percent"] in lines[heads[1] + 2], largest, text)
    check(sum(line.startswith("[ ") for line in lines) == 3, "streams:", text)
    check("SHARE" in lines[heads[2] + 1] and "AVERAGE" in lines[heads[2] + 1], "no headings of columns", text)
    check(all(re.search(r":\d+(\.\.\S*\d+)?$|\+0x", line) for line in lines[heads[2] + 3:-2]) and
          len(lines) - 2 - heads[2] - 3 == 4, "blocks:", text)


def check_planted(place):
    base = planted_program(place, "base")
    more = 7 * "__asm__ volatile(\"nop\");"
    dear = planted_program(place, "dearer", ("\t\tDEARER\n", "\t\t%s\n" % more))
    options = ("--period", 17)
    old = recorded(base, 100, options=options)
    new = recorded(dear, 100, options=options)
    document = compared(old, new)
    check(first_of(document, "functions")["new"]["symbol"] == "second", document["summary"])
    row = first_of(document, "blocks")
    check(block_function(row) == "second" and row["changed"], "block:", row)
    averages = [row[side]["average_cycles"] for side in ("old", "new")]
    few = json.loads(run(branchctl, "diff", old, new, "--json", "--by", "block", "-n", 3))
    check(len(few["blocks"]) == 3 and few["rows_omitted"]["blocks"] + 3 == len(document["blocks"]),
          "left out:", few["rows_omitted"], "of", len(document["blocks"]))
    check(len(compared(old, new, "--by", "block", "-n", 3)["blocks"]) == 3, "-n beside --all")
    check(all(row[side]["per_second"] is not None for row in document["functions"]
              for side in ("old", "new") if row[side]), "nothing known of a second")
    both = compared(old, new, "--by", "block,function")
    check(both["blocks"] == document["blocks"] and both["functions"] == document["functions"] and
          "streams" not in both, "a list of views")
    text = run(branchctl, "diff", old, new, "--by", "function,block").decode()
    check(text.count(", then ") == 1 and "PER SECOND" in text and "AVERAGE" in text, "a page of two views:", text)
    check_page(run(branchctl, "diff", old, new).decode(), document)
    shown = run(branchctl, "diff", old, new, "--all").decode()
    check("less than" not in shown and "more of each" not in shown, "--all leaves out")
    print("dearer: %s; cycles of the block %.1f, then %.1f" %
          (document["summary"].splitlines()[1], *averages))

    shutil.copy(base, base + "2")
    new = recorded(base + "2", 100, 1, options=options)
    row = first_of(compared(old, new, "--by", "block"), "blocks")
    check(block_function(row) == "decide" and not row["changed"], "block:", row)
    print("unpredictable:", row["new"]["start"]["symbol"], "+%.1f cycles" % row["delta_cycles"])

    shutil.copy(base, base + "3")
    new = recorded(base + "3", 100, 0, 1, options=options)
    document = compared(old, new)
    check(first_of(document, "functions")["new"]["symbol"] == "third", document["summary"])
    print("another path:", document["summary"].splitlines()[1])


N_RECORDINGS = 52
APART = (1, 2)  # of a pair: recording costs more than comparing
N_PAIRS = sum(N_RECORDINGS - n for n in APART)


def check_steady(place):
    """Of N_PAIRS pairs of recordings of one load at most five in a hundred show a row that moved."""
    program = planted_program(place, "steady")
    moved = {"functions": 0, "blocks": 0, "streams": 0}
    recordings = [place + "/%d.data" % seed for seed in range(N_RECORDINGS)]
    for seed, recording in enumerate(recordings):
        run(simulator, "-o", recording, "--seed", seed + 1, "--period", 101, "--", program, 25)
    for old, new in [pair for n in APART for pair in zip(recordings, recordings[n:])]:
        document = compared(old, new)
        for what in moved:
            rows = document.get(what, [])
            rows = sum(rows.values(), []) if isinstance(rows, dict) else rows
            moved[what] += any(row["significant"] for row in rows)
    print("pairs of %d that show a row that moved: %s" % (N_PAIRS, moved))
    check(all(n <= N_PAIRS / 20 for n in moved.values()), "steady:", moved)


CASES = {"code": check_code, "div": check_div, "planted": check_planted, "steady": check_steady}

run_case(CASES, "nm", "objdump", "readelf", "objcopy")
