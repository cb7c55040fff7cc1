# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of compiled code from /tmp/perf-PID.map: jit.py BRANCHD BRANCHCTL PROGRAM. Needs root and BPF, and is
skipped without.

Programs of a user run code in anonymous memory. Those with a proper map get its names; those with a map that is
another user's, no regular file, or endless get none, and hold up nobody. node, where there is one, names the
functions of a script.
"""
import os
import shutil
import subprocess
import sys
import time

from service import PATIENCE, Failures, ask, parameters_of, running, samples

USER, OTHER = 64201, 64202  # users that are nobody
SECONDS = 0.5  # of CPU, of each program
GIB = 1 << 30
MANY_LINES = 5000000
BRANCHD, BRANCHCTL, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:4])

SCRIPT = """
function collatz(n) { let steps = 0; while (n != 1) { n = n % 2 ? 3 * n + 1 : n / 2; steps++; } return steps; }
function searchLongest(to) {
  let best = 0;
  for (let i = 1; i < to; i++) best = Math.max(best, collatz(i));
  return best;
}
const until = Date.now() + 1000 * Number(process.argv[2]);
while (Date.now() < until) searchLongest(20000);
"""


def write(path, text, owner=USER, mode=0o644):
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    os.chmod(path, mode)
    os.chown(path, owner, owner)


def proper(path, start, size):
    write(path, f"{start:x} {size:x} earlier\nno line\n{start:x} {size:x} JS:*named by map\n")


def roots(path, start, size):
    write(path, f"{start:x} {size:x} named by root\n", owner=0)


def roots_secret(path, start, size):
    write(path, f"{start:x} {size:x} WRONG secret\n", owner=0, mode=0o600)


def of_another(path, start, size):
    write(path, f"{start:x} {size:x} WRONG owner\n", owner=OTHER)


def link_to_zero(path, start, size):
    os.symlink("/dev/zero", path)


def link_to_file(path, start, size):
    write(path + ".real", f"{start:x} {size:x} WRONG link\n")
    os.symlink(path + ".real", path)


def fifo(path, start, size):
    os.mkfifo(path, 0o644)
    os.chown(path, USER, USER)


def sparse(path, start, size):
    write(path, f"{start:x} {size:x} WRONG begin\n")
    os.truncate(path, 10 * GIB)


def many_lines(path, start, size):
    with open(path, "w", encoding="ascii") as file:
        for i in range(MANY_LINES):
            file.write(f"{0x1000 + 16 * i:x} 10 f{i}\n")
        file.write(f"{start:x} {size:x} named last\n")
    os.chown(path, USER, USER)


def binary(path, start, size):
    shutil.copy(PROGRAM, path)
    os.chown(path, USER, USER)


# how the map is made, and the name that its code gets
MAPS = {proper: "JS:*named by map", roots: "named by root", roots_secret: None, of_another: None, link_to_zero: None,
        link_to_file: None, fifo: None, sparse: None, many_lines: "named last", binary: None}


class Compiled:
    """A program that runs code of its own, and its map."""

    def __init__(self, make_map):
        self.process = subprocess.Popen([PROGRAM, str(SECONDS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, user=USER, group=USER, extra_groups=[], cwd="/")
        pid, start, size = self.process.stdout.readline().split()
        self.object = f"perf-{pid}.map"
        self.path = "/tmp/" + self.object
        self.expected = MAPS[make_map]
        self.name = make_map.__name__
        make_map(self.path, int(start, 16), int(size, 16))

    def go_on(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self):
        self.process.kill()
        self.process.communicate()
        for path in self.path, self.path + ".real":
            if os.path.lexists(path):
                os.remove(path)


def top(path, comm):
    """What branchctl shows of the programs with that name."""
    done = subprocess.run([BRANCHCTL, "--socket", path, "top", "--comm", comm, "-n", "0", "--no-pager"],
                          stdout=subprocess.PIPE, check=False, timeout=PATIENCE)
    return done.stdout.decode()


def wait_until_named(path):
    """What ran until now is in windows that are closed and named."""
    now, until = time.time() * 1e6, time.monotonic() + PATIENCE
    while time.monotonic() < until:
        windows = [window for window in parameters_of(ask(path, "ListWindows", {}))["windows"] if not window["open"]]
        if any(window["start_us"] > now for window in windows):
            return
        time.sleep(0.5)


def check_programs(failures, path):
    programs = [Compiled(make_map) for make_map in MAPS]
    try:
        for program in programs:
            program.go_on()
        for program in programs:
            program.process.stdout.readline()
        wait_until_named(path)
        shown = top(path, "jit-code")
        for program in programs:
            rows = [row for row in shown.splitlines() if program.object in row]
            failures.check(rows, f"{program.name}: no samples of {program.object}")
            expected = program.expected or "[unknown]"
            failures.check(any(expected in row for row in rows), f"{program.name}: not {expected}, but {rows}")
        malformed = parameters_of(ask(path, "GetStatus", {}))["naming"]["lines_malformed"]
        failures.check(malformed > 0, "the malformed line of a map is not counted")
        failures.check("WRONG" not in shown and "earlier" not in shown, "a wrong name is shown:\n" + shown)
    finally:
        for program in programs:
            program.end()


def check_node(failures, path, place):
    node = shutil.which("node")
    if not node:
        print("without node: it is not installed")
        return
    script = os.path.join(place, "script.js")
    write(script, SCRIPT)
    process = subprocess.Popen([node, "--perf-basic-prof", script, "6"], stdout=subprocess.DEVNULL,
                               user=USER, group=USER, extra_groups=[], cwd="/")
    process.wait()
    wait_until_named(path)
    shown = top(path, "node")
    failures.check(f"perf-{process.pid}.map" in shown, "no samples of node's compiled code:\n" + shown)
    failures.check("searchLongest " in shown, "no name of node's compiled code:\n" + shown)
    os.remove(f"/tmp/perf-{process.pid}.map")


def main():
    if os.geteuid() != 0:
        print("skipped: sampling the machine needs root")
        return 77
    failures = Failures()
    with running(BRANCHD, "jit", 5) as (daemon, place, path):
        if not samples(path):
            print("skipped: this machine cannot be sampled")
            return 77
        check_programs(failures, path)
        check_node(failures, path, place)
        failures.check(daemon.poll() is None, "branchd has ended")
    return 1 if failures else 0


sys.exit(main())
