# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchd-ship with Format=otlp: what a collector of OpenTelemetry is sent, as protoc's reader has it, whatever the server answers.

    collector.py BRANCHCTL BRANCHD-SHIP"""

import collections
import gzip
import sys
import tempfile

import clickhouse  # noqa: F401: finds the folder of the next ones
import mock_daemon
import otlp
from acceptor import Acceptor
from harness import SKIPPED, check, finish
from ship_host import Host, wait_for

MESSAGES = otlp.compile_messages()
WHERE = "/v1development/profiles"


def configure(host, acceptor):
    with open(host.folder + "/ship.conf", "w", encoding="utf-8") as file:
        file.write(f"[Ship]\nUrl=http://127.0.0.1:{acceptor.port}{WHERE}\nFormat=otlp\nHost={host.name}\nSumSec=0\n")


def rejection(n):
    """What a server answers that takes a part only."""
    answer = MESSAGES.ExportProfilesServiceResponse()
    answer.partial_success.rejected_profiles = n
    answer.partial_success.error_message = "too many"
    return answer.SerializeToString()


def check_request(window, path, headers, body):
    """One window: its time, its samples by function and by unit, and whose they are."""
    request = otlp.Request(MESSAGES, gzip.decompress(body), path)
    check(path == WHERE and headers["Content-Type"] == "application/x-protobuf" and headers["Content-Encoding"] == "gzip", path, headers)
    check(request.resource == {"service.name": "branchd", "host.name": "one'host"}, request.resource)
    check(request.types()[0] == ("samples", "count"), request.types())
    profile = request.profiles[0]
    check((profile.time_unix_nano, profile.duration_nano) == (window["start_us"] * 1000, mock_daemon.LENGTH * 1000), profile.time_unix_nano)
    quarter = window["samples"] // 4
    want = +collections.Counter({"work": window["samples"] - quarter, "idle_žofie": quarter})
    check(request.by_function(profile) == want, request.by_function(profile), want)
    units = request.by_attribute(profile, "systemd.unit")
    check(units.total() == window["samples"] and "demo.service" in units, units)
    check(set(request.by_attribute(profile, "process.pid")) == {None}, "processes of a unit are one")
    return profile.profile_id


def check_requests(host, requests):
    check(len(requests) == len(host.closed), len(requests), len(host.closed))
    ids = [check_request(window, *request) for window, request in zip(host.closed, requests)]
    check(len(set(ids)) == len(ids), "two profiles have one identifier", ids)


if not MESSAGES:
    print("skipped: protobuf-compiler and python3-protobuf are not installed")
    sys.exit(SKIPPED)
with tempfile.TemporaryDirectory() as place:
    server = Acceptor()
    machine = Host(place, "one'host", server.port)
    configure(machine, server)
    server.status = 503
    machine.start()
    machine.close_windows(3)
    wait_for("a refusal", lambda: server.refused)
    machine.close_windows(2, 240)
    # an answer without a rejection, a warning alone among them
    server.status, server.answer = 200, b"\x0a\x08\x12\x06slowly"
    wait_for("all windows", lambda: machine.status().get("waiting_batches") == 0 and machine.status().get("sent_windows") == 5)
    check(machine.status()["dropped_windows"] == 0, machine.status())
    check_requests(machine, server.profiles)
    server.answer = rejection(1)
    machine.close_windows(1)
    wait_for("a rejection", lambda: machine.status().get("dropped_windows") == 1)
    check("rejected 1 profiles" in machine.status()["last_failure"], machine.status())
    server.answer = b"{}"  # JSON, as some servers have it
    machine.close_windows(1)
    wait_for("the next window", lambda: not machine.status().get("last_failure") and len(server.profiles) == 7)
    err = machine.stop()
    check("answered 503" in err and "the server rejected 1 profiles" in err, err)
    machine.daemon.close()
finish()
