# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd for hours on a machine that never rests:

    soak.py SECONDS PACE RESULTS BRANCHD BRANCHCTL PROGRAM...

PACE, a whole number, is how much of what goes on is done at a time: at 3 an hour has the forks, compilers, hostile files,
kills and clients of three.

Every few seconds it writes a line to RESULTS.tsv: memory, descriptors, the longest gap between two pings of the
watchdog, the slowest answer. At the end it draws RESULTS.svg, and fails unless all of them were flat in the second half.
"""
import collections
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

for folder in "hostile", "support":
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder))

import churn  # noqa: E402
import curves  # noqa: E402
from trial import Memory, Trial, VICTIM, field, read  # noqa: E402

SKIPPED = 77
WATCHDOG = 20  # seconds; the daemon pings about twice as often
MAX_GAP = WATCHDOG
MAX_ANSWER = 5
MAX_GROWTH = 0.1  # of the second half, or:
MAX_GROWTH_BYTES, MAX_GROWTH_FILES = 16 << 20, 40  # with files of programs that run, which come and go
BINS = 12
COLUMNS = ("seconds", "pss_branchd", "pss_helpers", "rss", "descriptors", "processes", "watchdog_gap", "slowest_answer",
           "taken", "lost", "restarts")


class Watchdog(threading.Thread):
    """systemd's side: when the daemon has pinged."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        self.last, self.gap = time.monotonic(), 0

    def run(self):
        while True:
            if b"WATCHDOG=1" in self.socket.recv(4096):
                self.gap, self.last = max(self.gap, time.monotonic() - self.last), time.monotonic()

    def take(self):
        gap, self.gap = max(self.gap, time.monotonic() - self.last), 0
        return gap


class Caller(threading.Thread):
    """Asks for the status and the open window, twice a second."""

    def __init__(self, trial):
        super().__init__(daemon=True)
        self.trial, self.slowest, self.began, self.stopped = trial, 0.0, time.monotonic(), threading.Event()

    def run(self):
        while not self.stopped.wait(0.5):
            self.began = time.monotonic()
            for method, parameters in ("GetStatus", {}), ("GetProfile", {"first": 0}):
                try:
                    self.trial.call(method, parameters)
                except OSError:
                    self.stopped.wait(0.5)  # killed, and not up again
            self.slowest = max(self.slowest, time.monotonic() - self.began)

    def take(self):
        slowest, self.slowest = max(self.slowest, 0), 0.0
        return slowest


