# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many stacks of real programs are complete: true-stacks.py BRANCHD BRANCHCTL SOURCE.

Runs programs as Debian ships them, most without frame pointers, a Go program, and processes that live 50 ms. Each
tool in its turn samples them: branchd by unwind tables; perf record --call-graph dwarf,8192; bpftrace's ustack. A
stack is complete when its outermost frame is where its thread starts: at the entry point of the program, in clone()
of the C library, or where Go starts its own threads. branchd's own counters stand beside. CPU time is all that
a tool used, perf's also without what perf script takes. What is not installed is left out. Needs root.

    SECONDS_EACH=30 FREQUENCY=499 true-stacks.py build/daemon/branchd build/client/branchctl daemon/config.c
    TOOLS=branchd USER_STACKS=frame-pointers true-stacks.py ...

branchd runs WARM seconds before, 30 unless told, as it always does where it is a service; with WARM=0 it has to build
its tables meanwhile.
"""
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

BRANCHD, BRANCHCTL, SOURCE = (os.path.abspath(path) for path in sys.argv[1:4])
TOP = os.path.dirname(os.path.dirname(SOURCE))
SECONDS = int(os.environ.get("SECONDS_EACH", "30"))
WARM = int(os.environ.get("WARM", "30"))
WINDOW = 10
FREQUENCY = int(os.environ.get("FREQUENCY", "499"))
USER_STACKS = os.environ.get("USER_STACKS", "auto")
TOOLS = os.environ.get("TOOLS", "branchd perf bpftrace").split()
PROGRAMS = os.environ.get("PROGRAMS", "perl sqlite3 xz cc1 python3 node spin brief").split()

FIB = "f = lambda n: n if n < 2 else f(n - 1) + f(n - 2)"
PERL = "sub f { my $n = shift; return $n < 2 ? $n : f($n - 1) + f($n - 2) }"
NODE = "function f(n) { return n < 2 ? n : f(n - 1) + f(n - 2) }"
QUERY = ("with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000000) "
         "select count(*), sum(x % 7) from (select x from c order by x * 7919 % 10007)")
GO = """package main

import "sort"

type tree struct{ left, right *tree }

func grow(n int) *tree {
	if n == 0 {
		return nil
	}
	return &tree{grow(n - 1), grow(n - 1)}
}

func (t *tree) count() int {
	if t == nil {
		return 0
	}
	return 1 + t.left.count() + t.right.count()
}

func main() {
	done := make(chan int)
	for i := 0; i < 2; i++ {
		go func() {
			for {
				sizes := make([]int, 1000)
				for j := range sizes {
					sizes[j] = grow(j%6).count()*7919%1009
				}
				sort.Ints(sizes)
			}
		}()
	}
	<-done
}
"""

# Each runs for ever, under its own name.
LOADS = {
    "perl": ["perl", "-e", f"{PERL} while (1) {{ f(18); my %h = map {{ $_ => 1 }} 1 .. 5000; sort keys %h }}"],
    "sqlite3": ["sh", "-c", f"while :; do sqlite3 :memory: '{QUERY}'; done"],
    "xz": ["sh", "-c", f"while :; do xz -2 -c {BRANCHD}; done"],
    "cc1": ["sh", "-c", f"while :; do gcc -O2 -c {SOURCE} -I{TOP} -o /dev/null; done"],
    "python3": ["/usr/bin/python3", "-c", f"import json\n{FIB}\nwhile 1: f(15); json.dumps(json.loads('[1,2]' * 1))"],
    "node": ["node", "-e", f"{NODE} while (1) {{ f(20); JSON.stringify(Array.from({{length: 5000}}, (_, i) => [i])) }}"],
    "spin": ["{place}/spin"],
    # Perl takes some 5 ms to start.
    "brief": ["sh", "-c", "while :; do {place}/brief -e 'use Time::HiRes \"time\"; my $e = time + 0.045; "
              + PERL.replace("$", "\\$") + " f(9) while time < $e'; done"],
}


def build_programs(place):
    shutil.copy(shutil.which("perl"), place + "/brief")
    with open(place + "/spin.go", "w", encoding="ascii") as f:
        f.write(GO)
    if shutil.which("go"):
        subprocess.run(["go", "build", "-o", place + "/spin", place + "/spin.go"], check=True,
                       env=dict(os.environ, GOCACHE=place + "/cache", GO111MODULE="off"))


def start_loads(place):
    loads = []
    for name in PROGRAMS:
        argv = [arg.replace("{place}", place) for arg in LOADS[name]]
        if name == "brief":  # in single quotes of the shell nothing is to be quoted
            argv[-1] = argv[-1].replace("\\$", "$")
        if shutil.which(argv[0]):
            loads.append(subprocess.Popen(argv, start_new_session=True, stdout=subprocess.DEVNULL,
                                          stderr=subprocess.DEVNULL))
        else:
            print(f"{name} is not installed")
    return loads


def stop_loads(loads):
    for process in loads:
        with contextlib.suppress(ProcessLookupError):  # it has ended by itself
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def read_starts(path):
    """Where threads start in an ELF file: ranges of (file offset, bytes), and its load segments."""
    def run(*command):
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    header = run("readelf", "-hlW", path)
    loads = [tuple(int(word, 16) for word in match.groups()) for match in
             re.finditer(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+)", header)]
    entry = int(re.search(r"Entry point address: +(0x\w+)", header).group(1), 16)
    starts = [(entry, 0x60)]
    symbols = run("nm", "-D", path) + run("nm", path) if path.endswith("/spin") else run("nm", "-D", path)
    for match in re.finditer(r"^(\w+) \w ([^@\n]+)", symbols, re.MULTILINE):
        if match.group(2) == "clone" and "libc.so" in path:  # clone3 follows it
            starts.append((int(match.group(1), 16), 0x300))
        if match.group(2) in ("runtime.goexit.abi0", "runtime.goexit", "runtime.rt0_go.abi0", "runtime.rt0_go",
                              "runtime.mstart.abi0", "runtime.mstart"):
            starts.append((int(match.group(1), 16), 0x10 if "goexit" in match.group(2) else 0x150))
    return [(address - virtual + offset, n) for address, n in starts
            for offset, virtual, size in loads if virtual <= address < virtual + size]


class Starts:
    """The starts of each file that is asked for."""
    def __init__(self):
        self.files = {}

    def of(self, path):
        if path not in self.files:
            try:
                self.files[path] = read_starts(path)
            except (subprocess.CalledProcessError, AttributeError):
                self.files[path] = []
        return self.files[path]

    def has(self, path, offset):
        return any(start <= offset < start + n for start, n in self.of(path))

    def may_have(self, path, address):
        """Where the mapping's address is not known: files are mapped by pages."""
        return any((address - start) & 0xfff < n for start, n in self.of(path))


