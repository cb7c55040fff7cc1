# SPDX-License-Identifier: LGPL-2.1-or-later
"""A mock daemon: the interface io.branchd on a socket, with the windows and profiles a test wants."""

import json
import os
import re
import shutil
import socket
import tempfile
import threading
import time

SECOND = 1000000
LENGTH = 10 * SECOND


def now_us():
    return int(time.time() * SECOND)


def window(number, start_us, samples=100, opened=False, length_us=LENGTH):
    return {"id": 0 if opened else number, "start_us": start_us, "length_us": length_us,
            "samples": samples, "lost": 2, "open": opened, "mode": "software"}


def counters():
    """Their names, from the header that defines them."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, "common/profile/profile.h"), encoding="utf-8") as header:
        text = header.read()
    return re.findall(r"\bX\((\w+), \"", text[text.index("PROFILE_COUNTERS(X)"):])


def profile(samples):
    """Two processes of one program: three samples of four are demo's in work(), called by main()."""
    first, second = samples - samples // 4, samples // 4
    stacks = [[None, 0, 0, "0x1010", 0, 0, 0, 0], [None, 1, 0, "0x1210", second, 0, second, 0],
              [0, 0, 0, "0x1110", first, 0, first, 0]]
    names = [("main", 0x1000), ("work", 0x1100), ("idle_\u017eofie", 0x1200)]
    processes = [(4711, "demo", "demo.service", 1000, first), (4712, "other", "/docker/3f4a9c0b12de" + "ab" * 26, 0, second)]
    empty = {"columns": ["process", "object", "start", "end", "runs", "cycles", "cycles_rows"], "rows": []}
    return {
        "profile": 7,
        "info": {"mode": "software", "event": "cpu-clock", "hostname": "here", "os_release": None,
                 "cpu": "a CPU", "n_cpus": 2, "depth": None, "start_ns": 1, "end_ns": 2},
        "counters": dict({name: 0 for name in counters()}, samples=samples, weight=samples),
        "processes": [{"pid": pid, "start_ns": 5, "comm": comm, "executable": "/usr/bin/demo",
                       "unit": unit, "uid": uid, "restricted": False, "samples": n, "gone": 0}
                      for pid, comm, unit, uid, n in processes],
        "objects": [{"kind": "file", "path": "/usr/bin/demo", "build_id": "ab" * 20, "major": 0,
                     "minor": 0, "inode": None, "base": None, "untrusted": False,
                     "ctime_ns": None}],
        "functions": [{"object": 0, "start": hex(start), "size": 256, "name": name,
                       "fingerprint": None} for name, start in names],
        "stacks": {"columns": ["parent", "process", "object", "offset", "samples", "stitched",
                               "weight", "pruned"], "rows": stacks},
        "streams": {"columns": ["parent", "process", "from_object", "from", "to_object", "to",
                                "hits", "pruned", "cycles"], "rows": []},
        "branches": {"columns": ["process", "from_object", "from", "to_object", "to", "kind",
                                 "taken", "mispredicted", "predicted", "aborted", "cycles",
                                 "cycles_rows"], "rows": []},
        "blocks": empty,
    }


STATUS = {
    "version": "1.0.0", "hostname": "here", "started_us": 0, "now_us": 0, "privileged": True,
    "sampling": {"running": True, "mode": "software", "event": "cpu-clock", "frequency": 99, "hot_percent": 0,
                 "capture_percent": 100,
                 "n_cpus": 2, "depth": 0, "reason": "the processor has no branch records"},
    "samples": {"taken": 1010, "written": 1000, "ticked": 0, "unticked": 0, "ring_full": 10, "skipped": 3, "throttled": 0,
                "lost_records": 0, "undecodable": 0},
    "cost": {"bpf_ns": 1500000, "bpf_runs": 1000, "cpu_us": 36 * SECOND, "rss_bytes": 20 << 20,
             "budget_percent": 0.2, "sampling_percent": 0.13, "rate_percent": 50.0, "throttled": False,
             "hour_sampling_percent": 0.17, "hour_rate_percent": 83.2},
    "store": {"bytes": 3 << 20, "max_bytes": 1 << 30, "window_us": LENGTH, "windows": 30,
              "waiting": 0, "removed": 0, "given_up": 0, "first_us": 0, "last_us": 0,
              "set_aside": None, "tiers": [{"length_us": LENGTH, "keep_us": 3600 * SECOND},
                                              {"length_us": 60 * SECOND, "keep_us": 86400 * SECOND}]},
    "server": {"open": 1, "connections": 5, "calls": 9, "errors": 1, "pending_bytes": 0,
               "refused_connections": 0, "refused_replies": 0, "too_long": 0, "not_understood": 2,
               "stalled": 0},
    "unnamed_objects": 4, "problems": ["no BTF: do this"],
}


