# SPDX-License-Identifier: LGPL-2.1-or-later
"""A branchd under attack, and what it must stand.

A trial starts branchd, its victims (programs of others, whose names are known) and callers, looks at them for a
while in peace, begins the attack, looks again, and checks: memory, answers, losses, names.
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import elf_files

ATTACKER, OTHER, VICTIM = 64101, 64102, 64103  # users that are nobody
MAX_BYTES = 256 << 20
MAX_ANSWER = 1.0
MAX_LOST = 0.001
PATIENCE = 20
LATE = 20  # by then windows must be closed
WINDOW = 2
CALM = 3
FREQUENCY = 499


def as_user(uid):
    """Arguments of Popen."""
    return {"user": uid, "group": uid, "extra_groups": []}


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def field(text, name):
    """A number of bytes in /proc/PID/status or smaps_rollup."""
    for line in text.splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) << 10
    return 0


class Memory(threading.Thread):
    """The memory of branchd and all its helpers, several times a second."""

    def __init__(self, session):
        super().__init__(daemon=True)
        self.session, self.stopped = session, threading.Event()
        self.most, self.most_of_one, self.parts = 0, 0, {}

    def processes(self):
        """All that were started with branchd, by pid."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            stat = read(f"/proc/{pid}/stat").rpartition(") ")[2].split()
            if len(stat) > 3 and int(stat[3]) == self.session:
                yield int(pid)

    def measure(self):
        parts = {}
        for pid in self.processes():
            name = read(f"/proc/{pid}/comm").strip()
            parts[name] = parts.get(name, 0) + field(read(f"/proc/{pid}/smaps_rollup"), "Pss")
            self.most_of_one = max(self.most_of_one, field(read(f"/proc/{pid}/status"), "VmHWM"))
        if sum(parts.values()) > self.most:
            self.most, self.parts = sum(parts.values()), parts

    def run(self):
        while not self.stopped.wait(0.2):
            self.measure()


class Caller(threading.Thread):
    """Calls methods of the daemon, and remembers the slowest answer to each."""

    def __init__(self, trial, what, every):
        super().__init__(daemon=True)
        self.trial, self.what, self.every = trial, what, every
        self.began, self.slowest, self.calm, self.failures = None, 0.0, 0.0, []
        self.stopped = threading.Event()

    def once(self):
        self.began = time.monotonic()
        try:
            if self.what == "top":
                self.trial.top("@-1")
            else:
                self.trial.call(self.what, {"first": 0} if self.what == "GetProfile" else {})
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self.failures.append(f"{self.what}: {error}")
        took = time.monotonic() - self.began
        if self.trial.attacked:
            self.slowest = max(self.slowest, took)
        else:
            self.calm = max(self.calm, took)
        self.began = None

    def run(self):
        while not self.stopped.is_set():
            self.once()
            self.stopped.wait(self.every)

    def slowest_yet(self):
        """Counts a call that has no answer yet."""
        began = self.began
        return max(self.slowest, time.monotonic() - began if began else 0)


CONTROL = """
import time
while True:
    began, cpu = time.monotonic(), time.thread_time()
    while time.thread_time() - cpu < 0.1:
        pass
    print(time.monotonic() - began, flush=True)
    time.sleep(0.2)
"""


class Control(threading.Thread):
    """How long 0.1 s of computing takes: how busy the machine is, whatever branchd does."""

    def __init__(self):
        super().__init__(daemon=True)
        self.slowest = 0.0
        self.child = subprocess.Popen([sys.executable, "-c", CONTROL], stdout=subprocess.PIPE, text=True)

    def run(self):
        for line in self.child.stdout:
            self.slowest = max(self.slowest, float(line) / 0.1)

    def stop(self):
        self.child.kill()
        self.join(PATIENCE)
        self.child.stdout.close()
        self.child.wait()
        return max(self.slowest, 1.0)


