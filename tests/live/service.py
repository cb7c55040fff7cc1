# SPDX-License-Identifier: LGPL-2.1-or-later
"""A branchd of the test's own, in a folder of its own, and calls to it."""
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds


class Failures(list):
    def check(self, holds, what):
        if not holds:
            self.append(what)
            print("FAILED:", what)


def ask(path, method, parameters):
    """The reply, as text."""
    request = json.dumps({"method": "io.branchd." + method, "parameters": parameters}).encode()
    with socket.socket(socket.AF_UNIX) as s:
        s.settimeout(PATIENCE)
        s.connect(path)
        s.sendall(request + b"\0")
        reply = bytearray()
        while not reply.endswith(b"\0"):
            part = s.recv(1 << 20)
            if not part:
                raise OSError("the connection was closed")
            reply += part
    return reply[:-1].decode()


def parameters_of(text):
    reply = json.loads(text)
    if "error" in reply:
        raise AssertionError(text[:300])
    return reply["parameters"]


@contextlib.contextmanager
def running(branchd, name, window_seconds):
    """Starts it, and yields its process, its folder and its socket."""
    place = tempfile.mkdtemp(prefix=f"branchd-{name}-", dir="/var/tmp")
    path, config = os.path.join(place, "socket"), os.path.join(place, "branchd.conf")
    os.chmod(place, 0o755)
    with open(config, "w", encoding="ascii") as file:
        file.write(f"[Sampling]\nMode=software\nFrequency=99\nCpuBudget=infinity\n[Store]\nWindowSec={window_seconds}s\n")
    with subprocess.Popen([branchd, "--config", config, "--state-directory", place + "/state",
                           "--socket", path]) as process:
        try:
            until = time.monotonic() + PATIENCE
            while not os.path.exists(path):
                if process.poll() is not None or time.monotonic() > until:
                    raise AssertionError("branchd does not start")
                time.sleep(0.1)
            yield process, place, path
        finally:
            process.terminate()
            process.wait()
            shutil.rmtree(place, ignore_errors=True)


def samples(path):
    """Whether it samples this machine."""
    return parameters_of(ask(path, "GetStatus", {}))["sampling"]["running"]