class Daemon:
    """Serves until it is closed. What it was called for is in .calls."""

    def __init__(self, windows, path=None, counts=False):
        self.windows, self.marks, self.counts = windows, [], counts
        self.calls, self.followers, self.connections = [], [], []
        self.folder = None if path else tempfile.mkdtemp()
        self.path = path or os.path.join(self.folder, "io.branchd")
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(self.path):
            os.unlink(self.path)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def vanish(self):
        """Leaves its socket behind, as one that is killed does; another may be started there."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # it was the client that left
                pass

    def begin_database(self):
        """As one that is started again without the windows that it had."""
        self.followers.clear()
        self.windows[:-1] = []
        for connection in self.connections:
            connection.close() if connection.fileno() < 0 else connection.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.vanish()
        os.unlink(self.path)
        if self.folder:
            shutil.rmtree(self.folder)

    def closed(self, added):
        """A window closes."""
        self.windows.insert(len(self.windows) - 1, added)
        for follower in self.followers:
            self._send(follower, {"parameters": {"windows": [added]}, "continues": True})

    @staticmethod
    def _send(connection, message):
        connection.sendall(json.dumps(message).encode() + b"\0")

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections.append(connection)
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection):
        data = b""
        while True:
            try:
                part = connection.recv(65536)
            except OSError:
                return
            if not part:
                return
            data += part
            while b"\0" in data:
                text, data = data.split(b"\0", 1)
                call = json.loads(text)
                self.calls.append(call)
                try:
                    self._send(connection, self._answer(call, connection))
                except OSError:
                    return

    def _answer(self, call, connection):
        name = call["method"].rpartition(".")[2]
        parameters = call.get("parameters", {})
        if name == "GetStatus":
            now = now_us()
            store = dict(STATUS["store"], first_us=now - 300 * SECOND, last_us=now)
            return {"parameters": dict(STATUS, now_us=now, started_us=now - 3600 * SECOND,
                                       store=store)}
        if name == "ListWindows":
            if call.get("more"):
                self.followers.append(connection)
                return {"parameters": {"windows": self.list(parameters)}, "continues": True}
            return {"parameters": {"windows": self.list(parameters), "marks": self.marks}}
        if name.endswith("Mark") or name == "ListMarks":
            return self._mark(name, parameters)
        if name == "GetFunctions" and self.counts:
            return self._functions(parameters)
        if name != "GetProfile":  # as a daemon from before GetFunctions
            return {"error": "org.varlink.service.MethodNotFound", "parameters": {"method": call["method"]}}
        return self._profile(parameters)

    def list(self, parameters):
        since, until = parameters.get("since_us", 0), parameters.get("until_us", 1 << 62)
        found = [w for w in self.windows
                 if w["start_us"] < until and w["start_us"] + w["length_us"] > since]
        return found[-parameters["latest"]:] if "latest" in parameters else found

    def _mark(self, name, parameters):
        if name == "ListMarks":
            return {"parameters": {"marks": self.marks, "max_marks": 64}}
        if parameters["name"] == "unwritable":
            return {"error": "io.branchd.InternalError", "parameters": {"errno": "EROFS", "message": "Read-only file system"}}
        found = [m for m in self.marks if m["name"] == parameters["name"]]
        if name == "DeleteMark" and found:
            self.marks.remove(found[0])
            return {"parameters": {}}
        if name == "DeleteMark" or found:
            return {"error": "io.branchd." + ("MarkExists" if found else "NoSuchMark"),
                    "parameters": {"name": parameters["name"]}}
        part = [w for w in self.windows if parameters["first"] <= w["id"] <= parameters["last"]]
        made = dict(parameters, windows=len(part), since_us=part[0]["start_us"],
                    until_us=part[-1]["start_us"] + LENGTH, samples=sum(w["samples"] for w in part),
                    lost=0, made_us=now_us(), uid=0)
        self.marks = sorted(self.marks + [made], key=lambda m: m["name"])
        return {"parameters": {"mark": made}}

    def _named(self, parameters):
        """The windows of a call; none if one of them does not exist."""
        order = [w["id"] for w in self.windows]
        first = parameters.get("first", 0)
        last = parameters.get("last", first)
        if first not in order or last not in order:
            return []
        return self.windows[order.index(first):order.index(last) + 1]

    def _profile(self, parameters):
        part = self._named(parameters)
        if not part:
            return {"error": "io.branchd.NoSuchWindow", "parameters": {}}
        samples = sum(w["samples"] for w in part)
        return {"parameters": {"windows": part, "profile": profile(samples)}}

    @staticmethod
    def _part(windows, i, n, parameters):
        """Part @i of @n: of as many windows each, or of as long a time each if the span of all is given."""
        if not parameters.get("until_us"):
            return windows[i * len(windows) // n:(i + 1) * len(windows) // n]
        since, until = parameters.get("since_us", 0), parameters["until_us"]
        middles = [w["start_us"] + w["length_us"] / 2 for w in windows]
        return [w for w, middle in zip(windows, middles) if min(int((middle - since) * n / (until - since)), n - 1) == i]

    def _functions(self, parameters):
        """Those of profile(), in parts; of the half with odd numbers work() has twice as much."""
        part, n = self._named(parameters), parameters.get("parts", 1)
        if not part:
            return {"error": "io.branchd.NoSuchWindow", "parameters": {}}
        counted = profile(sum(w["samples"] for w in part))
        if parameters.get("by") in ("process", "program", "comm", "unit", "user"):
            places = [[i, None] for i in range(len(counted["processes"]))]
        elif parameters.get("by") == "object":
            places = [[0, None]]
        else:
            places = [[0, "0x1000"], [0, "0x1100"], [0, "0x1200"]]
        parts = []
        for i in range(n):
            samples = sum(w["samples"] for w in self._part(part, i, n, parameters))
            work = samples * 3 // 4 if i % 2 else samples * 3 // 8
            rows = {1: [[0, samples, samples]], 2: [[0, work, work], [1, samples - work, samples - work]],
                    3: [[0, 0, work], [1, work, work], [2, samples - work, samples - work]]}[len(places)]
            parts.append({"samples": samples, "rows": [row + [0] * 4 for row in rows]})
        return {"parameters": {"windows": part, "profile": counted, "places": places, "parts": parts}}


def recent(n=40, samples=100):
    """The last @n windows, and an open one."""
    start = now_us() // LENGTH * LENGTH
    windows = [window(101 + i, start - (n - i) * LENGTH, samples) for i in range(n)]
    return windows + [window(0, start, 7, True, 3 * SECOND)]
