# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl top --host-list over real sshds: the sum of the hosts that answer, and which of them did not."""

import json
import os
import signal
import subprocess
import tempfile
import time

import ssh_hosts
from harness import branchctl, check, finish, one_line, run
from mock_daemon import Daemon, recent


def write_list(*lines):
    path = os.path.join(place, "hosts")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return path


def top(*arguments, **environment):
    return run("top", *arguments, **dict({"PATH": client.path}, **environment))


def rows(text, key):
    return {tuple(row[k] for k in key): row["self"] for row in json.loads(text)["rows"]}


def check_sum(hosts, daemons):
    """Each count is the sum of the hosts' own."""
    for by, key in ("function", ["symbol"]), ("unit", ["unit"]), ("object", ["object"]):
        want = {}
        for name in hosts:
            _, out, _ = run("-H", name, "top", "110..112", "--by", by, "--json", PATH=client.path)
            for row, n in rows(out, key).items():
                want[row] = want.get(row, 0) + n
        status, out, err = top("110..112", "--by", by, "--json", "--host-list", write_list("# all", "", *hosts))
        check(status == 0 and not err and want and rows(out, key) == want, by, status, err, out, want)
    answer = json.loads(out)
    check([host["host"] for host in answer["hosts"]] == hosts, "hosts", answer["hosts"])
    check(all(host["answered"] and host["took"] > 0 and host["error"] is None for host in answer["hosts"]), answer["hosts"])
    got = sorted((window["host"], window["id"], window["samples"]) for window in answer["windows"])
    wanted = sorted((name, w["id"], w["samples"]) for name, daemon in zip(hosts, daemons)
                    for w in daemon.windows if 110 <= w["id"] <= 112)
    check(got == wanted, "windows", got, wanted)
    check(answer["totals"]["samples"] == sum(n for _, _, n in wanted), answer["totals"])


def check_filter(hosts):
    status, out, err = top("110", "--pid", "4711", "--by", "process", "--json", "--host-list", write_list(*hosts))
    check(status == 0 and {row["comm"] for row in json.loads(out)["rows"]} == {"demo"}, status, out, err)


def check_silent():
    """Of four hosts one hangs and one does not exist; the others are shown."""
    path = write_list("near", "silent", "nowhere.invalid", "far")
    status, out, err = top("110", "--json", "--host-list", path, "--host-timeout", "5s")
    lines = err.splitlines()
    check(status == 1 and len(lines) == 2, status, err)
    check(any("silent: timed out" in line for line in lines) and any("nowhere.invalid: ssh failed" in line for line in lines), err)
    answer = json.loads(out)
    check([host["answered"] for host in answer["hosts"]] == [True, False, False, True], answer["hosts"])
    check([host["samples"] is None for host in answer["hosts"]] == [False, True, True, False], answer["hosts"])
    check(answer["rows"], "no rows")
    status, out, err = top("110", "--host-list", path, "--host-timeout", "5s")
    check(status == 1 and "2 of 4 hosts" in out and " s " in out and "near" in out and "silent" not in out, status, out, err)
    status, out, err = top("110", "--host-list", write_list("silent"), "--host-timeout", "1s")
    check(status == 1 and not out and one_line(err) and "silent: timed out" in err, status, out, err)
    status, out, err = top("110", "--host-list", write_list("closed", "stranger"))
    check(status == 1 and not out and one_line(err) and "none of 2 hosts answered: closed: " in err, status, out, err)


def asked(host):
    """The ssh processes that ask it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                words = file.read().split("\0")
        except OSError:
            continue
        if words[0].endswith("ssh") and place + "/ssh_config" in words and host in words:
            found.append(pid)
    return found


def wait_for(what, condition):
    for _ in range(300):
        if condition():
            return
        time.sleep(0.1)
    check(False, "waited in vain for", what)


def check_interrupted():
    """Ctrl-C ends the ssh processes, too."""
    with subprocess.Popen([branchctl, "top", "110", "--host-list", write_list("near", "silent"), "--host-timeout", "1h"],
                          env=dict(os.environ, PATH=client.path), stdout=subprocess.DEVNULL) as process:
        wait_for("ssh", lambda: asked("silent"))
        process.send_signal(signal.SIGINT)
    check(process.returncode == -signal.SIGINT, process.returncode)
    wait_for("the end of ssh", lambda: not asked("silent"))
    for pid in asked("silent"):
        os.kill(int(pid), signal.SIGKILL)


def check_flood():
    """A host that answers without end is one that failed; the other is shown."""
    silent_host.install("tr '\\0' a < /dev/zero")
    status, out, err = top("110", "--json", "--host-list", write_list("near", "silent"), "--host-timeout", "5min")
    check(status == 1 and one_line(err) and "silent: the reply is larger than 256 MiB" in err, status, err)
    check([host["answered"] for host in json.loads(out)["hosts"]] == [True, False], out)


def check_this_machine(daemon):
    status, out, err = top("110", "--json", "--host-list", write_list("."), "--socket", daemon.path)
    _, own, _ = run("--socket", daemon.path, "top", "110", "--json")
    check(status == 0 and json.loads(out)["rows"] == json.loads(own)["rows"], status, err)


def check_many():
    """More hosts than are asked at once; each is there once."""
    names = [f"user{i}@near" for i in range(40)]
    status, out, err = top("110", "--json", "--host-list", write_list(*names, "near"))
    answer = json.loads(out) if out else {"hosts": []}
    check(status == 1 and len(answer["hosts"]) == 41 and len(err.splitlines()) == 40, status, err)
    check([host["host"] for host in answer["hosts"] if host["answered"]] == ["near"], answer["hosts"])


def check_usage():
    for lines, want in ((["a", "a"], ":2: a is listed twice"), (["-oProxyCommand=x"], ":1: "), (["# none"], "no host in it"),
                        (["a b"], ":1: "), (["a", "b" * 600], ":2: "), (["#" * (5 << 20)], "larger than 4 MiB"),
                        (["a\0b"], "not a text")):
        status, out, err = top("--host-list", write_list(*lines))
        check(status == 1 and not out and one_line(err) and want in err, lines, status, out, err)
    status, out, err = top("--host-list", os.path.join(place, "none"))
    check(status == 1 and one_line(err) and "No such file" in err, status, err)
    path = write_list("near")
    for arguments in (["top", "-H", "a", "--host-list", path], ["diff", "1", "2", "--host-list", path],
                      ["top", "perf.data", "--host-list", path], ["top", "--host-timeout", "3s"],
                      ["top", "--host-list", path, "--socket", "here"]):
        status, out, err = run(*arguments, PATH=client.path)
        check(status == 2 and not out and one_line(err), arguments, status, out, err)


ssh_hosts.skip_without_ssh()
with tempfile.TemporaryDirectory() as place, Daemon(recent(samples=100)) as first, Daemon(recent(20000, 300)) as second:
    (near_host, far_host, silent_host), client = ssh_hosts.start(place, ["near", "far", "silent"])
    for machine, served in (near_host, first), (far_host, second):
        machine.install(f'if [ $# -eq 1 ]; then exec {branchctl} "$1" {served.path}; else exec {branchctl} "$@"; fi')
    silent_host.install("exec sleep 1000")
    check_sum(["near", "far"], [first, second])
    check_filter(["near", "far"])
    check_silent()
    check_interrupted()
    check_flood()
    check_this_machine(first)
    check_many()
    check_usage()
    for machine in near_host, far_host, silent_host:
        machine.stop()
finish()
