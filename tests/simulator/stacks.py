# SPDX-License-Identifier: LGPL-2.1-or-later
"""Stitched call stacks of simulated recordings, frame by frame against the true ones.

    stacks.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM [PERF]

With PERF, the figures of `PERF script --stitch-lbr` are printed beside.

Each program is sampled densely, with a tenth of the samples, and without a hardware index. Possible is
what the branch records of this and earlier samples of the task have shown, as the simulator knows; of a
sparse recording more may be shown, where an unseen frame is equal to the frame seen before at its height.
Without an index samples count where their records show their alignment (distinguishable()); wrong is wrong
anywhere. Exit status 77: skipped, where tracing is forbidden.
"""

import os
import struct
import subprocess
import sys
import tempfile

from engine import recorded_rows, sample_branches

SKIPPED = 77
PERIOD = 137
OUTSIDE_MAIN = 3  # frames of the C library, and _start

# The size, and the size with a tenth of the samples.
PROGRAMS = {
    "chain": ("200", "400"),
    "recurse": ("120", "240"),
    "threads": ("100", "150"),
    "longjmp": ("400", "1500"),
    "libc": ("60", "100"),
}

# Of each way to sample: the least stacks complete to main and share of the depth, of what is possible,
# and the most wrong stacks; all in percent.
BOUNDS = {
    "dense": (99, 99, 0.1),
    "a tenth": (95, 95, 0.5),
    "dense, no index": (90, 90, 0.5),
}
OTHER_BOUNDS = {
    ("longjmp", "dense"): (99, 99, 1),
}
ALIKE = 4  # records in common fewer than where most are: it may be there as well


def run(*arguments, ok=(0,)):
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    if done.returncode not in ok:
        sys.exit("%s: %s" % (" ".join(arguments), done.stderr.decode(errors="replace")))
    return done


def true_stacks(recording):
    """Of each sample the addresses, leaf first, and how many of them were shown."""
    with open(recording + ".samples.tsv", encoding="utf-8") as f:
        for line in f:
            if line.startswith("#"):
                continue
            columns = line.rstrip("\n").split("\t")
            frames = [frame.lstrip("!").split("/")[0] for frame in columns[11].split(";")]
            yield [int(frame, 16) for frame in frames], int(columns[12]) + 1


def shown_stacks(branchctl, recording, *options):
    """Of each sample the addresses, leaf first; and of all addresses the functions' names."""
    text = run(branchctl, "dump", "--samples", *options, recording).stdout.decode()
    frames = [[line.split() for line in block.split("\n")[1:]]
              for block in text.rstrip("\n").split("\n\n")]
    names = {int(frame[0], 16): frame[1].split("+")[0] for stack in frames for frame in stack}
    return [[int(frame[0], 16) for frame in stack] for stack in frames], names


def count_common(rows, before, skip):
    """How many are the same, from the oldest on, if the oldest of @before but @skip is that of @rows."""
    n = 0
    for row, other in zip(reversed(rows), before[len(before) - skip - 1::-1]):
        if row != other:
            break
        n += 1
    return n


def distinguishable(recording, true_ones, names):
    """
    Of each sample whether its branch records show their alignment with the stack seen before. They do where
    they are the whole stack. Where they have records in common with the task's last sample, in one place by
    far, they do if those did. Where they have none, they do if the stack has no other call of the function
    that called the oldest record's.
    """
    before, known = {}, {}
    with open(recording + ".samples.tsv", encoding="utf-8") as f:
        tasks = [line.split("\t")[3] for line in f if not line.startswith("#")]
    for task, rows, (true, _) in zip(tasks, recorded_rows(recording, True), true_ones, strict=True):
        last = before.get(task, [])
        common = [count_common(rows, last, skip) for skip in range(len(last))]
        most = max(common, default=0)
        functions = [names.get(address) for address in true]
        if len(rows) >= len(true) - 1:
            known[task] = True
        elif most == 0:
            known[task] = functions.count(functions[len(rows)]) == 1
        elif sum(n > max(most - ALIKE - 1, 0) for n in common) > 1:
            known[task] = False
        before[task] = rows
        yield known.get(task, False)


def offsets(recording):
    """A function from addresses to what perf prints of them: where they are in the file mapped there."""
    with open(recording + ".maps.tsv", encoding="utf-8") as f:
        maps = [[int(column, 0) for column in line.split("\t")[3:6]] for line in f
                if not line.startswith("#")]

    def offset(address):
        for start, end, pgoff in maps:
            if start <= address < end:
                return address - start + pgoff
        return address
    return offset


