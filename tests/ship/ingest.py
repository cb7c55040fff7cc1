# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd-ship with Format=pprof: what a server such as Pyroscope is sent, as Go's pprof reads it, whatever the server answers.

    ingest.py BRANCHCTL BRANCHD-SHIP"""

import base64
import glob
import gzip
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse

import clickhouse  # noqa: F401: finds the folder of the next ones
import mock_daemon
from acceptor import Acceptor
from harness import check, finish
from ship_host import Host, wait_for


def configure(host, acceptor, extra=""):
    with open(host.folder + "/ship.conf", "w", encoding="utf-8") as file:
        file.write(f"[Ship]\nUrl=http://127.0.0.1:{acceptor.port}/ingest\nFormat=pprof\nHost={host.name}\nSumSec=0\n{extra}")


def check_parameters(host, profiles):
    """The name of the host, and the time of each window; each is sent once, in the order of time."""
    for window, (path, headers, _) in zip(host.closed, profiles):
        where, _, query = path.partition("?")
        want = {"name": ["branchd{host=one_host}"], "format": ["pprof"], "from": [str(window["start_us"] // mock_daemon.SECOND)],
                "until": [str((window["start_us"] + mock_daemon.LENGTH) // mock_daemon.SECOND)]}
        check(where == "/ingest" and urllib.parse.parse_qs(query) == want, path, want)
        check("Content-Encoding" not in headers, headers)
    check(len(profiles) == len(host.closed), len(profiles), len(host.closed))


def check_content(folder, host, profiles):
    for i, (_, _, body) in enumerate(profiles):
        with open(f"{folder}/{i}.pb.gz", "wb") as file:
            file.write(body)
        check(gzip.decompress(body).count(b"work") == 1, "a name is there once")
    if not shutil.which("go"):
        print("not compared with Go's pprof, which is not here")
        return
    done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-sample_index=samples", "-top", *sorted(glob.glob(folder + "/*.pb.gz"))],
                          capture_output=True, text=True, check=False, env=dict(os.environ, PPROF_TMPDIR=folder))
    got = {words[5]: int(words[0]) for words in (line.split() for line in done.stdout.partition("flat%")[2].splitlines()[1:])}
    want = {"work": 0, "idle_žofie": 0}
    for window in host.closed:
        want["idle_žofie"] += window["samples"] // 4
        want["work"] += window["samples"] - window["samples"] // 4
    check({name: n for name, n in got.items() if n} == want, got, want, done.stderr)
    tags = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-sample_index=samples", "-tags", *sorted(glob.glob(folder + "/*.pb.gz"))],
                          capture_output=True, text=True, check=False, env=dict(os.environ, PPROF_TMPDIR=folder)).stdout
    check("demo.service" in tags and not re.search(r"\bpid\b", tags), "units, and no process ids", tags)


with tempfile.TemporaryDirectory() as place:
    server = Acceptor()
    machine = Host(place, "one'host", server.port)
    configure(machine, server, "User=me\nPasswordFile=" + place + "/password\n")
    with open(place + "/password", "w", encoding="utf-8") as secret:
        secret.write("a secret\n")
    server.status = 503
    machine.start()
    machine.close_windows(3)
    wait_for("a refusal", lambda: server.refused)
    machine.close_windows(1, 0)  # nothing to send
    machine.closed.pop()
    machine.close_windows(2, 240)
    server.status = 200
    wait_for("all windows", lambda: machine.status().get("waiting_batches") == 0 and machine.status().get("sent_windows") == 6)
    check_parameters(machine, server.profiles)
    check(all(headers["Authorization"] == "Basic " + base64.b64encode(b"me:a secret").decode() and "X-Clickhouse-Key" not in headers
              for _, headers, _ in server.profiles), "a password")
    check_content(place, machine, server.profiles)
    err = machine.stop()
    check("answered 503" in err and "takes batches again" in err and "a secret" not in err, err)
    machine.daemon.close()
finish()
