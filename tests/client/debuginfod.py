# SPDX-License-Identifier: LGPL-2.1-or-later
"""Symbols from debuginfod servers: Debian's own server, and servers that lie, stall or send too much."""

import contextlib
import http.server
import os
import pty
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import perfdata
from harness import SKIPPED, branchctl, check, finish, one_line, run

SOURCE = """
static volatile unsigned long x;
__attribute__((noinline)) static void NAME(void) { for (int i = 0; i < 9; i++) x = x * 3 + 1; }
int main(void) { NAME(); return 0; }
"""


class Program:
    """A stripped program, its debug file, and a recording with samples in one function."""

    def __init__(self, folder, name):
        self.name = name
        self.path = os.path.join(folder, "program-" + name[-6:])
        self.whole, self.debug = self.path + ".whole", self.path + ".debug"
        self.data = self.path + ".data"
        text = SOURCE.replace("NAME", name).encode()
        subprocess.run(["cc", "-xc", "-g", "-O2", "-fno-inline", "-Wl,--build-id", "-no-pie", "-o", self.whole, "-"],
                       input=text, check=True)
        subprocess.run(["objcopy", "--only-keep-debug", self.whole, self.debug], check=True)
        subprocess.run(["strip", "-o", self.path, self.whole], check=True)
        notes = subprocess.run(["readelf", "-n", self.whole], check=True, capture_output=True, text=True).stdout
        self.build_id = notes.split("Build ID: ")[1].split()[0]
        symbols = subprocess.run(["nm", self.whole], check=True, capture_output=True, text=True).stdout
        address = next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" " + name))
        samples = [perfdata.sample(1000 * i, address) for i in range(1, 20)]
        mapping = perfdata.mapping(self.path.encode(), bytes.fromhex(self.build_id))
        perfdata.write(self.data, [mapping, *samples])


class Server:
    """Answers each request by @answer(handler); counts them."""

    def __init__(self, answer):
        server = self
        self.requests = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                server.requests.append(self.path)
                with contextlib.suppress(OSError):
                    answer(self)

            def log_message(self, *_):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


def answer_file(path):
    def answer(handler):
        with open(path, "rb") as file:
            content = file.read()
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
    return answer


def stall(_):
    time.sleep(60)


def top(program, url, **environment):
    """With a cache that is empty. Is the function named? And what the terminal says beside."""
    with tempfile.TemporaryDirectory() as cache:
        status, out, err = run("top", program.data, DEBUGINFOD_URLS=url, DEBUGINFOD_CACHE_PATH=cache,
                               **environment)
    check(status == 0 and os.path.basename(program.path) in out, status, out, err)
    names = re.findall(r"function_of_\w+", out)
    check(names in ([], [program.name]), "names of another program:", out)
    return bool(names), err


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def debian_server(folder, state):
    """debuginfod(8) that has scanned the folder."""
    url = f"http://127.0.0.1:{free_port()}"
    with subprocess.Popen(["debuginfod", "-d", os.path.join(state, "db"), "-p", url.rsplit(":", 1)[1], "-F", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=state,
                          env={**os.environ, "DEBUGINFOD_URLS": ""}) as process:
        try:
            for line in process.stdout:
                if "groomed database" in line:
                    break
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield url
        finally:
            process.terminate()


def check_debian(program, folder):
    if not shutil.which("debuginfod"):
        print("debuginfod is not installed: its own server was not tried")
        return
    served = os.path.join(folder, "served")
    os.mkdir(served)
    shutil.move(program.debug, served)
    shutil.move(program.whole, served)
    with tempfile.TemporaryDirectory() as state, debian_server(served, state) as url:
        named, err = top(program, url)
        check(named and not err, "by debuginfod:", err)
        os.rename(program.path, program.path + ".away")
        named, err = top(program, url)
        check(named and not err, "the program itself, too:", err)
        os.rename(program.path + ".away", program.path)
    shutil.move(os.path.join(served, os.path.basename(program.debug)), program.debug)
    shutil.move(os.path.join(served, os.path.basename(program.whole)), program.whole)


def check_plain(program):
    server = Server(answer_file(program.debug))
    named, err = top(program, "")
    check(not named and one_line(err) and "DEBUGINFOD_URLS" in err, "without a server:", err)
    check(not server.requests, "was asked")
    named, err = top(program, server.url)
    check(named and not err and server.requests == [f"/buildid/{program.build_id}/debuginfo"],
          "by a server:", named, err, server.requests)


def check_liars(program, other, folder):
    """What is not of the right build is not used, and nothing that is sent harms."""
    with open(program.debug, "rb") as file:
        content = file.read()
    bad = os.path.join(folder, "bad")
    for what in (b"", b"<html>no</html>", content[:100], content[:len(content) // 2], content[:64] + os.urandom(5000)):
        with open(bad, "wb") as file:
            file.write(what)
        named, err = top(program, Server(answer_file(bad)).url)
        check(not named and err.count("\n") <= 2, "garbage:", what[:20], len(what), err)
    named, err = top(program, Server(answer_file(other.debug)).url)
    check(not named, "of another build:", err)
    named, err = top(program, Server(answer_file(other.whole)).url)
    check(not named, "another program:", err)


def check_limits(program):
    named, err = top(program, Server(answer_file(program.debug)).url, DEBUGINFOD_MAXSIZE="1000")
    check(not named and "DEBUGINFOD_MAXSIZE" in err, "too large:", err)
    for url in (Server(stall).url, f"http://127.0.0.1:{free_port()}"):
        named, err = top(program, url, DEBUGINFOD_TIMEOUT="1")
        check(not named and "nothing more is downloaded" in err, "no answer:", err)


def check_interrupt(program):
    """Ctrl-C ends the download, and the table comes without the names."""
    ours, theirs = pty.openpty()
    with tempfile.TemporaryDirectory() as cache:
        env = dict(os.environ, LC_ALL="C.UTF-8", TERM="xterm", DEBUGINFOD_URLS=Server(stall).url,
                   DEBUGINFOD_CACHE_PATH=cache)
        with subprocess.Popen([branchctl, "top", program.data], stdin=theirs, stdout=subprocess.PIPE, stderr=theirs,
                              env=env) as process:
            os.close(theirs)
            seen = b""
            while b"Ctrl-C goes on without" not in seen:
                seen += os.read(ours, 4096)
            process.send_signal(signal.SIGINT)
            out = process.stdout.read().decode()
            with contextlib.suppress(OSError):
                while part := os.read(ours, 4096):
                    seen += part
    os.close(ours)
    check(process.returncode == 0 and os.path.basename(program.path) in out, process.returncode, out)
    check(b"downloading symbols of" in seen and b"interrupted; nothing more is downloaded" in seen, seen)


if sys.argv[2] != "with" or not shutil.which("cc") or not shutil.which("objcopy"):
    print("branchctl was built without debuginfod, or there is no cc or objcopy")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as place:
    first, second = Program(place, "function_of_first"), Program(place, "function_of_second")
    check_debian(first, place)
    check_plain(first)
    check_liars(first, second, place)
    check_limits(first)
    check_interrupt(first)
finish()
