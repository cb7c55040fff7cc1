# SPDX-License-Identifier: LGPL-2.1-or-later
"""What branchctl says of a simulated recording, against the truth of the branch records and samples in it.

    engine.py SIMULATOR BRANCHCTL DIRECTORY-OF-PROGRAMS PROGRAM

Branches, blocks, functions and call stacks have to be equal, to the last count. Addresses become places
here by the truth's own mappings and the tables that nm and readelf print, without the code under test.
Exit status 77: skipped, with the reason, where tracing is forbidden or a tool is missing.
"""

import bisect
import collections
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

SKIPPED = 77
RUN_MAX = 1 << 20  # bytes; longer runs are skipped
CALLERS_MAX = 125  # that the simulator writes into a call chain

# The arguments of each program, and the options it is simulated with besides none.
PROGRAMS = {
    "chain": (["40"], ["--callchain", "--rows 16", "--event branches --period 17"]),
    "recurse": (["8"], ["--callchain", "--pipe --rows 16", "--rows 64"]),
    "threads": (["20"], ["--callchain --cpus 2", "--wipe --cpus 2", "--threads-quantum 97"]),
    "longjmp": (["40"], ["--callchain --build-id", "--rows 8"]),
    "libc": (["9"], ["--build-id", "--callchain --pipe", "--rows 16 --wipe", "--aslr"]),
    "phases": (["40"], ["--pipe --build-id", "--seed 7 --period 37"]),
    "div": (["2000"], ["--rows 16"]),
    "tailcall": (["400"], ["--callchain", "--rows 16"]),
    "dlopen": (["300", "simulated-plugin.so"], ["--build-id", "--callchain --pipe", "--aslr"]),
    "forkexec": (["2000"], ["--callchain --period 53", "--rows 64 --period 53", "--wipe-exec",
                            "--wipe --cpus 2", "--aslr --build-id --period 53"]),
    "odds": (["300"], ["--rows 16"]),
    "names": (["20"], ["--callchain --wipe", "--rows 16 --build-id"]),
}

Mapping = collections.namedtuple("Mapping", "start end offset path")


class Wrong(Exception):
    pass


def skip(why):
    print("skipped:", why, file=sys.stderr)
    sys.exit(SKIPPED)


