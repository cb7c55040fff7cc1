# SPDX-License-Identifier: LGPL-2.1-or-later
"""What goes on around branchd while it soaks: each a thread that begins something again and again."""
import os
import random
import shutil
import signal
import socket
import subprocess
import threading
import time

import elf_files
from trial import ATTACKER, VICTIM, as_user

HOSTILE = (elf_files.long_names, elf_files.many_notes, elf_files.debug_link, elf_files.many_symbols)
HELPERS = ("branchd-opener", "branchd-parser", "branchd-events")
SOURCE = "\n".join(f"int f{i}(int x) {{ return x * {i} + x % {i + 2}; }}" for i in range(300))
VIEWS = ("function", "stack", "object", "process", "line")


class Churn(threading.Thread):
    """Calls once() every @every seconds until it is stopped."""

    def __init__(self, trial, every):
        super().__init__(daemon=True)
        self.trial, self.every, self.stopped, self.turns = trial, every, threading.Event(), 0

    def run(self):
        while not self.stopped.wait(self.every):
            try:
                self.once()
                self.turns += 1
            except (OSError, subprocess.SubprocessError):
                pass  # branchd was killed, or is about to be

    def once(self):
        raise NotImplementedError

    def command(self, *arguments, uid=VICTIM, **options):
        return subprocess.run([str(a) for a in arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False, **{"stdin": subprocess.DEVNULL, "timeout": 60, **options}, **as_user(uid))


class Forks(Churn):
    """Forks, exec, threads, libraries that come and go."""

    def once(self):
        self.command(self.trial.program("live-churn"), 1, self.trial.program("live-one.so"))


class Compiler(Churn):
    def once(self):
        if shutil.which("cc"):
            self.command("cc", "-x", "c", "-O1", "-c", "-o", "/dev/null", "-", stdin=None, input=SOURCE.encode())


class HostileFiles(Churn):
    """A new one each time, mapped and hot for some seconds."""

    def once(self):
        folder = self.trial.folder(f"hostile-{self.turns}-{random.random()}", ATTACKER)
        path = HOSTILE[self.turns % len(HOSTILE)](os.path.join(folder, "program"))
        try:
            self.command(self.trial.program("hot-file"), 4, elf_files.CODE, path, uid=ATTACKER)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


class Killer(Churn):
    """Kills each helper in turn."""

    def once(self):
        name = HELPERS[self.turns % len(HELPERS)]
        for pid in self.trial.processes():
            if self.trial.name_of(pid) == name[:15]:
                os.kill(pid, signal.SIGKILL)


class Clients(Churn):
    """Some wait for their answers, some are killed before, some never ask."""

    def once(self):
        by = VIEWS[self.turns % len(VIEWS)]
        with subprocess.Popen([self.trial.branchctl, "--socket", self.trial.socket, "top", "@-1", "--by", by],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as client:
            if self.turns % 3 == 0:
                time.sleep(random.random() / 20)
                client.kill()
            client.wait(60)
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.trial.socket)
            s.sendall(b'{"method":"io.branchd.GetProfile","parameters":{"first":0}}\0'[:10 + 60 * (self.turns % 2)])
