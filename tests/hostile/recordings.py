# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl on recordings of strangers: recordings.py CASE BRANCHCTL."""
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "client"))

import elf_files  # noqa: E402
import perfdata  # noqa: E402

MAX_BYTES = 256 << 20
MAX_SECONDS = 30
N_SAMPLES = 100


def memory_of(pid):
    """Of a process and its children, in bytes."""
    total = 0
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            total += sum(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            total += sum(memory_of(child) for child in file.read().split())
    except OSError:
        pass
    return total


def run(branchctl, folder, *arguments):
    """Status, both outputs, the most memory of all its processes, and seconds."""
    began, most = time.monotonic(), 0
    with open(folder + "/out", "w+b") as out, open(folder + "/err", "w+b") as err:
        child = subprocess.Popen([branchctl, "top", *arguments], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            most = max(most, memory_of(child.pid))
            if time.monotonic() > began + 10 * MAX_SECONDS:
                child.kill()
            time.sleep(0.01)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return (child.returncode, out.read().decode(), err.read().decode(), max(most, usage.ru_maxrss << 10),
                time.monotonic() - began)


def samples():
    return [perfdata.sample(1000 * i, perfdata.BASE + elf_files.CODE + i % 4) for i in range(1, N_SAMPLES)]


def file_in_recording(branchctl, folder, maker):
    """Recordings that name a hostile file cost no more than others."""
    program = maker(os.path.join(folder, "program"))
    perfdata.write(folder + "/perf.data", [perfdata.mapping(program.encode()), *samples()])
    status, out, err, memory, seconds = run(branchctl, folder, folder + "/perf.data")
    print(f"{memory >> 20} MiB, {seconds:.1f} s, status {status}", out, err)
    return status == 0 and "program" in out and memory <= MAX_BYTES and seconds <= MAX_SECONDS


def unknown_records(branchctl, folder):
    """Records of unknown types are counted and shown, and the samples beside them are kept."""
    program = elf_files.named(os.path.join(folder, "program"), "known")
    unknown = [perfdata.record(kind, 0, bytes(16) + perfdata.trailer(500)) for kind in (40, 60, 63, 90, 1000)] * 7
    perfdata.write(folder + "/perf.data", [perfdata.mapping(program.encode()), *unknown, *samples()])
    status, out, err, _, _ = run(branchctl, folder, folder + "/perf.data")
    print(f"status {status}", out, err)
    return status == 0 and "known" in out and re.search(r"\b35\b.*unknown|unknown.*\b35\b", out + err) is not None


CASES = {
    "long-names": lambda *where: file_in_recording(*where, elf_files.long_names),
    "many-notes": lambda *where: file_in_recording(*where, elf_files.many_notes),
    "debug-link": lambda *where: file_in_recording(*where, elf_files.debug_link),
    "many-symbols": lambda *where: file_in_recording(*where, elf_files.many_symbols),
    "unknown-records": unknown_records,
}


def main():
    case, branchctl = sys.argv[1], os.path.abspath(sys.argv[2])
    failed = 0
    for name in CASES if case == "all" else [case]:
        with tempfile.TemporaryDirectory() as folder:
            if not CASES[name](branchctl, folder):
                print("FAILED:", name)
                failed += 1
    sys.exit(1 if failed else 0)


main()