def stacks_of_perf(perf, recording):
    """Its leaf is where the function begins that was called last: it counts as right."""
    text = run(perf, "script", "-i", recording, "--stitch-lbr", "-F", "tid,time,ip").stdout.decode()
    for block, (true, _) in zip(text.rstrip("\n").split("\n\n"), true_stacks(recording), strict=True):
        yield true[:1] + [int(line.split()[0], 16) for line in block.split("\n")[2:]]


def score(true_ones, shown_ones, chosen):
    """Percentages: complete to main, share of the depth up to it, each shown and possible; wrong; all complete.

    What called main is there before the first sample, or not, as the environment has it: it does not count.
    Of samples not chosen counts alone what is wrong.
    """
    n = to_main = complete = possible = wrong = depth = right = seen = 0
    for (true, n_shown), shown, is_chosen in zip(true_ones, shown_ones, chosen, strict=True):
        common = next((i for i, (a, b) in enumerate(zip(true, shown)) if a != b),
                      min(len(true), len(shown)))
        n_to_main = max(len(true) - OUTSIDE_MAIN, 1)
        wrong += common < len(shown)
        if not is_chosen:
            continue
        n += 1
        complete += shown == true
        to_main += common == len(shown) >= n_to_main
        possible += n_shown >= n_to_main
        depth += n_to_main
        right += min(common, n_to_main)
        seen += min(n_shown, n_to_main)
    return (100 * to_main / n, 100 * possible / n, 100 * right / depth, 100 * seen / depth,
            100 * wrong / len(true_ones), 100 * complete / n)


def show(name, what, figures):
    print("%s, %s: to main %.2f of %.2f %%, share %.2f of %.2f %%, wrong %.2f %%, all of it %.2f %%"
          % ((name, what) + figures), flush=True)


def check(branchctl, recording, name, what, perfs):
    """Prints the figures; whether they are within the bounds."""
    true_ones = list(true_stacks(recording))
    shown_ones, names = shown_stacks(branchctl, recording)
    chosen = [True] * len(true_ones)
    if "no index" in what:
        chosen = list(distinguishable(recording, true_ones, names))
        print("%s, %s: %.2f %% of the samples have distinguishable records; of all:"
              % (name, what, 100 * sum(chosen) / len(chosen)))
        show(name, what, score(true_ones, shown_ones, [True] * len(chosen)))
    figures = score(true_ones, shown_ones, chosen)
    to_main, possible, share, shown, wrong, _ = figures
    for perf in perfs:
        offset = offsets(recording)
        show(name + ", perf", what, score(
            [(true[:1] + [offset(a) for a in true[1:]], n) for true, n in true_ones],
            stacks_of_perf(perf, recording), [True] * len(true_ones)))
    show(name, what, figures)
    bounds = OTHER_BOUNDS.get((name, what), BOUNDS[what])
    if (to_main * 100 < bounds[0] * possible or share * 100 < bounds[1] * shown
            or wrong > bounds[2] or sum(chosen) * 2 < len(chosen)):
        print("FAILED: not within bounds")
        return False
    return True


def record(simulator, recording, period, program, n):
    done = run(simulator, "-o", recording, "--mode", "stack", "--period", str(period), "--", program, n, ok=(0, SKIPPED))
    if done.returncode == SKIPPED:
        print("skipped: tracing is not allowed", file=sys.stderr)
        sys.exit(SKIPPED)


def remove_index(recording):
    """Makes it what --no-hw-idx would have made."""
    with open(recording, "r+b") as f:
        data = bytearray(f.read())
        for at in sample_branches(data, True):
            struct.pack_into("<Q", data, at + 8, 2 ** 64 - 1)
        f.seek(0)
        f.write(data)


def main():
    simulator, branchctl, folder, name, *perfs = sys.argv[1:]
    size, size_of_tenth = PROGRAMS[name]
    program = os.path.join(folder, "simulated-" + name)
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "simulated.data")
        record(simulator, recording, 10 * PERIOD, program, size_of_tenth)
        good = [check(branchctl, recording, name, "a tenth", perfs)]
        record(simulator, recording, PERIOD, program, size)
        good.append(check(branchctl, recording, name, "dense", perfs))
        remove_index(recording)
        good.append(check(branchctl, recording, name, "dense, no index", perfs))
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
