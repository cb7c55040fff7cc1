# SPDX-License-Identifier: LGPL-2.1-or-later
"""The daemon as systemd and an administrator have it: service.py BRANCHD runs it and looks from without.

Whether it can sample does not matter here: that it cannot is a state, in which it serves all the same.
"""
import contextlib
import ctypes
import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

PTRACE_ATTACH, PTRACE_DETACH = 16, 17
BRANCHD = os.path.abspath(sys.argv.pop(1))
PATIENCE = 180  # seconds, for busy machines


class Service(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="branchd-")
        self.addCleanup(shutil.rmtree, self.place)
        self.path = os.path.join(self.place, "socket")
        self.config = os.path.join(self.place, "x.conf")
        self.configure("[Sampling]\nMode=software\n[Store]\nWindowSec=1s\n")
        self.daemons = []
        self.addCleanup(lambda: [self.stop(daemon) for daemon in self.daemons])

        self.notified = ""
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.notify.close)
        self.notify.settimeout(PATIENCE)
        self.notify.bind(os.path.join(self.place, "notify"))

    def configure(self, text):
        with open(self.config, "w", encoding="ascii") as f:
            f.write(text)

    def start(self, *arguments, wait=True, **more):
        environment = dict(os.environ, NOTIFY_SOCKET=self.notify.getsockname())
        environment.update(more.pop("environment", {}))
        daemon = subprocess.Popen(
            [BRANCHD, "--config", self.config, "--state-directory", self.place + "/state", *arguments],
            stderr=subprocess.PIPE, text=True, env=environment, **more)
        self.daemons.append(daemon)
        if wait:
            self.wait_for("READY=1")
        return daemon

    def stop(self, daemon):
        if daemon.poll() is None:
            daemon.terminate()
        try:
            return daemon.wait(PATIENCE)
        finally:
            daemon.kill()
            daemon.stderr.close()

    def wait_for(self, text):
        while text not in self.notified:
            self.notified += self.notify.recv(4096).decode() + "\n"
        self.notified = self.notified[self.notified.index(text) + len(text):]

    def forget_notified(self):
        """Before its queue is full: the daemon would wait for room."""
        self.notified = ""
        self.notify.settimeout(0)
        try:
            while self.notify.recv(4096):
                pass
        except BlockingIOError:
            self.notify.settimeout(PATIENCE)

    def call(self, method, parameters=None, path=None):
        with socket.socket(socket.AF_UNIX) as s:
            s.settimeout(PATIENCE)
            s.connect(path or self.path)
            message = {"method": "io.branchd." + method, "parameters": parameters or {}}
            s.sendall(json.dumps(message).encode() + b"\0")
            reply = b""
            while not reply.endswith(b"\0"):
                part = s.recv(1 << 20)
                self.assertTrue(part, "the daemon closed the connection")
                reply += part
        return json.loads(reply[:-1])

    def problems(self):
        return self.call("GetStatus")["parameters"]["problems"]

    def test_it_begins_serves_and_ends(self):
        daemon = self.start("--socket", self.path)
        self.wait_for("STATUS=")
        self.assertEqual(os.stat(self.path).st_mode & 0o777, 0o660)
        status = self.call("GetStatus")["parameters"]
        self.assertEqual(status["store"]["window_us"], 1000000)
        self.assertTrue(status["privileged"])
        self.assertEqual(status["problems"], [])
        self.assertIn("windows", self.call("ListWindows")["parameters"])
        self.assertEqual(self.stop(daemon), 0)
        self.wait_for("STOPPING=1")
        self.assertFalse(os.path.exists(self.path))

    def test_the_last_window_is_stored(self):
        self.configure("[Sampling]\nMode=software\n[Store]\nWindowSec=1h\n")
        daemon = self.start("--socket", self.path)
        running = self.call("GetStatus")["parameters"]["sampling"]["running"]
        time.sleep(1)
        self.assertEqual(self.stop(daemon), 0)
        with contextlib.closing(sqlite3.connect(self.place + "/state/branchd.db")) as database:
            n = database.execute("select count(*) from window").fetchone()[0]
        self.assertEqual(n, 1 if running else 0)

    def test_what_a_full_disk_keeps_from_being_stored(self):
        daemon = self.start("--socket", self.path, restore_signals=False)  # SIGXFSZ is ignored
        if not self.call("GetStatus")["parameters"]["sampling"]["running"]:
            return
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
        started = time.monotonic()
        while self.call("GetStatus")["parameters"]["store"]["waiting"] < 2:
            self.assertLess(time.monotonic(), started + PATIENCE)
            self.forget_notified()
            time.sleep(0.1)
        window = self.call("GetProfile", {"first": 0, "last": 0})["parameters"]["windows"][0]
        self.assertGreater(window["length_us"], 1100000)  # longer than one of them
        daemon.terminate()
        self.assertRegex(daemon.stderr.read(), "[0-9]+ windows lost, from .* to .*: the database could not be written: ")
        self.assertEqual(self.stop(daemon), 0)

    def test_a_socket_is_taken_from_systemd(self):
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(self.path)
            listening.listen()

            # the process that execs must know its own number: a shell sets it
            fd = listening.fileno()
            daemon = subprocess.Popen(
                ["sh", "-c", f'LISTEN_PID=$$ exec "$@" 3<&{fd}', "sh", BRANCHD, "--config",
                 self.config, "--state-directory", self.place + "/state"],
                stderr=subprocess.PIPE, text=True, pass_fds=(fd,),
                env=dict(os.environ, NOTIFY_SOCKET=self.notify.getsockname(), LISTEN_FDS="1"))
            self.daemons.append(daemon)
            self.wait_for("READY=1")
        self.assertIn("version", self.call("GetStatus")["parameters"])
        self.assertEqual(self.stop(daemon), 0)
        self.assertTrue(os.path.exists(self.path), "the socket is systemd's")

    def test_what_systemd_passes_must_be_a_listening_socket(self):
        daemon = subprocess.Popen(
            ["sh", "-c", 'LISTEN_PID=$$ exec "$@" 3</dev/null', "sh", BRANCHD, "--config", self.config,
             "--state-directory", self.place + "/state"],
            stderr=subprocess.PIPE, text=True, env=dict(os.environ, LISTEN_FDS="1"))
        self.daemons.append(daemon)
        self.assertEqual(daemon.wait(PATIENCE), 1)
        self.assertIn("not one listening stream socket", daemon.stderr.read())

    def test_reload(self):
        daemon = self.start("--socket", self.path)
        self.configure("[Store]\nWindowSec=soon\n")
        daemon.send_signal(signal.SIGHUP)
        self.wait_for("RELOADING=1")
        self.wait_for("READY=1")
        self.assertEqual(self.problems(),
                         [self.config + ":2: WindowSec=soon: must be a time from 1s to 1h"])
        self.assertEqual(self.call("GetStatus")["parameters"]["store"]["window_us"], 1000000)

        self.configure("[Sampling]\nMode=software\nUnknown=1\n[Store]\nWindowSec=2s\nMaxUse=5M\n"
                       "Windows=2s:1h 1min:1w\nMaxRetention=1d\n")
        daemon.send_signal(signal.SIGHUP)
        self.wait_for("READY=1")
        status = self.call("GetStatus")["parameters"]
        self.assertEqual(status["problems"], [])
        self.assertEqual(status["store"]["window_us"], 2000000)
        self.assertEqual(status["store"]["max_bytes"], 5 << 20)
        self.assertEqual(status["store"]["tiers"], [{"length_us": length, "keep_us": keep} for length, keep in
                                                    ((2000000, 3600000000), (60000000, 86400000000))])
        self.assertEqual(self.stop_and_read(daemon).count("unknown key Unknown= in [Sampling]"), 1)

    def stop_and_read(self, daemon):
        daemon.terminate()
        self.assertEqual(daemon.wait(PATIENCE), 0)
        return daemon.stderr.read()

    def test_the_watchdog_is_fed(self):
        self.start("--socket", self.path, environment={"WATCHDOG_USEC": "1000000"})
        self.wait_for("WATCHDOG=1")
        self.wait_for("WATCHDOG=1")

    def hold_collector(self, daemon):
        """Stops the one thread; returns what lets it go on, or None where that is not allowed."""
        tasks = f"/proc/{daemon.pid}/task"
        collectors = []
        for tid in os.listdir(tasks):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # another that ends
                with open(f"{tasks}/{tid}/comm", encoding="utf-8") as f:
                    collectors += [int(tid)] if f.read() == "collector\n" else []
        ptrace = ctypes.CDLL(None, use_errno=True).ptrace
        ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        if not collectors or ptrace(PTRACE_ATTACH, collectors[0], None, None) < 0:
            return None
        os.waitpid(collectors[0], 0x40000000)  # __WALL
        return lambda: ptrace(PTRACE_DETACH, collectors[0], None, None)

    def test_the_watchdog_is_not_fed_for_a_stuck_collector(self):
        daemon = self.start("--socket", self.path, environment={"WATCHDOG_USEC": "2000000"})
        for _ in range(4):  # it has begun, and sleeps most of the time
            self.wait_for("WATCHDOG=1")
        let_go = self.hold_collector(daemon)
        if not let_go:
            return
        patience = time.monotonic() + PATIENCE
        while not self.problems():
            self.assertLess(time.monotonic(), patience)
            self.forget_notified()
            time.sleep(0.2)
        self.assertRegex(self.problems()[0], "^the collector has not turned for [0-9]+ s, ")
        self.forget_notified()
        self.notify.settimeout(3)
        with self.assertRaises(socket.timeout):  # nothing is fed
            self.notify.recv(4096)
        let_go()
        self.notify.settimeout(PATIENCE)
        self.wait_for("WATCHDOG=1")
        self.assertEqual(self.problems(), [])
        self.notify.close()  # nobody reads it any more
        log = self.stop_and_read(daemon)
        self.assertEqual(log.count("the collector has not turned"), 1)
        self.assertEqual(log.count("the collector turns again"), 1)

    def assert_refuses(self, expected, *arguments, status=1):
        daemon = self.start(*arguments, wait=False)
        self.assertEqual(daemon.wait(PATIENCE), status)
        self.assertIn(expected, daemon.stderr.read())

    def test_what_it_refuses(self):
        self.start("--socket", self.path)
        other = ["--state-directory", self.place + "/other"]
        self.assert_refuses("is served already", "--socket", self.path, *other)
        self.assert_refuses("another branchd", "--socket", self.path + "2")
        self.assert_refuses("unexpected argument", "word", status=2)
        self.assert_refuses("unrecognized option", "--nonsense", status=2)
        self.assert_refuses("No such file or directory", "--config", self.place + "/none", *other)
        self.assert_refuses("cannot make", "--state-directory", self.place + "/a/b")
        if os.geteuid() == 0:
            os.mkdir(self.place + "/foreign")
            os.chown(self.place + "/foreign", 65534, 65534)
            self.assert_refuses("belongs to another user", "--state-directory", self.place + "/foreign")
        self.assert_refuses("too long for a socket", "--socket", "/" + 200 * "x", *other)
        self.configure("[Sampling]\nFrequency=much\n")
        self.assert_refuses("x.conf:2: Frequency=much: must be", "--socket", self.path + "2", *other)

    def test_one_that_was_killed_leaves_nothing_in_the_way(self):
        daemon = self.start("--socket", self.path)
        daemon.kill()
        daemon.wait()
        self.start("--socket", self.path)
        self.assertIn("version", self.call("GetStatus")["parameters"])

    def test_a_database_that_is_none_is_set_aside(self):
        os.mkdir(self.place + "/state")
        with open(self.place + "/state/branchd.db", "wb") as f:
            f.write(b"no database" * 1000)
        self.start("--socket", self.path)
        self.assertEqual(len(self.problems()), 1)
        self.assertIn("a new one was begun", self.problems()[0])
        self.assertTrue(self.call("GetStatus")["parameters"]["store"]["set_aside"])

    def test_a_database_that_cannot_be_opened_is_opened_later(self):
        database = self.place + "/state/branchd.db"
        os.makedirs(database)
        daemon = self.start("--socket", self.path)
        self.assertEqual(self.problems(), [database + ": cannot be opened: Is a directory"])
        self.assertEqual(self.call("GetStatus")["parameters"]["store"]["windows"], 0)
        os.rmdir(database)
        if self.call("GetStatus")["parameters"]["sampling"]["running"]:
            deadline = time.monotonic() + PATIENCE
            while not os.path.exists(database) and time.monotonic() < deadline:
                self.forget_notified()
                time.sleep(0.1)
            self.assertTrue(os.path.exists(database))
            while self.problems() and time.monotonic() < deadline:
                self.forget_notified()
                time.sleep(0.1)
            self.assertEqual(self.problems(), [])
        log = self.stop_and_read(daemon)
        self.assertEqual(log.count("tries to open it with new ones"), 1)

    def test_help_and_version(self):
        for option, text in ("--help", "--state-directory"), ("--version", "branchd "):
            done = subprocess.run([BRANCHD, option], capture_output=True, text=True, check=True)
            self.assertIn(text, done.stdout)


if __name__ == "__main__":
    unittest.main()
