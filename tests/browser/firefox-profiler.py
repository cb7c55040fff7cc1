# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Firefox Profiler's own command line reads what branchctl exports for it: each thread has the functions of
branchctl top of that process, with the same samples."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../client"))
# pylint: disable=wrong-import-position
import perfdata
from harness import check, finish, run
from hot_functions import mapping, sample, write_names
from npm import install
from start import skip

NAMES = ["parse", "read_line", "hash<int>::find(int)", "</script><b>", "main"]
COMMS = {perfdata.PID: "work", perfdata.PID + 1: '<i>"2\\'}
SECONDS = 120  # for its first answer


def recording(folder):
    """Two processes; functions of the kernel, and code without symbols of a file that is not there."""
    write_names(folder + "/kallsyms", NAMES)
    processes, samples = [mapping()], []
    for pid, name in COMMS.items():
        perfdata.PID = pid
        processes += [perfdata.comm(name.encode()), perfdata.mapping(b"/no/such/server")]
        samples += [sample(i, [perfdata.BASE + 0x100]) for i in range(1, 500 + pid % 2)]
    perfdata.write(folder + "/work.data", processes + samples)
    return [folder + "/work.data", "--kallsyms=" + folder + "/kallsyms"]


def named(row):
    return row["symbol"] or "[" + os.path.basename(row["object"]) + "]"


def expected(source, pid):
    """Self and total samples, and the object, by the name of the function."""
    rows = json.loads(run("top", *source, "--pid", str(pid), "--json", "-n", "0")[1])["rows"]
    return {named(row): (row["self"], row["total"], os.path.basename(row["object"])) for row in rows}


def can_run():
    """What profiler-cli is written for; Debian 12's own node is older."""
    if not shutil.which("node"):
        return False
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return int(version.strip("v").partition(".")[0] or 0) >= 20


class Profiler:
    """Its server, which holds the profile, and the questions to it."""

    def __init__(self, program, file, folder):
        self.command = [shutil.which("node"), program]
        self.environment = dict(os.environ, PROFILER_CLI_SESSION_DIR=folder, PROFILER_CLI_NO_SYMBOLICATE="1")
        self.server = subprocess.Popen([*self.command, "--daemon", file, "--session", "test"], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def ask(self, *words):
        done = subprocess.run([*self.command, *words, "--json", "--session", "test"], env=self.environment,
                              capture_output=True, text=True, check=False)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def threads(self):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self.server.poll() is None:
            answer = self.ask("thread", "list")
            if answer:
                return answer["threads"]
            time.sleep(0.2)
        return None

    def close(self):
        self.server.kill()
        return self.server.communicate()[1].decode()


def check_thread(profiler, thread, source):
    pid = int(thread["pid"])
    rows = profiler.ask("thread", "functions", "--thread", thread["threadHandle"])["functions"]
    seen = {row["name"]: (row["selfSamples"], row["totalSamples"], row.get("library")) for row in rows}
    wanted = expected(source, pid)
    check(thread["name"] == COMMS[pid], thread)
    check(len(wanted) == len(NAMES) + 1 and seen == wanted, pid, seen, wanted)
    print(thread["name"], seen)


def check_format(program, source, folder):
    file = folder + "/profile.json"
    status, _, err = run("export", "--format", "firefox", *source, "-o", file)
    check(status == 0, err)
    profiler = Profiler(program, file, folder)
    try:
        threads = profiler.threads()
        if check(threads is not None, "the profile is not loaded") and check(len(threads) == len(COMMS), threads):
            for thread in threads:
                check_thread(profiler, thread, source)
    finally:
        said = profiler.close()
    check(not said, said)


if not can_run():
    skip("node 20 or newer is not installed")
where = install("@firefox-devtools/profiler-cli@0.10.0", "dist/profiler-cli.js")
with tempfile.TemporaryDirectory() as place:
    check_format(where, recording(place), place)
finish()
