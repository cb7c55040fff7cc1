# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl annotate of every own function of a simulated program, against the truth of the run.

    annotate.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

Ranges have to equal those of the branch records, recounted here one offset at a time; samples of an
instruction those taken at it; instructions those that objdump finds. Shares of taken and predicted branches are
compared with those of the whole run, of which the records are only a part. Exit status 77: skipped, with the
reason, where tracing is forbidden or objdump is missing.
"""

import bisect
import collections
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile

from engine import PROGRAMS, Symbols, Truth, Wrong, compare, output_of, simulate, skip, true_blocks, true_rows

# Long enough that shares say something; other programs as the engine's tests have them.
ARGUMENTS = {"odds": ["4000"], "div": ["10000"], "chain": ["200"], "libc": ["40"], "names": ["60"]}
MIN_EXECUTED = 1000

# Options, and how far the shares of taken and of predicted branches may be off: points, mean over branches.
# Samples that are taken by instructions see too much of the branches before a long run, by about a part in as
# many as there are branch records; those taken by branches do not.
VARIANTS = [
    (["--period", "101"], 0.9, 0.3),
    (["--event", "branches", "--period", "17", "--rows", "16", "--aslr"], 0.6, 0.3),
]
MEMBERS = ("is_target", "is_branch", "coverage", "entry", "taken", "rows", "predicted", "mispredicted",
           "cycles", "cycles_rows")


class Offsets:
    """What is known of each offset of an object that is the start, the end or the inside of a run."""

    def __init__(self, path, blocks, branches):
        self.coverage = collections.Counter()
        self.targets, self.sources = set(), set()
        self.at = {name: collections.Counter() for name in MEMBERS}
        for (of, start, end), (runs, cycles, cycles_rows) in blocks.items():
            if of == path:
                self.add_run(start, end, runs, cycles, cycles_rows)
        for (source, target), (count, mispredicted) in branches.items():
            if target[0] == path:
                self.targets.add(target[1])
            if source[0] == path:
                self.sources.add(source[1])
                self.at["rows"][source[1]] += count
                self.at["mispredicted"][source[1]] += mispredicted
                self.at["predicted"][source[1]] += count - mispredicted

    def add_run(self, start, end, runs, cycles, cycles_rows):
        for offset in range(start, end + 1):
            self.coverage[offset] += runs
        self.targets.add(start)
        self.sources.add(end)
        self.at["entry"][start] += runs
        self.at["taken"][end] += runs
        self.at["cycles"][end] += cycles
        self.at["cycles_rows"][end] += cycles_rows

    def ranges(self, first, last):
        """Those with a part in [first, last): all offsets from one target or source to the next."""
        ranges, start = {}, None
        for offset in sorted(self.coverage):
            if start is None or offset != previous + 1 or offset in self.targets or previous in self.sources:
                start = offset
            previous = offset
            if start < last and offset >= first:
                ranges[start] = offset
        return {(start, end): self.describe(start, end) for start, end in ranges.items()}

    def describe(self, start, end):
        values = {"is_target": start in self.targets, "is_branch": end in self.sources,
                  "coverage": self.coverage[start], "entry": self.at["entry"][start]}
        return [values[name] if name in values else self.at[name][end] for name in MEMBERS]


def true_pairs(truth, pairs):
    branches = collections.defaultdict(lambda: [0, 0])
    for (image, source, target), (n, mispredicted, _) in pairs.items():
        counts = branches[truth.place(image, source), truth.place(image, target)]
        counts[0] += n
        counts[1] += mispredicted
    return branches


def offset_of(location):
    return int(location["file_offset"], 0)


def disassembled(path, start, end):
    """Addresses of the instructions that objdump finds, and of what they refer to relative to rip: "# 4010 <acc>"."""
    text = output_of("objdump", "-d", "--no-show-raw-insn", "--start-address=%#x" % start,
                     "--stop-address=%#x" % end, path).stdout.decode()
    lines = [line for line in text.splitlines() if re.match(r" +[0-9a-f]+:\t", line)]
    data = [re.search(r"\(%rip\).*# ([0-9a-f]+)", line) for line in lines]
    return [(int(line.split(":")[0], 16), int(found[1], 16) if found else None) for line, found in zip(lines, data)]


def check_function(document, offsets, sampled, path):
    function, instructions = document["function"], document["instructions"]
    start = offset_of(function["start"])
    end = start + function["size"]
    if function["code"] != "file":
        raise Wrong("no code of %s" % function["start"])
    got = {(offset_of(r["start"]), offset_of(r["end"])): [r[name] for name in MEMBERS]
           for r in document["ranges"]}
    compare("ranges of " + function["start"]["symbol"], got, offsets.ranges(start, end))
    compare("samples of " + function["start"]["symbol"],
            {offset_of(i["at"]): i["samples"] for i in instructions if i["samples"]},
            {offset: n for offset, n in sampled.items() if start <= offset < end})
    addresses = [(int(i["at"]["address"], 0), i["data"] and int(i["data"]["address"], 0)) for i in instructions]
    first = int(function["start"]["address"], 0)
    if addresses != disassembled(path, first, first + function["size"]):
        raise Wrong("instructions of %s are not those of objdump" % function["start"]["symbol"])
    for instruction in instructions:
        if instruction["data"] and not instruction["data"]["symbol"]:
            raise Wrong("data of %s has no name" % instruction)
        if instruction["coverage"] != offsets.coverage[offset_of(instruction["at"])]:
            raise Wrong("coverage of %s" % instruction)
    return len(got)


class Shares:
    """Of conditional branches that were executed often: what is shown, less what is true, in points."""

    def __init__(self, truth, path):
        executed, self.taken, self.predicted, self.errors = {}, {}, {}, ([], [])
        rows = collections.defaultdict(lambda: [0, 0])
        for image, source, _, n, mispredicted, _, _ in truth.rows("taken"):
            counts = rows[truth.place(int(image), int(source, 0))]
            counts[0] += int(n)
            counts[1] += int(mispredicted)
        for image, address, _, n, taken, _ in truth.numbers("conditionals"):
            place = truth.place(image, address)
            counts = executed.setdefault(place, [0, 0])
            counts[0] += n
            counts[1] += taken
        for (of, offset), (n, taken) in executed.items():
            if of == path and n >= MIN_EXECUTED:
                self.taken[offset] = 100 * taken / n
                n, mispredicted = rows[of, offset]
                self.predicted[offset] = 100 * (n - mispredicted) / n if n else None

    def add(self, instruction):
        offset = offset_of(instruction["at"])
        if offset not in self.taken:
            return
        # not seen to end a run: no taken branch was sampled
        self.errors[0].append(abs((instruction["taken_percent"] or 0) - self.taken[offset]))
        if instruction["predicted_percent"] is not None:
            self.errors[1].append(abs(instruction["predicted_percent"] - self.predicted[offset]))

    def means(self):
        return [sum(errors) / len(errors) if errors else 0 for errors in self.errors]


def check_odds(document, max_off):
    """Of the program of known odds: the shares that its source says, whichever way the compiler turned them.

    This many rounds have them to within three standard deviations, and annotate shows them within @max_off.
    """
    often = max(i["coverage"] or 0 for i in document["instructions"]) / 100  # not what is tested once
    taken = [i["taken_percent"] or 0 for i in document["instructions"]
             if i["kind"] == "cond" and (i["coverage"] or 0) > often]
    got = sorted(min(share, 100 - share) for share in taken)
    expected = [0, 6.25, 12.5, 12.5, 50]  # the loop, four bits, three bits, the eight turns, one bit
    rounds = int(ARGUMENTS["odds"][0])
    if len(got) != 5 or any(abs(a - b) > max_off + 3 * math.sqrt(b * (100 - b) / rounds)
                            for a, b in zip(got, expected)):
        raise Wrong("odds are %s, should be %s" % (got, expected))


def names_of(path, counted):
    """Functions that hold one of the file offsets @counted, and have a name of their own; of several names of
    one address the first."""
    symbols = Symbols(path)
    counted = sorted(address for address in map(symbols.address, counted) if address is not None)
    counts = collections.Counter(name for _, _, name in symbols.functions)
    starts = {start: name for start, end, name in symbols.functions
              if counts[name] == 1 and bisect.bisect_left(counted, start) < bisect.bisect_left(counted, end)}
    return sorted(set(starts.values()))


def check_reasons(branchctl, recording):
    """An error names a possible cause."""
    done = output_of(branchctl, "annotate", "main", recording, "--comm", "nobody", ok=(1,))
    said = done.stderr.decode()
    if "nothing matches the filters" not in said or "no counts for" not in said:
        raise Wrong("of a function that was filtered away it says %r" % said)
    said = output_of(branchctl, "annotate", "libc.so.6", recording, ok=(1,)).stderr.decode()
    if "'libc.so.6' is an object" not in said:
        raise Wrong("of an object it says %r" % said)
    place = os.path.dirname(recording)
    os.link(recording, os.path.join(place, "recorded"))
    done = subprocess.run([os.path.abspath(branchctl), "annotate", "recorded", "--socket", "/nonexistent"], cwd=place,
                          capture_output=True, text=True, check=False)
    if done.returncode != 1 or "write ./recorded" not in done.stderr or "daemon" in done.stderr:
        raise Wrong("of a file without a slash it says %r" % done.stderr)
    for word in (recording + ".data", os.path.join(os.path.dirname(recording), "missing.data")):
        said = output_of(branchctl, "annotate", word, ok=(1,)).stderr.decode()
        if word not in said or "No such file" not in said or "daemon" in said:
            raise Wrong("of a file that is missing it says %r" % said)


def check_hottest(branchctl, recording):
    """Without a symbol: the hottest functions, each as with its symbol."""
    rows = json.loads(output_of(branchctl, "top", recording, "--json", "-n", "0").stdout)["rows"]
    wanted = [row for row in rows if row["symbol"] and row["self"]][:3]
    document = json.loads(output_of(branchctl, "annotate", recording, "-n", "3", "--json").stdout)
    compare("hottest functions", dict(enumerate((f["function"]["start"]["symbol"], f["function"]["samples"])
                                                for f in document["functions"])),
            dict(enumerate((row["symbol"], row["self"]) for row in wanted)))
    text = output_of(branchctl, "annotate", recording, "-n", "3").stdout.decode()
    for function in document["functions"]:
        start = function["function"]["start"]
        name = "%s:%s" % (start["object"], start["address"])
        alone = output_of(branchctl, "annotate", name, recording, "--json").stdout
        compare("members of " + start["symbol"], {key: json.loads(alone)[key] for key in function}, function)
        table = output_of(branchctl, "annotate", name, recording).stdout.decode()
        if table not in text or "ENTERED   TAKEN PREDICTED" not in table:
            raise Wrong("the text of %s is another one" % name)


def check_att(branchctl, recording):
    """With --att the texts alone are others: registers have a percent sign."""
    intel, att = (json.loads(output_of(branchctl, "annotate", recording, "-n", "2", "--json", *option).stdout)
                  for option in ([], ["--att"]))
    texts = [[i.pop("text") or "" for f in document["functions"] for i in f["instructions"]] for document in (intel, att)]
    if "%" in "".join(texts[0]) or "%" not in "".join(texts[1]):
        raise Wrong("--att writes %s" % texts[1])
    compare("members with --att", att, intel)


def check_recording(branchctl, recording, path, max_taken, max_predicted):
    truth = Truth(recording)
    pairs, runs, _ = true_rows(truth, False)
    offsets = Offsets(path, true_blocks(truth, runs)[0], true_pairs(truth, pairs))
    sampled = collections.Counter()
    for image, ip, n, _ in truth.numbers("ips"):
        of, offset = truth.place(image, ip)
        if of == path:
            sampled[offset] += n
    shares, n_functions, n_ranges = Shares(truth, path), 0, 0
    for name in names_of(path, {*offsets.coverage, *sampled}):
        done = output_of(branchctl, "annotate", name, recording, "--object", path, "--json", ok=(0, 1))
        if done.returncode:
            if not done.stderr.decode().count("no counts for"):
                raise Wrong(done.stderr.decode())
            continue
        document = json.loads(done.stdout)
        n_functions += 1
        n_ranges += check_function(document, offsets, sampled, path)
        if name == "odds":
            check_odds(document, max_taken)
        for instruction in document["instructions"]:
            shares.add(instruction)
    if not n_ranges:
        raise Wrong("nothing to compare")
    means, n = shares.means(), len(shares.errors[0])
    if means[0] > max_taken or means[1] > max_predicted:
        raise Wrong("taken is %.2f points off, predicted %.2f" % tuple(means))
    return "%d ranges of %d functions; %d often executed branches, taken %.2f points off, predicted %.2f" % (
        n_ranges, n_functions, n, *means)


def main():
    simulator, branchctl, folder, name = sys.argv[1:]
    for tool in ("nm", "readelf", "objdump"):
        if not shutil.which(tool):
            skip(tool + " is not installed")
    path = os.path.realpath(os.path.join(folder, "simulated-" + name))
    program = [path]
    program += [os.path.join(folder, a) if a.endswith(".so") else a for a in ARGUMENTS.get(name, PROGRAMS[name][0])]
    n_failed = 0
    for options, *limits in VARIANTS:
        with tempfile.TemporaryDirectory() as temporary:
            recording = os.path.join(temporary, "simulated.data")
            try:
                simulate(simulator, recording, options, program)
                check_reasons(branchctl, recording)
                check_hottest(branchctl, recording)
                check_att(branchctl, recording)
                said = check_recording(branchctl, recording, path, *limits)
            except Wrong as wrong:
                n_failed += 1
                said = "FAILED: %s" % wrong
        print("%s %s: %s" % (name, " ".join(options), said))
    sys.exit(n_failed > 0)


main()
