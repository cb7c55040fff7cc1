# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl -H over real ssh and sshd: the same output as on the host itself; each failure is one line."""

import contextlib
import glob
import json
import os
import subprocess
import tempfile
import time

import ssh_hosts
from harness import branchctl, check, finish, one_line, run
from mock_daemon import Daemon, recent

ASKED = [["windows"], ["windows", "--json"], ["top", "@-1"], ["top", "@-1", "--json"], ["top", "110..120", "--by", "stack"],
         ["top", "110..120", "--by", "process", "--json"], ["top", "110", "--pid", "4711"], ["diff", "110", "111", "--json"],
         ["diff", "110..112", "113..115", "--by", "function"], ["dump", "110"], ["dump", "110", "--format", "json"],
         ["annotate", "main", "110"], ["history", "main", "101..130", "--json"], ["export", "--format", "folded", "110"],
         ["flame", "110", "--diff", "111", "-o", "-"], ["mark", "--list", "--json"], ["mark", "--delete", "nothing"],
         ["top", "4711000"]]


def run_at(host, *arguments):
    return run("-H", host, *arguments, PATH=client.path)


def without(host, text):
    """Of the line above a table, and of a failure, which name the host in place of the socket."""
    return text.replace(f"{host}, window", "window").replace(f" {host}: ", " ")


def check_same(host, daemon):
    for arguments in ASKED:
        here = run("--socket", daemon.path, *arguments)
        there = run_at(host, *arguments)
        check(here[0] == there[0], arguments, here, there)
        check(here[1] == without(host, there[1]), arguments, "differ:", here[1], there[1])
        check(here[2].replace(f" {daemon.path}: ", " ") == without(host, there[2]), arguments, here[2], there[2])
    status, out, err = run_at(host, "status", "--json")
    check(status == 0 and json.loads(out)["hostname"] == "here", "status", status, out, err)
    status, _, err = run_at(host, "mark", "new", "110")
    check(status == 0 and [m["name"] for m in daemon.marks] == ["new"], "mark", status, err)
    status, out, err = run_at(host, "top", "new", "--json")
    check(status == 0 and [w["id"] for w in json.loads(out)["windows"]] == [110], "top new", status, err)
    check(run("-H", ".", "--socket", daemon.path, "windows") == run("--socket", daemon.path, "windows"), "-H .")


def check_two(near, far):
    """Each window is its host's, wherever -H stands."""
    for arguments in ["-H", "near", "diff", "@-1", "-H", "far", "@-2"], ["diff", "@-1", "@-2", "-H", "near", "-H", "far"]:
        status, out, err = run(*arguments, "--json", PATH=client.path)
        check(status == 0, arguments, status, err)
        sides = json.loads(out) if status == 0 else {"old": [], "new": []}
        got = [[(w["id"], w["samples"]) for w in sides[side]] for side in ("old", "new")]
        want = [[(w["id"], w["samples"])] for w in (near.windows[-2], far.windows[-3])]
        check(got == want, arguments, got, want)
    status, out, err = run("diff", "@-1", "@-2", "-H", "near", "-H", "far", PATH=client.path)
    check(status == 0 and "near, window" in out and "far, window" in out, "whose windows?", out, err)
    status, out, err = run("flame", "@-1", "--diff", "@-2", "-H", "near", "-H", "far", "-o", "-", PATH=client.path)
    check(status == 0 and "<html" in out, "flame", status, err)


def fails(want, host, *arguments, **environment):
    status, out, err = run("-H", host, *arguments, **dict({"PATH": client.path}, **environment))
    check(status == 1 and not out and one_line(err) and host in err and want in err, host, arguments, status, out, err)


def check_failures(host, daemon):
    fails("ssh failed: ssh: Could not resolve", "nowhere.invalid", "status")
    fails("Connection refused", "closed", "top")
    fails("Permission denied", "stranger", "windows")
    fails(": near: the daemon is not running", host.name, "--socket", daemon.path + "'s none", "status")
    fails("cannot start ssh", host.name, "status", PATH="/nonexistent")
    host.install("echo 'unknown option --stdio-bridge' >&2; exit 2")
    fails("too old for -H", host.name, "status")
    host.install(r"printf 'one\n\033[31mtwo\n\n' >&2; exit 3")
    fails("?[31mtwo", host.name, "status")
    host.install("yes | head -c 3000000 >&2; echo the last >&2; exit 3")
    fails("the last", host.name, "status")
    host.install("echo Welcome to this host")
    fails("", host.name, "status")
    host.uninstall()
    fails("no branchctl there", host.name, "status")
    for arguments in (["status", "-H", "a", "-H", "b"], ["top", "-H", "a", "-H", "b"], ["top", "-H", "-oProxyCommand=x"],
                      ["top", "-H", ""], ["top", "-H", "a", "perf.data"], ["run", "-H", "a", "--", "true"],
                      ["diff", "-H", "a", "-H", "b", "@-1", "perf.data"], ["top", "-H", "a", "--socket", "here"],
                      ["diff", "-H", "a", "-H", "b", "-H", "c", "1", "2"]):
        status, out, err = run(*arguments, PATH=client.path)
        check(status == 2 and not out and one_line(err), arguments, status, out, err)


def check_following(path):
    """It ends with one line when the daemon does."""
    daemon = Daemon(recent(), path)
    with subprocess.Popen([branchctl, "-H", "far", "--socket", path, "windows", "--follow", "--json"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=dict(os.environ, PATH=client.path)) as process:
        check(process.stdout.readline() != "", "no windows come")
        daemon.vanish()
        _, err = process.communicate()
        check(process.returncode == 1 and one_line(err) and "far: the daemon closed" in err, process.returncode, err)


def bridges(folder):
    """The processes that pass on what is asked of the hosts."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as file:
            text = file.read()
            if b"--stdio-bridge" in text and folder.encode() in text:
                found.append(path)
    return found


ssh_hosts.skip_without_ssh()
with tempfile.TemporaryDirectory() as place, Daemon(recent(samples=100)) as first, Daemon(recent(20000, 300)) as second:
    (near_host, far_host, silent), client = ssh_hosts.start(place, ["near", "far", "silent"])
    for machine, served in (near_host, first), (far_host, second):
        # as if the daemon were at its usual place there
        machine.install(f'if [ $# -eq 1 ]; then exec {branchctl} "$1" {served.path}; else exec {branchctl} "$@"; fi')
    silent.install("exec sleep 1000")
    with subprocess.Popen([branchctl, "-H", "silent", "status"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, PATH=client.path)) as hangs:
        check_same("near", first)
        check_same("far", second)
        check_two(first, second)
        check_failures(near_host, first)
        check_following(place + "/third")
        _, said = hangs.communicate()
        check(hangs.returncode == 1 and one_line(said) and "silent: timed out" in said, hangs.returncode, said)
    for _ in range(600):
        if not bridges(os.path.dirname(first.path)) + bridges(os.path.dirname(second.path)):
            break
        time.sleep(0.1)
    else:
        check(False, "processes are left behind")
    for machine in near_host, far_host, silent:
        machine.stop()
    check(True)
finish()
