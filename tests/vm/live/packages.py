# SPDX-License-Identifier: LGPL-2.1-or-later
"""The packages of Debian, under systemd, in the guest: installed, used, upgraded, removed, purged."""

import glob
import gzip
import http.server
import json
import os
import subprocess
import threading
import unittest
import urllib.parse

from guest import answer, built, wait_for, write

PACKAGES = "/run/guest/scratch/packages/"
ALL = "branchd", "branchctl", "branchd-ship"
CONFIGURATION = "/etc/branchd/branchd.conf"
WRITTEN = "/run/guest/usr/upper"
# dpkg's and systemd's own
RECORDS = "/var/lib/dpkg/", "/var/log/", "/var/lib/systemd/", "/var/tmp/", "/etc/systemd/system/"
OTHERS = "/etc/branchd-other", "/var/lib/branchd-other", "/var/cache/branchd-other"
UNITS = "branchd.service", "branchd.socket", "branchd-events.socket", "branchd-opener.socket", "branchd-parser.socket"


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def dpkg(*arguments):
    done = run("dpkg", *arguments)
    print("$ dpkg", *arguments, "\n" + done.stdout + done.stderr, flush=True)
    assert done.returncode == 0, done.stderr


def states(*units):
    return run("systemctl", "is-active", *units).stdout.split()


def ask(*arguments):
    return json.loads(answer(lambda: run("branchctl", *arguments, "--json")))


def all_files():
    """With folders. Of /usr what was written since the start: start-systemd."""
    return {os.path.join(folder, name) for top in ("/etc", "/var", WRITTEN) for folder, folders, names in os.walk(top)
            for name in folders + names}


class Taker:
    """Takes what branchd-ship sends, as ClickHouse would; it is asked for no row but of what it has not."""

    def __init__(self):
        taken = self.taken = []  # what each insert of windows had

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query).get("query", [""])[0]
                body = self.rfile.read(int(self.headers["Content-Length"]))
                answer = b"" if query.startswith("INSERT") else b"0\n"
                if query.startswith("INSERT INTO branchd.windows_rows"):
                    taken.append(gzip.decompress(body).decode())
                self.send_response(200)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"


class Packages(unittest.TestCase):
    """In the order of their names: each goes on from the one before."""

    def test_1_install(self):
        type(self).before = all_files()
        dpkg("-i", *glob.glob(PACKAGES + "before/*.deb"))
        self.assertEqual(states(*UNITS), ["active"] * len(UNITS))
        self.assertEqual(run("systemctl", "is-enabled", *UNITS[:2]).stdout.split(), ["enabled"] * 2)
        self.assertEqual(os.stat("/var/lib/branchd").st_mode & 0o777, 0o750)
        self.assertEqual(states("branchd-ship"), ["inactive"])
        sampling = ask("status")["sampling"]
        self.assertEqual((sampling["running"], sampling["mode"]), (True, "stack+branch"), sampling)

    def test_2_use(self):
        os.makedirs("/etc/branchd/branchd.conf.d")
        write("/etc/branchd/branchd.conf.d/guest.conf", "[Sampling]\nFrequency=499\nCpuBudget=infinity\nKernel=no\n"
              "Units=phases.service\n[Store]\nWindowSec=1s\n[Symbols]\nRemoteFilesystems=yes\n")
        with open(CONFIGURATION, "a", encoding="ascii") as file:
            file.write("# of the administrator\n")
        self.assertEqual(run("systemctl", "reload", "branchd").returncode, 0)
        done = run("systemd-run", "--unit=phases", built("tests/live/two-phases"), "calls", "8000", "4")
        self.assertEqual(done.returncode, 0, done.stderr)
        def names():  # the installation took CPU time, too; none match before the first sample
            out = run("branchctl", "top", "-1h..", "--unit", "phases.service", "--json").stdout
            return {row["symbol"] for row in json.loads(out or '{"rows": []}')["rows"][:6]}
        wait_for(lambda: {"red", "blue"} <= names(), "the names of what runs")
        wait_for(lambda: "active" not in states("phases.service"), "the program ends")
        wait_for(lambda: sum(not w["open"] and w["samples"] > 0 for w in ask("windows")["windows"]) > 2,
                 "windows are stored")

    def test_3_ship(self):
        """Started by whoever has written its configuration."""
        taker = type(self).taker = Taker()
        write("/etc/branchd/ship.conf", f"[Ship]\nUrl={taker.url}\nSumSec=0\nBatchSec=1s\n")
        done = run("systemctl", "start", "branchd-ship")
        self.assertEqual(done.returncode, 0, done.stderr)
        wait_for(lambda: taker.taken, "windows are sent")
        self.assertEqual(states("branchd-ship"), ["active"])
        status = json.loads(run("branchd-ship", "--status", "--json").stdout)
        self.assertGreater(status["sent_windows"], 0, status)

    def closed(self):
        return [w for w in ask("windows")["windows"] if not w["open"] and w["samples"]]

    def test_4_upgrade(self):
        old = self.closed()
        between = f"{old[0]['id']}..{old[1]['id']}"
        rows = ask("top", between)["rows"]
        dpkg("-i", *glob.glob(PACKAGES + "*.deb"))
        versions = run("dpkg-query", "-W", "-f", "${Version} ", *ALL).stdout.split()
        self.assertTrue(all("before" not in version for version in versions), versions)
        self.assertEqual(states(*UNITS), ["active"] * len(UNITS))
        self.assertEqual(self.closed()[:len(old)], old)
        self.assertEqual(ask("top", between)["rows"], rows)
        with open(CONFIGURATION, encoding="ascii") as file:
            self.assertIn("# of the administrator\n", file)
        self.assertEqual(states("branchd-ship"), ["active"])
        taken = len(self.taker.taken)
        wait_for(lambda: len(self.taker.taken) > taken, "the new version sends windows")
        self.assertTrue(ask("status")["sampling"]["running"])

    def test_5_remove(self):
        dpkg("-r", *ALL)
        self.assertNotIn("active", states(*UNITS, "branchd-ship"))
        self.assertNotIn("/branchd", run("ps", "-e", "-o", "args").stdout.replace("/run/guest", ""))
        for path in CONFIGURATION, "/etc/branchd/ship.conf", "/etc/branchd/branchd.conf.d/guest.conf", "/var/lib/branchd/branchd.db":
            self.assertTrue(os.path.exists(path), path)
        left = {path for path in all_files() - self.before if path.startswith(WRITTEN) and "branch" in path}
        self.assertEqual(left, set())

    def test_6_purge(self):
        for folder in OTHERS:
            os.makedirs(folder, exist_ok=True)
            write(folder + "/file", "is not branchd's")
        dpkg("-P", *ALL)
        left = {path for path in all_files() - self.before if not path.startswith(RECORDS + OTHERS)}
        print("left:", *sorted(left), flush=True)
        self.assertEqual({path for path in left if "branch" in path}, set())
        self.assertEqual({folder for folder in OTHERS if os.path.exists(folder + "/file")}, set(OTHERS))
        self.assertEqual({path for path in self.before - all_files() if not path.startswith(RECORDS)}, set())


if __name__ == "__main__":
    unittest.main(verbosity=2, failfast=True)