def cpu_seconds(pid):
    """Of it and its descendants, those included that have ended and were waited for."""
    total = 0
    try:
        with open(f"/proc/{pid}/stat", encoding="utf8", errors="replace") as f:
            total += sum(int(field) for field in f.read().rpartition(")")[2].split()[11:15])
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                total += sum(cpu_seconds(child) * os.sysconf("SC_CLK_TCK") for child in f.read().split())
    except OSError:
        pass  # it ended meanwhile
    return total / os.sysconf("SC_CLK_TCK")


def run_for(command, seconds, stop, place, **environment):
    with open(place + "/log", "w", encoding="ascii") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ, **environment))
    time.sleep(seconds)
    used = cpu_seconds(process.pid)
    process.send_signal(stop)
    process.wait()
    return used


def with_branchd(place, starts):
    config, socket = place + "/branchd.conf", place + "/socket"
    with open(config, "w", encoding="ascii") as f:
        f.write(f"[Sampling]\nMode=software\nFrequency={FREQUENCY}\nCpuBudget=infinity\n"
                f"UserStacks={USER_STACKS}\n[Store]\nWindowSec={WINDOW}\n")
    with open(place + "/log", "w", encoding="ascii") as log:
        process = subprocess.Popen([BRANCHD, "--config", config, "--state-directory", place + "/state", "--socket",
                                    socket], stdout=log, stderr=log)
    time.sleep(WARM)
    before = cpu_seconds(process.pid)
    time.sleep(SECONDS)
    used = cpu_seconds(process.pid) - before

    def ask(*words):
        return subprocess.run([BRANCHCTL, "--socket", socket, *words], capture_output=True, text=True,
                              check=True).stdout
    try:
        for _ in range(60):  # on a busy machine it takes a while until windows are named
            profile = json.loads(ask("dump", f"@-{SECONDS // WINDOW}..@-1", "--format", "json"))
            if profile["counters"]["samples"] > FREQUENCY * SECONDS / 2:
                break
            time.sleep(1)
        print(re.search(r"(?ms)^ *stacks.*?(?=^\S|\Z)", ask("status")).group(0))
    finally:
        process.terminate()
        process.wait()
    columns = profile["stacks"]["columns"]
    rows = [dict(zip(columns, row)) for row in profile["stacks"]["rows"]]
    roots, counts = [], collections.defaultdict(collections.Counter)
    for row in rows:
        roots.append(roots[row["parent"]] if row["parent"] is not None else row)
    for row, root in zip(rows, roots):
        if not row["samples"]:
            continue
        of = profile["objects"][root["object"]] if root["object"] is not None else {"kind": "none", "path": ""}
        if of["kind"] in ("kernel", "module"):
            continue
        good = of["kind"] == "file" and starts.has(of["path"], int(root["offset"], 16))
        place_of = "complete" if good else f"{of['path'] or of['kind']}+{root['offset']}"
        counts[profile["processes"][root["process"]]["comm"]][place_of] += row["samples"]
    return counts, used, {k: v for k, v in profile["counters"].items() if k.startswith("stacks_") and v}