class Trial:
    """With a folder of its own; Trial.failures says what did not hold."""

    def __init__(self, branchd, branchctl, programs, seconds=12, config="", state_size=None,
                 damages_store=False, parser=None, min_windows=None):
        self.branchd, self.branchctl, self.programs = branchd, branchctl, programs
        self.seconds, self.attacked, self.late_began, self.failures, self.notes = seconds, False, 0, [], []
        self.victims, self.children, self.clean_ups, self.damages_store = {}, [], [], damages_store
        self.min_windows = min_windows or (2 if damages_store else seconds / WINDOW / 2)
        self.daemon, self.environment = None, dict(os.environ)
        self.place = tempfile.mkdtemp(prefix="branchd-hostile-")
        os.chmod(self.place, 0o755)
        self.clean_ups.append(lambda: shutil.rmtree(self.place, ignore_errors=True))
        self.state, self.socket = self.folder("state"), os.path.join(self.place, "socket")
        if state_size:
            self.mount("tmpfs", self.state, f"size={state_size}")
        if parser:
            self.environment["BRANCHD_LIBEXEC"] = self.folder_of_helpers(parser)
        self.config = os.path.join(self.place, "branchd.conf")
        with open(self.config, "w", encoding="ascii") as file:
            file.write(f"[Sampling]\nMode=software\nFrequency={FREQUENCY}\nCpuBudget=infinity\n"
                       f"[Store]\nWindowSec={WINDOW}s\n{config}")

    # Files

    def folder(self, name, uid=0):
        path = os.path.join(self.place, name)
        os.makedirs(path, exist_ok=True)
        os.chown(path, uid, uid)
        return path

    def mount(self, kind, place, options):
        subprocess.run(["mount", "-t", kind, "-o", options, kind, place], check=True)
        self.clean_ups.append(lambda: subprocess.run(["umount", "-l", place], check=False))

    def program(self, name, folder="programs", uid=0, to=None):
        """A copy of a test program that any user may run, unlike that in the build folder."""
        path = os.path.join(self.folder(folder), to or name)
        if not os.path.exists(path):
            elf_files.copy_program(self.programs[name], path)
            os.chown(path, uid, uid)
        return path

    def folder_of_helpers(self, parser):
        """The helpers of the build, with this program as the parser."""
        folder, build = self.folder("helpers"), os.path.dirname(os.path.abspath(self.branchd))
        for name in ("events", "opener"):
            os.symlink(f"{build}/{name}/branchd-{name}", f"{folder}/branchd-{name}")
        elf_files.copy_program(self.programs[parser], f"{folder}/branchd-parser")
        return folder

    # Processes

    def start(self, arguments, uid=ATTACKER, **options):
        child = subprocess.Popen([str(a) for a in arguments], **as_user(uid),
                                 **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, **options})
        os.setpriority(os.PRIO_PROCESS, child.pid, 0)
        self.children.append(child)
        return child

    def victim(self, name, uid, program="two-phases", functions=("red", "blue"), owner=None):
        """Starts a victim, whose functions are known."""
        path = self.program(program, "victims", uid if owner is None else owner, name)
        child = self.start([path, 100], uid)
        self.victims[name] = (child, functions)
        return child

    def start_daemon(self):
        self.errors = open(os.path.join(self.place, "errors"), "w+b")
        self.daemon = subprocess.Popen(
            [self.branchd, "--config", self.config, "--state-directory", self.state, "--socket", self.socket],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors, start_new_session=True,
            env=self.environment)
        began = time.monotonic()
        while time.monotonic() < began + PATIENCE and self.daemon.poll() is None:
            try:
                return self.call("GetStatus")["sampling"]["running"]
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("branchd does not come up: " + self.messages())

    def helpers(self, name=""):
        """Of branchd, by pid; of that name."""
        return [pid for pid in Memory(self.daemon.pid).processes()
                if pid != self.daemon.pid and read(f"/proc/{pid}/comm").strip().startswith(name)]

    def messages(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")

    # Calls

    def call(self, method, parameters=None):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE)
            s.connect(self.socket)
            s.sendall(json.dumps({"method": "io.branchd." + method, "parameters": parameters or {}}).encode() + b"\0")
            reply = bytearray()
            while not reply.endswith(b"\0"):
                part = s.recv(1 << 20)
                if not part:
                    raise OSError("the connection was closed")
                reply += part
        document = json.loads(reply[:-1])
        if "error" in document and not document["error"].startswith("io.branchd.NoSuchWindow"):
            raise OSError(document["error"])
        return document.get("parameters", {})

    def top(self, *arguments, uid=0):
        done = subprocess.run([self.branchctl, "--socket", self.socket, "top", *map(str, arguments), "--json"],
                              capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL, check=False,
                              **as_user(uid))
        if done.returncode and not re.search(b"no window|nothing matches", done.stderr):
            raise OSError(done.stderr.decode(errors="replace").strip())
        return json.loads(done.stdout or b"{}")

    def rows(self, pid, window, uid=0):
        return self.top(window, "--pid", pid, "-n", "0", uid=uid).get("rows", [])

    def closed_windows(self, since=0):
        windows = self.call("ListWindows")["windows"]
        return [w for w in windows if not w["open"] and w["start_us"] >= since * 1e6]

    # The trial

    def check(self, condition, *what):
        if not condition:
            self.failures.append(" ".join(map(str, what)))
        return condition

    def note(self, *what):
        self.notes.append(" ".join(map(str, what)))

    def run(self, attack):
        """Returns False if branchd does not sample here."""
        os.setpriority(os.PRIO_PROCESS, 0, -5)  # of branchd and callers, as the unit's CPUWeight= does
        try:
            if not self.start_daemon():
                return False
            self.watch(attack)
        except (OSError, ValueError, LookupError, subprocess.SubprocessError) as error:
            self.check(False, "a call failed:", error)
        finally:
            self.end()
        return True

    def watch(self, attack):
        memory = Memory(self.daemon.pid)
        callers = [Caller(self, what, every) for what, every in
                   (("GetStatus", 0.4), ("ListWindows", 0.5), ("GetProfile", 1.5), ("top", 2.0))]
        self.victim("victim", VICTIM)
        self.victim("system", 0, "libc-user", ("rand", "random", "random_r"))
        for thread in (memory, *callers):
            thread.start()
        time.sleep(CALM)
        before = self.call("GetStatus")["samples"]
        self.attacked = True
        began = time.time()
        control = Control()
        self.children.append(control.child)
        control.start()
        after_attack = attack(self)
        time.sleep(self.seconds / 2 - WINDOW)
        self.victim("late", VICTIM)
        self.late_began = time.time()
        time.sleep(self.seconds / 2 + WINDOW)
        for caller in callers:
            caller.stopped.set()
        busy = control.stop()
        slowest = {c.what: (c.slowest_yet(), c.calm) for c in callers}
        for caller in callers:
            caller.join(PATIENCE)
        memory.stopped.set()
        memory.join(PATIENCE)
        self.check_memory(memory)
        self.check_answers(slowest, busy, [failure for c in callers for failure in c.failures])
        self.check_losses(before, self.call("GetStatus")["samples"])
        self.check_names(began)
        if after_attack:
            after_attack()

    def check_memory(self, memory):
        parts = ", ".join(f"{name} {size >> 20}" for name, size in sorted(memory.parts.items()))
        self.note(f"memory {memory.most >> 20} MiB at most ({parts}), {memory.most_of_one >> 20} MiB of one process")
        self.check(max(memory.most, memory.most_of_one) <= MAX_BYTES, "too much memory:", self.notes[-1])

    def check_answers(self, slowest, busy, failures):
        limit = MAX_ANSWER * busy
        self.note(f"computing took {busy:.1f} times as long as on an idle CPU, so answers may take {limit:.1f} s")
        for what, (took, calm) in slowest.items():
            self.note(f"{what} took {took:.2f} s at most, in peace {calm:.2f} s")
            self.check(took <= limit, f"an answer took more than {limit:.1f} s:", self.notes[-1])
        if self.damages_store:
            failures = [text for text in failures if "damaged" not in text.lower()]
        self.check(not failures, "calls failed:", *failures[:3])

    def check_losses(self, before, after):
        change = {name: after[name] - before[name] for name in after}
        lost = change["ring_full"] + change["no_ring"] + change["undecodable"]
        self.note(f"{change['taken']} samples, {lost} lost, {change['skipped']} skipped, "
                  f"throttled {change['throttled']} times")
        self.check(change["taken"] > 0, "no samples were taken")
        self.check(lost <= MAX_LOST * change["taken"], "samples were lost:", self.notes[-1])
        self.check(self.daemon.poll() is None, "branchd ended:", self.daemon.returncode)

    def storing(self):
        status = self.call("GetStatus")
        return status["store"], status["naming"], status["problems"]

    def wait_for_windows(self, began):
        """Those closed since then: of the last two, the late victim was there."""
        until = time.monotonic() + LATE
        while True:
            windows = self.closed_windows(began)
            if len(windows) >= self.min_windows and windows[-2]["start_us"] > self.late_began * 1e6:
                return windows
            if time.monotonic() > until:
                return windows
            time.sleep(0.5)

    def check_names(self, began):
        """In the last windows, and for the victims that were there all the time in every window."""
        windows = self.wait_for_windows(began)
        if not self.check(len(windows) >= self.min_windows, "only", len(windows), "windows closed:",
                          *self.storing()):
            return
        for name, (child, functions) in self.victims.items():
            first = windows[-2 if name.startswith("late") or self.damages_store else 0]
            rows = self.rows(child.pid, f"{first['id']}..{windows[-1]['id']}")
            total = sum(row["self"] for row in rows)
            right = sum(row["self"] for row in rows if row["symbol"] in functions)
            special = sum(row["self"] for row in rows if (row["object"] or "").startswith("["))
            self.note(f"{name}: {right} of {total - special} samples have the right names")
            self.check(right >= 0.9 * (total - special) > 0, f"{name} has wrong names:", self.notes[-1],
                       [(row["symbol"], row["object"], row["self"]) for row in rows[:4]])

    def end(self):
        for child in self.children:
            child.kill()
        for child in self.children:
            child.wait()
        if self.daemon:
            self.stop_daemon()
        for clean_up in reversed(self.clean_ups):
            clean_up()

    def stop_daemon(self):
        self.daemon.send_signal(signal.SIGTERM)
        try:
            self.check(self.daemon.wait(20) == 0, "branchd ended with", self.daemon.returncode)
        except subprocess.TimeoutExpired:
            self.check(False, "SIGTERM does not end branchd")
            for pid in Memory(self.daemon.pid).processes():
                os.kill(pid, signal.SIGKILL)
            self.daemon.wait()
        until = time.monotonic() + PATIENCE
        while self.helpers() and time.monotonic() < until:
            time.sleep(0.1)
        self.check(not self.helpers(), "helpers outlive branchd:", self.helpers())
        self.note("branchd:", self.messages().strip().replace("\n", " | ")[-600:])
        self.errors.close()
