# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl metrics as Debian's Prometheus sees it: promtool's checks, a scrape, and the alert rules."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

import mock_daemon
from harness import SKIPPED, check, finish, run
from ssh_hosts import free_port

RULES, RULES_TEST = sys.argv[2], sys.argv[3]
NAMES = ["same", "same", 'quo"te', "back\\slash", "line\nfeed", "caf\u00e9" * 500] + [f"function {i}" for i in range(1000)]


def read(*arguments):
    status, out, err = run("--socket", daemon.path, "metrics", *arguments)
    check(status == 0 and not err, arguments, status, err)
    return out


def strange(samples):
    """Functions whose names are hard to write."""
    profile = usual(samples)
    profile["functions"] = [{"object": 0, "start": hex(4096 + 16 * i), "size": 16, "fingerprint": None, "name": name}
                            for i, name in enumerate(NAMES)]
    profile["stacks"]["rows"] = [[None, 0, 0, hex(4096 + 16 * i), 5, 0, 5, 0] for i in range(len(NAMES))]
    return profile


def promtool(*arguments, text=None):
    done = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True, check=False)
    check(done.returncode == 0, arguments, done.stdout, done.stderr)


class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = read().encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format, *arguments):
        pass


def ask(port, path, **parameters):
    url = f"http://127.0.0.1:{port}/api/v1/{path}?" + urllib.parse.urlencode(parameters)
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]
    except OSError:
        return None


def wait_for(what, condition):
    for _ in range(600):
        if condition():
            return True
        time.sleep(0.1)
    return check(False, "waited in vain for", what)


def result(port, query):
    data = ask(port, "query", query=query)
    return {tuple(sorted((k, v) for k, v in row["metric"].items() if k not in ("__name__", "job", "instance"))):
            float(row["value"][1]) for row in data["result"]} if data else {}


def check_scrape():
    """Prometheus scrapes it as OpenMetrics, has the values, and takes the rules."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    port, config = free_port(), os.path.join(place, "prometheus.yml")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [os.path.abspath(RULES)],
                   "scrape_configs": [{"job_name": "branchd",
                                       "static_configs": [{"targets": [f"127.0.0.1:{server.server_port}"]}]}]}, file)
    with open(os.path.join(place, "log"), "w", encoding="utf-8") as log, subprocess.Popen(
            ["prometheus", "--config.file", config, "--storage.tsdb.path", os.path.join(place, "data"),
             "--web.listen-address", f"127.0.0.1:{port}"], stdout=log, stderr=log) as prometheus:
        if wait_for("a scrape", lambda: result(port, "branchd_up == 1")):
            check(result(port, "branchd_samples_total") == {(): 1010}, result(port, "branchd_samples_total"))
            check(result(port, "sum(branchd_samples_lost_total)") == {(): 13}, result(port, "sum(branchd_samples_lost_total)"))
            shares = result(port, "branchd_function_share_ratio")
            check(any(("function", "work") in labels for labels in shares), shares)
            targets = ask(port, "targets")["activeTargets"]
            check([(t["health"], t["lastError"]) for t in targets] == [("up", "")], targets)
            metadata = ask(port, "metadata", metric="branchd_samples") or {}
            check(metadata.get("branchd_samples", [{}])[0].get("type") == "counter", metadata)
            groups = ask(port, "rules")["groups"]
            wait_for("the rules", lambda: all(rule["health"] == "ok" for group in ask(port, "rules")["groups"]
                                              for rule in group["rules"]))
            check(groups and groups[0]["rules"], groups)
        prometheus.terminate()
    server.shutdown()


if not shutil.which("prometheus") or not shutil.which("promtool"):
    print("skipped: no prometheus and promtool here")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as place, mock_daemon.Daemon(mock_daemon.recent()) as daemon:
    promtool("check", "metrics", text=read("--format", "prometheus"))
    promtool("check", "rules", RULES)
    promtool("test", "rules", RULES_TEST)
    check_scrape()
    usual, mock_daemon.profile = mock_daemon.profile, strange
    promtool("check", "metrics", text=read("-n", "1000", "--format", "prometheus"))
finish()