def output_of(*arguments, ok=(0,)):
    done = subprocess.run([str(a) for a in arguments], env=dict(os.environ, LC_ALL="C.UTF-8"),
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    if done.returncode not in ok or done.stderr and done.returncode == 0:
        raise Wrong("%s: status %d: %s" % (" ".join(map(str, arguments)), done.returncode,
                                           done.stderr.decode(errors="replace")))
    return done


class Counts(dict):
    """Counts by key, as lists of numbers that are added up."""

    def add(self, key, *numbers):
        old = self.get(key)
        self[key] = [a + b for a, b in zip(old, numbers)] if old else list(numbers)

    def take(self, key, *numbers):
        if key not in self or any(a < b for a, b in zip(self[key], numbers)):
            raise Wrong("the truth lacks %s of %s" % (numbers, key))
        self.add(key, *(-n for n in numbers))
        if not any(self[key]):
            del self[key]

    def sum(self, column):
        return sum(numbers[column] for numbers in self.values())


def compare(what, got, truth):
    """Nothing missing, nothing extra, all numbers the same."""
    keys = [k for k in set(got) | set(truth) if got.get(k) != truth.get(k)]
    for key in sorted(keys, key=str)[:10]:
        print("  %s %s: %s, should be %s" % (what, key, got.get(key), truth.get(key)))
    if keys:
        raise Wrong("%d %s differ" % (len(keys), what))


# The truth.

class Truth:
    def __init__(self, path):
        self.path = path
        self.totals = dict(self.rows("totals"))
        self.samples = list(self.rows("samples"))
        self.maps = collections.defaultdict(list)
        for image, _, _, start, end, offset, file in self.rows("maps"):
            m = Mapping(int(start, 0), int(end, 0), int(offset, 0), file)
            self.maps[int(image)].append(m)

    def rows(self, name):
        with open("%s.%s.tsv" % (self.path, name), encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#"):
                    yield line.rstrip("\n").split("\t")

    def numbers(self, name):
        return ([int(column, 0) for column in row] for row in self.rows(name))

    def place(self, image, address):
        """(path, file offset), or (None, address). What an image maps in one place stays the same."""
        places = {(m.path, address - m.start + m.offset) for m in self.maps[image]
                  if m.start <= address < m.end}
        if len(places) > 1:
            raise Wrong("%#x means several places in image %d" % (address, image))
        return places.pop() if places else (None, address)

    def image_before(self, pid, image):
        """The image that an exec of the process replaced with @image; after vfork, its parent's."""
        parents = {int(row[0]): int(row[2]) for row in self.rows("tasks") if row[0] == row[1]}
        current = {}
        for number, of, _, _, _ in self.rows("images"):
            if int(number) == image:
                return current.get(pid, current.get(parents[pid]))
            current[int(of)] = int(number)
        raise Wrong("image %d is not in the truth" % image)


def sample_branches(data, has_chains):
    """Where the branch records of each sample of a recording are: their number, the hardware index, the records."""
    at, end = struct.unpack_from("<Q", data, 8)[0], len(data)
    if at != 16:  # not what `perf record -o -` writes
        at, end = struct.unpack_from("<QQ", data, 40)
        end += at
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        if kind == 9:  # ip, pid and tid, time, cpu, period
            p = at + 8 + 5 * 8
            if has_chains:
                p += 8 + 8 * struct.unpack_from("<Q", data, p)[0]
            yield p
        at += size


def recorded_rows(path, has_chains):
    """The branch records of each sample of a recording, newest first: (from, to, mispredicted, cycles)."""
    with open(path, "rb") as f:
        data = f.read()
    for at in sample_branches(data, has_chains):
        n, _ = struct.unpack_from("<QQ", data, at)
        rows = [struct.unpack_from("<QQQ", data, at + 16 + 24 * i) for i in range(n)]
        yield [(a, b, flags & 1, flags >> 4 & 0xffff) for a, b, flags in rows]


def stale_rows(truth, has_chains):
    """
    The branch records of the program before an exec that were sampled after it: the truth knows their
    image; a reader takes them for records of the new one. Yields the image then, the image now, the
    record, and the target of the record before it (None: unknown).
    """
    if not any(sample[9] != "0" for sample in truth.samples):
        return
    for sample, rows in zip(truth.samples, recorded_rows(truth.path, has_chains), strict=True):
        n, n_stale, image = len(rows), int(sample[9]), int(sample[5])
        if n != int(sample[8]):
            raise Wrong("sample %s has %d branch records" % (sample[0], n))
        for i in range(n - n_stale, n):
            yield (truth.image_before(int(sample[2]), image), image, rows[i],
                   rows[i + 1][1] if i + 1 < n else None)


def true_rows(truth, has_chains):
    """Branches and runs by raw address, each under the image that the sample was of."""
    pairs, runs = Counts(), Counts()
    for image, source, target, *numbers in truth.numbers("pairs"):
        pairs.add((image, source, target), *numbers)
    for image, begin, end, *numbers in truth.numbers("runs"):
        runs.add((image, begin, end), *numbers[:2])
    n_stale = 0
    for then, now, (source, target, mispredicted, cycles), begin in stale_rows(truth, has_chains):
        n_stale += 1
        pairs.take((then, source, target), 1, mispredicted, cycles)
        pairs.add((now, source, target), 1, mispredicted, cycles)
        if begin is not None:
            runs.take((then, begin, source), 1, cycles)
            runs.add((now, begin, source), 1, cycles)
    return pairs, runs, n_stale


def true_branches(truth, pairs):
    branches = Counts()
    for (image, source, target), (n, mispredicted, cycles) in pairs.items():
        key = truth.place(image, source), truth.place(image, target)
        branches.add(key, n, mispredicted, 0, cycles, n, n - mispredicted)
    return branches


def true_blocks(truth, runs):
    """The blocks, and the number of skipped runs by reason."""
    blocks, skipped = Counts(), collections.Counter()
    for (image, begin, end), (n, cycles) in runs.items():
        path, start = truth.place(image, begin)
        path_end, stop = truth.place(image, end)
        if end < begin:
            skipped["runs_backward"] += n
        elif end - begin > RUN_MAX:
            skipped["runs_long"] += n
        elif path is None or path != path_end or stop - start != end - begin:
            skipped["runs_across"] += n
        else:
            blocks.add((path, start, stop), n, cycles, n)
    return blocks, skipped


def true_stack(sample):
    """ip and return addresses, leaf first; of each, whether a signal interrupted it."""
    ip, *callers = sample[11].split(";")
    frames = [(int(ip, 0), False)]
    for caller in callers[:CALLERS_MAX]:
        frames.append((int(caller.split("/")[1], 0), caller.startswith("!")))
    return frames


# The profile.

class Profile:
    def __init__(self, text):
        self.json = json.loads(text)
        self.counters = self.json["counters"]
        self.paths = [o["path"] for o in self.json["objects"]]

    def table(self, name):
        columns = self.json[name]["columns"]
        return (dict(zip(columns, map(self.number, row))) for row in self.json[name]["rows"])

    @staticmethod
    def number(value):
        return int(value, 0) if isinstance(value, str) else value

    def place(self, of, offset):
        return (None if of is None else self.paths[of], offset)

    def branches(self):
        branches = Counts()
        for b in self.table("branches"):
            branches.add((self.place(b["from_object"], b["from"]), self.place(b["to_object"], b["to"])),
                         b["taken"], b["mispredicted"], b["aborted"], b["cycles"], b["cycles_rows"],
                         b["predicted"])
        return branches

    def blocks(self):
        blocks = Counts()
        for b in self.table("blocks"):
            blocks.add((self.paths[b["object"]], b["start"], b["end"]),
                       b["runs"], b["cycles"], b["cycles_rows"])
        return blocks

    def stacks(self):
        """Samples and weight by places, leaf first; callers are the last byte of their call."""
        paths, stacks = [], Counts()
        for s in self.table("stacks"):
            outer = () if s["parent"] is None else paths[s["parent"]]
            paths.append((self.place(s["object"], s["offset"]),) + outer)
            if s["samples"]:
                stacks.add(paths[-1], s["samples"], s["weight"])
        return stacks


# Symbols.

class Symbols:
    """
    Functions of a file by what nm prints. Names of one address are one function, and so are
    functions of one name; they go by the first of the names.
    """

    def __init__(self, path):
        self.segments = []
        for line in output_of("readelf", "-lW", path).stdout.decode().splitlines():
            words = line.split()
            if words[:1] == ["LOAD"]:
                self.segments.append([int(word, 16) for word in (words[1], words[2], words[4])])
        self.functions = []
        self.same = {}
        at = {}
        for line in output_of("nm", "-S", "-C", "--defined-only", path).stdout.decode().splitlines():
            words = line.split(None, 3)
            if len(words) == 4 and len(words[2]) == 1 and words[2] in "tTwWi":
                start, size, name = int(words[0], 16), int(words[1], 16), words[3]
                self.functions.append((start, start + size, name))
                self.join(at.setdefault(start, name), name)
        self.functions.sort()
        self.starts = [start for start, _, _ in self.functions]

    def group(self, name):
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name if name in self.same else None

    def join(self, a, b):
        self.same.setdefault(a, a)
        self.same.setdefault(b, b)
        low, high = sorted((self.group(a), self.group(b)))
        self.same[high] = low

    def address(self, offset):
        for start, virtual, size in self.segments:
            if start <= offset < start + size:
                return offset - start + virtual
        return None

    def find(self, offset):
        """The function that holds the file offset, of several the last; None: none of known size."""
        address = self.address(offset)
        if address is None:
            return None
        i = bisect.bisect_right(self.starts, address)
        for start, end, name in reversed(self.functions[:i]):
            if address < end:
                return self.group(name)
        return None


class Symbolizer:
    """Names functions of our own programs; all else by its file alone."""

    def __init__(self, folder):
        self.folder = os.path.realpath(folder)
        self.symbols = {}

    def of(self, path):
        if path is None or os.path.dirname(path) != self.folder:
            return None
        if path not in self.symbols:
            self.symbols[path] = Symbols(path)
        return self.symbols[path]

    def function(self, place):
        symbols = self.of(place[0])
        return place[0], symbols.find(place[1]) if symbols else None

    def named(self, path, name):
        """As branchctl has named it."""
        symbols = self.of(path)
        return path, symbols.group(name) if symbols and name else None


# The comparisons.

def check_counters(profile, truth, branches, blocks, skipped):
    counters = profile.counters
    expected = {
        "samples": len(truth.samples),
        "weight": sum(int(sample[6]) for sample in truth.samples),
        "rows": int(truth.totals["rows"]),
        "rows_counted": branches.sum(0),
        "cycles": branches.sum(3),
        "runs": sum(max(int(sample[8]) - 1, 0) for sample in truth.samples),
        "runs_counted": blocks.sum(0),
        "snapshots_empty": sum(sample[8] == "0" for sample in truth.samples),
        **skipped,
    }
    rest = {name: 0 for name in counters if name.startswith(("samples_", "rows_", "runs_"))}
    got = {name: counters[name] for name in {**rest, **expected}}
    compare("counters", got, {**rest, **expected})
    for name in ("rows", "runs"):
        parts = sum(n for key, n in counters.items() if key.startswith(name + "_"))
        if parts != counters[name]:
            raise Wrong("%d %s, but %d counted or skipped" % (counters[name], name, parts))


def check_leaves(profile, truth, samples):
    got, leaves = Counts(), Counts()
    for stack, numbers in profile.stacks().items():
        got.add(stack[0], *numbers)
    for image, ip, *numbers in truth.numbers("ips"):
        leaves.add(truth.place(image, ip), *numbers)
    compare("leaves", got, leaves)
    unmapped = sum(numbers[0] for place, numbers in leaves.items() if place[0] is None)
    if profile.counters["unmapped"] != unmapped or leaves.sum(0) != samples:
        raise Wrong("%d unmapped, should be %d" % (profile.counters["unmapped"], unmapped))


def frame_places(truth, sample):
    """Where the frames are: the leaf, and of callers the last byte of the call."""
    image = int(sample[5])
    frames = true_stack(sample)
    return [truth.place(image, address - (i > 0)) for i, (address, _) in enumerate(frames)]


def true_functions(truth, symbolizer, has_chains):
    """Samples in each; where stacks are known, those in what it called besides."""
    functions = Counts()
    for image, ip, n, _ in truth.numbers("ips"):
        functions.add(symbolizer.function(truth.place(image, ip)), n, 0)
    for sample in truth.samples if has_chains else []:
        for function in {symbolizer.function(place) for place in frame_places(truth, sample)}:
            functions.add(function, 0, 1)
    return functions


def check_functions(rows, truth, symbolizer, has_chains):
    """
    Own functions by name, all else by file. Totals count a sample once for each function in its stack:
    those of a whole file are no sum of its functions' and not compared.
    """
    got, n = Counts(), len(truth.samples)
    for row in rows:
        if abs(row["self_percent"] - 100 * row["self"] / n) > 1e-6:
            raise Wrong("%s: %s %% of %d" % (row["symbol"], row["self_percent"], n))
        got.add(symbolizer.named(row["object"], row["symbol"]), row["self"],
                row["total"] if has_chains else 0)
    expected = true_functions(truth, symbolizer, has_chains)
    for counts in (got, expected):
        for (_, name), numbers in counts.items():
            if name is None:
                numbers.pop()
    compare("functions", got, expected)
    own = [numbers[0] for (_, name), numbers in got.items() if name]
    return len(own), sum(own)


def printed_samples(text):
    """Of dump --samples: pid, tid, time and frames (address, symbol, object)."""
    for block in text.rstrip("\n").split("\n\n"):
        head, *lines = block.split("\n")
        ids, time = head.rsplit(": ", 1)[0].rsplit(None, 2)[1:]
        frames = []
        for line in lines:
            address, rest = line.split(None, 1)
            symbol, path = rest.rsplit(" (", 1)
            frames.append((int(address, 16), symbol.rsplit("+0x", 1)[0], path.removesuffix(")")))
        yield [int(i) for i in ids.split("/")], time.replace(".", ""), frames


def check_printed(text, truth, symbolizer):
    n_frames = 0
    samples = list(printed_samples(text))
    if len(samples) != len(truth.samples):
        raise Wrong("%d samples printed of %d" % (len(samples), len(truth.samples)))
    for (ids, time, frames), sample in zip(samples, truth.samples):
        true, places = true_stack(sample), frame_places(truth, sample)
        if ids != [int(sample[2]), int(sample[3])] or int(time) != int(sample[1]):
            raise Wrong("sample %s is printed as of %s at %s" % (sample[0], ids, time))
        if [f[0] for f in frames] != [address for address, _ in true]:
            raise Wrong("sample %s: %s, should be %s" % (sample[0], frames, true))
        for (address, symbol, path), (_, is_signal), place in zip(frames, true, places):
            if path != (place[0] or "[unknown]"):
                raise Wrong("sample %s: %#x lies in %s" % (sample[0], address, place[0]))
            if not is_signal and symbolizer.named(place[0], symbol) != symbolizer.function(place):
                raise Wrong("sample %s: %#x is no %s" % (sample[0], address, symbol))
        n_frames += len(frames)
    return n_frames


def check_stacks(profile, truth):
    stacks = Counts()
    for sample in truth.samples:
        stacks.add(tuple(frame_places(truth, sample)), 1, int(sample[6]))
    compare("stacks", profile.stacks(), stacks)
    return len(stacks)


def check_recording(branchctl, recording, symbolizer, has_chains):
    """Everything of one recording; a line that says how much it was."""
    truth = Truth(recording)
    profile = Profile(output_of(branchctl, "dump", recording, "--format", "json").stdout)
    pairs, runs, n_stale = true_rows(truth, has_chains)
    branches = true_branches(truth, pairs)
    blocks, skipped = true_blocks(truth, runs)
    if not branches or not blocks:
        raise Wrong("nothing to compare")
    compare("branches", profile.branches(), branches)
    compare("blocks", profile.blocks(), blocks)
    check_counters(profile, truth, branches, blocks, skipped)
    check_leaves(profile, truth, len(truth.samples))

    top = output_of(branchctl, "top", recording, "--by", "function", "--json", "-n", "0").stdout
    functions, in_functions = check_functions(json.loads(top)["rows"], truth, symbolizer, has_chains)
    n_broken = sum(row[5] for row in truth.numbers("runs"))
    said = ["%d samples (%d in %d own functions)" % (len(truth.samples), in_functions, functions),
            "%d branches of %d records" % (len(branches), branches.sum(0)),
            "%d blocks of %d runs" % (len(blocks), blocks.sum(0)),
            *("%d %s" % (n, why) for why, n in sorted(skipped.items()) if n)]
    if n_stale or n_broken:
        said.append("%d stale records, %d broken runs" % (n_stale, n_broken))
    if has_chains:
        text = output_of(branchctl, "dump", recording, "--samples").stdout.decode()
        said.append("%d stacks of %d frames" % (check_stacks(profile, truth),
                                                check_printed(text, truth, symbolizer)))
    return ", ".join(said)


def simulate(simulator, recording, options, program):
    done = output_of(simulator, "-o", recording, *options, "--", *program, ok=(0, SKIPPED))
    if done.returncode == SKIPPED:
        skip("tracing is not allowed: " + done.stderr.decode(errors="replace"))


def main():
    simulator, branchctl, folder, name = sys.argv[1:]
    for tool in ("nm", "readelf"):
        if not shutil.which(tool):
            skip(tool + " is not installed")
    arguments, variants = PROGRAMS[name]
    program = [os.path.join(folder, "simulated-" + name)]
    program += [os.path.join(folder, a) if a.endswith(".so") else a for a in arguments]
    symbolizer = Symbolizer(folder)
    n_failed = 0
    for variant in ["", *variants]:
        options = ["--period", "101", *variant.split()]
        with tempfile.TemporaryDirectory() as temporary:
            recording = os.path.join(temporary, "simulated.data")
            try:
                simulate(simulator, recording, options, program)
                said = check_recording(branchctl, recording, symbolizer, "--callchain" in options)
            except Wrong as wrong:
                n_failed += 1
                said = "FAILED: %s" % wrong
        print("%s %s: %s" % (name, variant or "(32 records)", said))
    sys.exit(n_failed > 0)


if __name__ == "__main__":
    main()