class Soak(Trial):
    def __init__(self, *arguments, pace):
        super().__init__(*arguments, config="MaxUse=64M\n")
        self.pace, self.restarts = pace, 0
        self.environment["NOTIFY_SOCKET"] = os.path.join(self.place, "notify")
        self.environment["WATCHDOG_USEC"] = str(WATCHDOG * 1000000)
        self.watchdog = Watchdog(self.environment["NOTIFY_SOCKET"])
        self.lines = []

    def processes(self):
        return list(Memory(self.daemon.pid).processes())

    @staticmethod
    def name_of(pid):
        return read(f"/proc/{pid}/comm").strip()

    def sample(self, began, caller):
        line = dict.fromkeys(COLUMNS, 0)
        line["seconds"] = round(time.monotonic() - began, 1)
        for pid in self.processes():
            smaps = read(f"/proc/{pid}/smaps_rollup")
            line["pss_branchd" if pid == self.daemon.pid else "pss_helpers"] += field(smaps, "Pss")
            line["rss"] += field(smaps, "Rss")
            line["processes"] += 1
            try:
                line["descriptors"] += len(os.listdir(f"/proc/{pid}/fd"))
            except OSError:
                pass
        line["watchdog_gap"], line["slowest_answer"] = round(self.watchdog.take(), 2), round(caller.take(), 3)
        try:
            samples = self.call("GetStatus")["samples"]
            line["taken"] = samples["taken"]
            line["lost"] = samples["ring_full"] + samples["no_ring"] + samples["undecodable"]
        except OSError:
            pass
        line["restarts"] = self.restarts
        self.lines.append(line)
        return line

    def restart_if_ended(self):
        """As systemd does."""
        if self.daemon.poll() is None:
            return
        self.restarts += 1
        self.note("branchd ended with", self.daemon.returncode, self.messages()[-300:])
        self.start_daemon()

    def soak(self, results, every):
        self.watchdog.start()
        self.victim("victim", VICTIM)
        began, caller = time.monotonic(), Caller(self)
        threads = [caller, churn.Killer(self, 12 / self.pace)]
        for _ in range(self.pace):
            threads += [churn.Forks(self, 2), churn.Compiler(self, 3), churn.HostileFiles(self, 20),
                        churn.Clients(self, 0.7)]
        for thread in threads:
            thread.start()
        killed = False
        with open(results + ".tsv", "w", encoding="ascii") as file:
            print(*COLUMNS, sep="\t", file=file)
            while time.monotonic() < began + self.seconds:
                time.sleep(every)
                self.restart_if_ended()
                print(*self.sample(began, caller).values(), sep="\t", file=file, flush=True)
                if not killed and time.monotonic() > began + self.seconds / 6:
                    self.daemon.kill()  # once, early enough to be flat again
                    self.daemon.wait()
                    killed = True
                if self.victims["victim"][0].poll() is not None:
                    self.victim("victim", VICTIM)
        for thread in threads:
            thread.stopped.set()
        for thread in threads:
            thread.join(60)
        self.check(self.restarts == 1, "branchd ended", self.restarts, "times, and was killed once")
        turns = collections.Counter()
        for thread in threads[1:]:
            turns[type(thread).__name__] += thread.turns
            self.check(thread.turns > 0, type(thread).__name__, "did nothing")
        self.note("turns: " + ", ".join(f"{name} {n}" for name, n in turns.items()))

    def check_flat(self):
        half = self.lines[len(self.lines) // 2:]
        for column, least in ("pss_branchd", MAX_GROWTH_BYTES), ("pss_helpers", MAX_GROWTH_BYTES), \
                ("descriptors", MAX_GROWTH_FILES):
            values = medians([line[column] for line in half])
            slope = statistics.linear_regression(range(len(values)), values).slope * (len(values) - 1)
            self.note(f"{column}: {statistics.median(values):,.0f}, in the second half {slope:+,.0f}")
            self.check(slope <= max(least, MAX_GROWTH * statistics.median(values)), "grows:", self.notes[-1])
        gap, answer = max(line["watchdog_gap"] for line in half), max(line["slowest_answer"] for line in half)
        self.note(f"watchdog: {gap:.1f} s between two pings at most; slowest answer {answer:.2f} s")
        self.check(gap <= MAX_GAP, "the watchdog would have restarted branchd:", self.notes[-1])
        self.check(answer <= MAX_ANSWER, "slow answers:", self.notes[-1])
        lost, taken = half[-1]["lost"] - half[0]["lost"], half[-1]["taken"] - half[0]["taken"]
        self.note(f"{taken} samples, {lost} lost")
        self.check(lost <= 0.001 * taken, "samples were lost:", self.notes[-1])

    def draw(self, path):
        def curve(column, unit=1):
            return [line[column] / unit for line in self.lines]
        curves.write(path, f"branchd under churn, {self.seconds / 3600:.3g} hours at pace {self.pace}", curve("seconds"), [
            ("Memory (PSS), MiB", [("branchd", curve("pss_branchd", 1 << 20)),
                                   ("helpers", curve("pss_helpers", 1 << 20))]),
            ("Open descriptors", [("all processes", curve("descriptors"))]),
            ("Processes", [("branchd and helpers", curve("processes"))]),
            ("Longest gap between pings of the watchdog, s", [("gap", curve("watchdog_gap"))]),
            ("Slowest answer, s", [("GetStatus and GetProfile", curve("slowest_answer"))]),
            ("Lost samples since the start", [("lost", curve("lost"))])])


def medians(values):
    """Of as many parts of @values: peaks of single moments do not count."""
    n = max(len(values) // BINS, 1)
    return [statistics.median(values[i:i + n]) for i in range(0, len(values), n)]


def main():
    seconds, pace, results, branchd, branchctl, *programs = sys.argv[1:]
    if os.geteuid():
        print("skipped: only root can run programs of several users")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as folder:
        results = folder + "/soak" if results == "-" else results
        soak = Soak(branchd, branchctl, {os.path.basename(p): os.path.abspath(p) for p in programs}, float(seconds),
                    pace=int(pace))
        try:
            if not soak.start_daemon():
                print("skipped: branchd does not sample here")
                sys.exit(SKIPPED)
            soak.soak(results, min(5, max(1, float(seconds) / 100)))
            soak.draw(results + ".svg")
            soak.check_flat()
        finally:
            soak.end()
    print(*soak.notes, sep="\n")
    for failure in soak.failures:
        print("FAILED:", failure)
    sys.exit(1 if soak.failures else 0)


main()
