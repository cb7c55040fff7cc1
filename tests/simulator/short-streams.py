# SPDX-License-Identifier: LGPL-2.1-or-later
"""Streams by function and line, of programs before and after a change: few hold most hits, and both sides have them.

    short-streams.py SIMULATOR BRANCHCTL FOLDER-OF-SOURCES COMPILER CASE

--depth full has the paths that `dump` has, and streams of any depth have the hits of the whole paths. Exit status 77: skipped.
"""

import functools
import json
import os
import shutil

from engine import Counts, Wrong, compare
from versions import (NEW_DIV, OLD_DIV, branchctl, check, check_whole, compared, compiled, edited, hits, path_of,
                      recorded, run, run_case, simulator, skip)

N_HOTTEST = 5
MOST_HITS, MOST_PAIRED = 50, 85  # percent: what the hottest have; what is paired of the old

# Edits of the old and of the new, how often it turns, and a function that changes.
CHANGES = {
    "div": (OLD_DIV, NEW_DIV, 8000, "main"),
    "phases": ((), (("\"dec %0", "\"nop; dec %0"),), 60, "red"),
    "planted": ((), (("\t\tDEARER\n", "\t\tsink = sink * 5 + 1;\n"),), 60, "second"),
    "changed": ((), (("numbers[i] * 3", "numbers[i] * 5 + i"),), 30, "sum_of_some"),
}


def top(recording, *options):
    return json.loads(run(branchctl, "top", recording, "--by", "stream", "--json", "-n", 0, *options))


def dumped_paths(recording):
    """The hits of each path, newest branch first, each its target and its source."""
    profile = json.loads(run(branchctl, "dump", recording, "--json"))
    objects = [o["path"] for o in profile["objects"]]
    paths, counts = [], Counts()
    for row in profile["streams"]["rows"]:
        row = dict(zip(profile["streams"]["columns"], row))
        path = () if row["parent"] is None else paths[row["parent"]]
        path += tuple((objects[row[end + "_object"]], int(row[end], 0)) for end in ("to", "from"))
        paths.append(path)
        if row["hits"]:
            counts.add(path, row["hits"])
    return counts


def place_of(frame):
    """Function and line; where there is no line, the offset."""
    return frame["object"], frame["symbol"], frame["line"] or frame["file_offset"]


def newest(rows):
    """The hits by the newest branch."""
    counts = Counts()
    for row in rows:
        counts.add(tuple(place_of(frame) for frame in row["frames"][:2]), row["hits"])
    return counts


def check_depths(recording):
    """Whole paths are those of the profile; whatever the depth, each sample counts where its path begins."""
    whole = top(recording, "--depth", "full")["rows"]
    shown = Counts()
    for row in whole:
        shown.add(tuple((f["object"], int(f["file_offset"], 0)) for f in row["frames"]), row["hits"])
    compare("whole paths", shown, dumped_paths(recording))
    for options in [], ["--depth", 2], ["--depth", 9]:
        compare("branches, %s" % options, newest(top(recording, *options)["rows"]), newest(whole))
    return len(whole)


def check_pairs(old, new, *options):
    """The pairs, and how much of the old hits is in those of the same code and in all."""
    document = compared(old, new, "--by", "stream", *options)
    check_whole(document)
    streams, total = document["streams"], document["old_totals"]["streams"]
    pairs = streams["matched"] + streams["changed"]
    check(all(row["old"] and row["new"] for row in pairs), options, "half a pair")
    check(all(row["reason"] is None for row in streams["matched"]), options, "changed, but matched")
    check(all(row["reason"] for row in streams["changed"]), options, "changed without a reason")
    check(not any(row["old"] and row["new"] for row in streams["old_only"] + streams["new_only"]), options)
    same, paired = (100 * hits(rows, "old") / total for rows in (streams["matched"], pairs))
    check(paired >= MOST_PAIRED, options, "of the old hits are paired:", paired)
    return {json.dumps(path_of(row)) for row in pairs}, same, paired


def check_streams(name, old, new, *ways):
    """@ways: options of diff that must not change what is a pair."""
    document = top(old)
    of_hottest = 100 * sum(row["hits"] for row in document["rows"][:N_HOTTEST]) / document["totals"]["streams"]
    check(of_hottest >= MOST_HITS, "the hottest have", of_hottest)
    try:
        n_whole = check_depths(old)
    except Wrong as wrong:
        check(False, wrong)
        return
    pairs, same, paired = check_pairs(old, new)
    for options in ways:
        others = check_pairs(old, new, *options)[0]
        check(others == pairs, options, "pairs differ:", others ^ pairs)
    print("%s: %d of %d whole paths; the hottest %d have %.1f %% of the hits; %d pairs have %.1f %% of the old, "
          "%.1f %% without changed code" % (name, len(document["rows"]), n_whole, N_HOTTEST, of_hottest,
                                            len(pairs), paired, same))


def check_program(place, name):
    *edits, turns, function = CHANGES[name]
    folders = [place + "/old", place + "/new"]
    old, new = (recorded(compiled(edited(folder, name + ".c", *edit), folder + "/program"), turns,
                         options=("--period", 101)) for folder, edit in zip(folders, edits))
    check_streams(name, old, new, ["--before", folders[0], "--after", folders[1]], ["--changed-func", function])


def check_gzip(place):
    """As the distribution built it, without symbols: two levels of compression."""
    if not shutil.which("gzip"):
        skip("gzip is not installed")
    text, recordings = place + "/text", [place + "/gzip-9", place + "/gzip-6"]
    state = 1
    with open(text, "w", encoding="ascii") as f:
        for _ in range(250):
            state = (state * 1103515245 + 12345) % (1 << 31)
            f.write("of %d and %s\n" % (state >> 20, "ab cd efg hijk"[state >> 28:]))
    for recording in recordings:
        run(simulator, "-o", recording, "--period", 1009, "--", os.path.realpath(shutil.which("gzip")), recording[-2:],
            "-c", text)
    check_streams("gzip", *recordings)


CASES = {name: functools.partial(check_program, name=name) for name in CHANGES}

run_case({**CASES, "gzip": check_gzip})
