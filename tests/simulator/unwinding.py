# SPDX-License-Identifier: LGPL-2.1-or-later
"""Call stacks unwound from registers and stack bytes, frame by frame against the true ones.

    unwinding.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM [PERF]

The parts of the program that it names itself are sampled at each instruction, or at each few. With PERF, the
figures of `PERF script` of the same recordings are printed beside. A stack is right if it has the true frames to
the start of the thread; short if it has only some of them, without a gap from the leaf on; else wrong.

While longjmp, an exception or swapcontext moves the stack pointer, the tables say that the place it will jump to
is the caller, from some instructions before the true stack changes on: that counts as right, too. Where the
stack pointer or the stack's contents have changed already and the tables do not say so (swapcontext of glibc,
the last instructions of a throw), what is shown counts neither way.

A table covers a stack if the .eh_frame or .debug_frame of each file (readelf) has the code of each of its frames.
A stack that ends at other code, such as _init and what the compiler adds for the start and the end of a program,
counts neither way, and is printed as not covered.
Exit status 77: skipped, where tracing is forbidden.
"""

import bisect
import collections
import os
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
STACK_BYTES = "16384"
SAMPLES_MAX = "6000"

JUMP_MAX = 300  # instructions, from the first whose tables say so to the jump
PREFIX_MAX = 4  # frames that are there beside it
JUMPING_MAX = 10  # percent of the samples, within jumps that no table describes
UNCOVERED_MAX = 2  # percent
EXAMPLES = 5

SAMPLED = [("sampled", 1)]
# Percent of the covered stacks that have to be right, else all; no stack may be wrong.
LEAST = {
    "coroutine": 99.8,  # in setcontext, whose table has registers that lie outside of the stack
    "throwing": 99.7,  # where libgcc overwrites registers that are saved in the stack, before it jumps
}

# Of each program its parts: the name (None: all of it), the period, and the arguments.
PROGRAMS = {
    "shapes-O0": SAMPLED,
    "shapes-O1": SAMPLED,
    "shapes-O2": SAMPLED,
    "shapes-O3": SAMPLED,
    "shapes-Os": SAMPLED,
    "lazy": SAMPLED,
    "lazy-ibt": SAMPLED,
    "cold": SAMPLED,
    "handlers": SAMPLED,
    "coroutine": SAMPLED,
    "clock": SAMPLED,
    "throwing": SAMPLED + [("throwing", 23)],
    "longjmp": [(None, 41, "9")],
    "dlopen": [(None, 97, "5", "simulated-plugin.so")],
    "loaded": [("sampled", 1, "1", "simulated-plugin.so")],
    "threads": [(None, 97, "2")],
    "chain": [(None, 97, "2")],
    "recurse": [(None, 97, "1")],
    "libc": [(None, 97, "2")],
    "div": [(None, 97, "20")],
    "tailcall": [(None, 13, "20")],
    "forkexec": [(None, 97, "10")],
    "odds": [(None, 97, "20")],
    "names": [(None, 97, "2")],
}

# A stack is a list of pairs: the address, and whether it is a return address; the leaf first.
Sample = collections.namedtuple("Sample", "task image time stack held jumping")


def run(*arguments, ok=(0,)):
    environment = dict(os.environ, LC_ALL="C.UTF-8", DEBUGINFOD_URLS="")
    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, timeout=900, env=environment)
    if done.returncode not in ok:
        sys.exit("%s: %s" % (" ".join(arguments), done.stderr.decode(errors="replace")))
    return done


def output_of(*arguments):
    return run(*arguments, ok=(0, 1)).stdout.decode(errors="replace")  # 1: readelf, with warnings


def rows_of(recording, name):
    with open("%s.%s.tsv" % (recording, name), encoding="utf-8") as f:
        return [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]


def parse_stack(text):
    leaf, *callers = text.split(";")
    return [(int(leaf, 16), False)] + [
        (int(caller.split("/")[1], 16), not caller.startswith("!")) for caller in callers]


def true_samples(recording):
    samples = []
    for row in rows_of(recording, "samples"):
        stack = parse_stack(row[11])
        samples.append(Sample(row[3], row[5], int(row[1]), stack, stack[:int(row[13]) + 1], row[14] == "1"))
    return samples


def true_jumps(recording):
    """Where each task jumps to, out of calls or into another stack, in the order of time."""
    jumps = collections.defaultdict(list)
    for time, task, stack in rows_of(recording, "jumps"):
        (leaf, _), *callers = parse_stack(stack)
        jumps[task].append((int(time), [(leaf, True)] + callers))
    return jumps


class Tables:
    """Which code the tables of the files have that were mapped."""

    def __init__(self, recording):
        self.maps = [(row[0], int(row[2]), *(int(column, 16) for column in row[3:6]), row[6])
                     for row in rows_of(recording, "maps")]
        self.files = {}

    def read(self, path):
        """Segments, as (offset, end, address), and functions, as (start, end)."""
        if path not in self.files:
            segments = [[int(word, 16) for word in line.split()[1:5]]
                        for line in output_of("readelf", "-lW", path).splitlines() if line.split()[:1] == ["LOAD"]]
            functions = re.findall(r" pc=([0-9a-f]+)\.\.([0-9a-f]+)$", output_of("readelf", "-wf", path), re.MULTILINE)
            self.files[path] = ([(offset, offset + size, address) for offset, address, _, size in segments],
                                [(int(start, 16), int(end, 16)) for start, end in functions])
        return self.files[path]

    def have(self, sample, address):
        """Also true of what is no file."""
        found = [(path, address - start + pgoff) for image, time, start, end, pgoff, path in self.maps
                 if image == sample.image and time <= sample.time and start <= address < end]
        if not found or not os.path.exists(found[-1][0]):
            return True
        path, at = found[-1]
        segments, functions = self.read(path)
        return any(offset <= at < end and any(first <= at - offset + base < last for first, last in functions)
                   for offset, end, base in segments)

    def cover(self, sample, shown):
        """Whether they have the code at which the stack ends."""
        return self.have(sample, shown[-1] - (len(shown) > 1))