def with_perf(place, starts):
    data = place + "/perf.data"
    used = run_for(["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-a", "--call-graph", "dwarf,8192",
                    "-o", data], SECONDS, signal.SIGINT, place)
    begin = os.times()
    script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,dso", "--no-inline"], capture_output=True,
                            text=True, errors="replace", check=False).stdout
    end = os.times()
    counts = collections.defaultdict(collections.Counter)
    for sample in script.split("\n\n"):
        lines = sample.strip("\n").split("\n")
        if len(lines) < 2:
            continue
        address, _, dso = lines[-1].strip().partition(" ")
        dso = dso.strip().strip("()")
        if dso.startswith("[kernel") or dso.startswith("[unknown") and address.startswith("ffff"):
            continue
        good = starts.may_have(dso, int(address, 16))
        counts[lines[0].strip()][("complete" if good else dso)] += 1
    unwinding = end.children_user + end.children_system - begin.children_user - begin.children_system
    return counts, used, {"perf.data MB": os.path.getsize(data) // 1000000, "CPU s of perf script": round(unwinding, 1)}


def find_program(name, place):
    """The file of a process called so, or an empty string."""
    if name == "cc1":
        return subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=False).stdout.strip()
    return next((path for path in (f"{place}/{name}", f"/usr/bin/{name}") if os.path.exists(path)), "")


def with_bpftrace(place, starts):
    # the mode of ustack that all versions have and that does not leave out addresses without a symbol
    text = f"profile:hz:{FREQUENCY} /pid/ {{ @[comm, ustack(perf, 127)] = count(); }}"
    used = run_for(["bpftrace", "-q", "-o", place + "/stacks", "-e", text], SECONDS, signal.SIGINT, place,
                   BPFTRACE_MAP_KEYS_MAX="200000", BPFTRACE_CACHE_USER_SYMBOLS="1")
    counts = collections.defaultdict(collections.Counter)
    with open(place + "/stacks", encoding="utf8", errors="replace") as f:
        text = f.read()
    for match in re.finditer(r"^@\[([^,]+), ?(.*?)\]: (\d+)$", text, re.DOTALL | re.MULTILINE):
        frames = re.findall(r"^\s+([0-9a-f]+) .*\((.*)\)$", match.group(2), re.MULTILINE)
        name = match.group(1)
        if not frames:
            continue
        address, path = frames[-1]
        # without a symbol, and of a process that has ended, it does not name the file: it may be the program's start
        path = path if path.startswith("/") else find_program(name, place)
        good = path and starts.may_have(os.path.realpath(path), int(address, 16))
        counts[name]["complete" if good else "?"] += int(match.group(3))
    return counts, used, {}


def show(tool, counts, used, more):
    print(f"\n{tool}: {used:.2f} s of CPU, {100 * used / SECONDS:.1f} % of one CPU; {more}")
    total = collections.Counter()
    for name in PROGRAMS:
        found = counts.get(name, collections.Counter())
        if name == "node":
            found = sum((c for comm, c in counts.items() if comm == "node" or comm.startswith("node:")
                         or comm == "libuv-worker"), collections.Counter())
        n = sum(found.values())
        total += found
        ends = ", ".join(f"{count} {place}" for place, count in found.most_common(6) if place != "complete")
        print(f"  {name:10}{n:8}{100 * found['complete'] / n if n else float('nan'):9.2f} %   {ends}")
    n = sum(total.values())
    print(f"  {'all':10}{n:8}{100 * total['complete'] / n if n else float('nan'):9.2f} %", flush=True)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the load is stopped, whatever ends this
    place = tempfile.mkdtemp(prefix="true-stacks-")
    starts, loads = Starts(), []
    try:
        build_programs(place)
        loads = start_loads(place)
        time.sleep(1)
        for tool in TOOLS:
            if tool != "branchd" and not shutil.which(tool):
                print(f"{tool} is not installed")
                continue
            show(tool, *{"branchd": with_branchd, "perf": with_perf, "bpftrace": with_bpftrace}[tool](place, starts))
    finally:
        stop_loads(loads)
        shutil.rmtree(place, ignore_errors=True)


main()