def shown_by_branchctl(branchctl, recording):
    text = run(branchctl, "dump", "--samples", recording).stdout.decode()
    return [[int(line.split()[0], 16) for line in block.split("\n")[1:]]
            for block in text.rstrip("\n").split("\n\n")]


def shown_by_perf(perf, recording):
    return [[int(line.split()[0], 16) for line in block.split("\n")[1:]] for block in run(
        perf, "script", "-i", recording, "--no-inline", "-F", "time,ip").stdout.decode().rstrip("\n").split("\n\n")]


def as_perf_prints(recording, samples, jumps):
    """Addresses as perf prints them: where they are in the file mapped there."""
    maps = [[int(column, 0) for column in row[3:6]] for row in rows_of(recording, "maps")]

    def offset(frame):
        address, is_return = frame
        for start, end, pgoff in maps:
            if start <= address < end:
                return address - start + pgoff, is_return
        return frame
    return ([s._replace(stack=[offset(frame) for frame in s.stack], held=[offset(frame) for frame in s.held])
             for s in samples],
            {task: [(time, [offset(frame) for frame in stack]) for time, stack in of]
             for task, of in jumps.items()})


def equal(shown, true):
    """A return address may be shown as it is or as the byte before."""
    address, is_return = true
    return shown == address or is_return and shown == address - 1


def compare(shown, stack):
    if len(shown) > len(stack) or not all(equal(*pair) for pair in zip(shown, stack)):
        return "wrong"
    return "right" if len(shown) == len(stack) else "short"


def is_moving(shown, sample, jumps):
    """Whether it shows the place as a caller that control goes to next, by a jump out of the calls."""
    i = bisect.bisect_left(jumps, (sample.time,))
    if i == len(jumps) or jumps[i][0] > sample.time + JUMP_MAX:
        return False
    # out of an alternate signal stack: the bytes do not reach to where it goes
    enough = ("right", "short") if len(sample.held) < len(sample.stack) else ("right",)
    return any(compare(shown, sample.stack[:n] + jumps[i][1]) in enough and len(shown) > n
               for n in range(1, PREFIX_MAX + 1))


def verdict_of(shown, sample, jumps):
    if compare(shown, sample.held) == "right":
        return "right" if sample.held == sample.stack else "held"
    if is_moving(shown, sample, jumps):
        return "moving"
    return "jumping" if sample.jumping else compare(shown, sample.held)


def report(title, samples, jumps, shown, tables=None, least=100):
    """Prints the figures and some of what is not right; whether @least percent are right, and none is wrong."""
    verdicts = [verdict_of(stack, sample, jumps.get(sample.task, []))
                for sample, stack in zip(samples, shown, strict=True)]
    for i, verdict in enumerate(verdicts):
        if verdict == "short" and tables and not tables.cover(samples[i], shown[i]):
            verdicts[i] = "uncovered"
    counts = collections.Counter(verdicts)
    n = len(verdicts) - counts["jumping"] - counts["uncovered"]
    print("%s: %d stacks, %.2f %% complete and right, %.2f %% short, %.2f %% wrong; %d of them as far as the bytes go, "
          "%d before a jump, beside %d in jumps that no table describes and %d not covered"
          % (title, n, 100 * (counts["right"] + counts["held"] + counts["moving"]) / n, 100 * counts["short"] / n,
             100 * counts["wrong"] / n, counts["held"], counts["moving"], counts["jumping"], counts["uncovered"]),
          flush=True)
    bad = [i for i, verdict in enumerate(verdicts) if verdict in ("short", "wrong")]
    for i in bad[:EXAMPLES]:
        print("  sample %d is %s: shown %s, true %s" % (
            i, verdicts[i], " ".join("%x" % a for a in shown[i]), " ".join("%x" % a for a, _ in samples[i].held)))
    return (len(bad) * 100 <= n * (100 - least) and counts["wrong"] == 0
            and counts["jumping"] * 100 <= n * JUMPING_MAX
            and counts["uncovered"] * 100 <= n * UNCOVERED_MAX)


def check_part(simulator, branchctl, program, part, perf):
    name, period, *arguments = part
    title = " ".join([os.path.basename(program)] + [name or "all"])
    with tempfile.TemporaryDirectory() as temporary:
        recording = os.path.join(temporary, "simulated.data")
        done = run(simulator, "-o", recording, "--stack", STACK_BYTES, "--period", str(period), "--max-samples", SAMPLES_MAX,
                   *(["--named", name] if name else []), "--", program, *arguments, ok=(0, SKIPPED))
        if done.returncode == SKIPPED:
            print("skipped: tracing is not allowed", file=sys.stderr)
            sys.exit(SKIPPED)
        samples, jumps = true_samples(recording), true_jumps(recording)
        if perf:
            report(title + ", perf", *as_perf_prints(recording, samples, jumps), shown_by_perf(perf, recording))
        least = LEAST.get(os.path.basename(program).split("-")[1], 100)
        return report(title, samples, jumps, shown_by_branchctl(branchctl, recording), Tables(recording), least)


def main():
    simulator, branchctl, folder, name, *perf = sys.argv[1:]
    program = os.path.join(folder, "simulated-" + name)
    good = [check_part(simulator, branchctl, program, part, *perf or [None]) for part in PROGRAMS[name]]
    sys.exit(not all(good))


main()
