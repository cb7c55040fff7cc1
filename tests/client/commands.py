# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is checked of branchctl run with the daemon and without."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from harness import branchctl, check, one_line, run

SPIN = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
LIMIT = 120  # seconds, for busy machines
NOBODY = 65534


def n_samples(out):
    found = re.search(r"^\S+: (\d+) samples? of", out, re.MULTILINE)
    return int(found[1]) if found else 0


def check_report(out, what, by):
    """@by: who sampled, the first line of the report."""
    for part in by, "samples of", "Functions", "FUNCTION", "Stacks", "TOTAL":
        check(part in out, what, "lacks", part, out)


def interrupt(script, number, *options):
    """Sends the signal to a run of @script, which has to begin with `echo begins`: status, stdout, stderr."""
    with subprocess.Popen([branchctl, "run", "-o", "-", *options, "--", "sh", "-c", script], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        check(process.stdout.readline() == b"begins\n", "it does not begin")
        time.sleep(0.5)  # of work; less would do
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    return process.returncode, out.decode(), err.decode()


def check_interrupted(by, *options):
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        status, out, err = interrupt("echo begins; while :; do :; done", number, *options)
        check(status == 128 + number, "status after an interrupt", number, status, err)
        check_report(out, "an interrupt", by)
    status, out, err = interrupt("echo begins; kill -STOP $$", signal.SIGTERM, *options)
    check(status == 128 + signal.SIGTERM, "status of what was stopped", status, out, err)


def ignored_signals(*options):
    """The set of a command that is run so."""
    out = run("run", *options, "--", "grep", "SigIgn", "/proc/self/status")[1]
    return out.splitlines()[:1]


def check_file(*options):
    """-o FILE: whole or as it was, and what is run does not notice it."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report")

        def report():
            check(os.listdir(folder) == ["report"], "beside the report:", os.listdir(folder))
            with open(path, encoding="utf-8") as file:
                return file.read()

        check(ignored_signals(*options, "-o", path) == ignored_signals(*options, "-o", "-"),
              "signals that the command ignores with -o", ignored_signals(*options, "-o", path))
        before = report()
        check("sampled by" in before, "a file:", before)
        for command, wanted in ("/not/there", 127), (folder, 126):
            status = run("run", *options, "-o", path, "--", command)[0]
            check(status == wanted and report() == before, "not executed:", status, report())
        with subprocess.Popen([branchctl, "run", *options, "-o", path, "--", "sh", "-c", "echo begins; while :; do :; done"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            check(process.stdout.readline() == b"begins\n", "it does not begin")
            time.sleep(0.5)  # of work, so that the report is another
            process.send_signal(signal.SIGHUP)
            process.communicate(timeout=LIMIT)
        check(process.returncode == 128 + signal.SIGHUP and report() != before, "after SIGHUP:", process.returncode)
        before = report()
        stubborn = "trap '' TERM HUP; echo begins; while :; do :; done"
        with subprocess.Popen([branchctl, "run", *options, "-o", path, "--", "sh", "-c", stubborn], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as process:
            check(process.stdout.readline() == b"begins\n", "it does not begin")
            process.kill()
            process.wait()
            check(report() == before, "killed before the report")
            os.killpg(process.pid, signal.SIGKILL)
        link, target = os.path.join(folder, "link"), os.path.join(folder, "target")
        os.symlink("target", link)
        run("run", *options, "-o", link, "--", "/not/there")
        check(os.path.islink(link) and not os.path.exists(target), "a link that leads nowhere, and no command")
        run("run", *options, "-o", link, "--", "true")
        check(os.path.islink(link) and os.path.getsize(target) > 0, "a link that leads nowhere yet", os.listdir(folder))
        os.unlink(link)
        os.unlink(target)
        nohup = ["nohup", branchctl, "run", *options, "-o", path, "--", "sh", "-c", "kill -HUP $PPID; kill -HUP $$; exit 5"]
        done = subprocess.run(nohup, stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT, check=False)
        check(done.returncode == 5, "under nohup:", done.returncode, done.stderr)
    status, _, err = run("run", *options, "-o", "/dev/full", "--", "sh", "-c", SPIN + "; exit 3")
    check(status == 1 and one_line(err.splitlines(True)[-1]) and "/dev/full: cannot write" in err, "a full disk:", status, err)


def check_other_user(*options):
    """A setuid program of root, run by a user who may not see its samples: one line says how many there should be."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        shell = os.path.join(folder, "shell")
        shutil.copy("/bin/sh", shell)
        os.chmod(shell, 0o4755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            return
        done = subprocess.run([branchctl, "run", "-o", "-", *options, "--", shell, "-p", "-c", SPIN], user=NOBODY, group=NOBODY,
                              extra_groups=[], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT,
                              check=False, cwd="/")
    out, err = done.stdout.decode(), done.stderr.decode()
    check(done.returncode == 0 and "samples are expected" in err, "setuid",
          done.returncode, out, err)


def check_not_run(folder, *options):
    """Commands that cannot be executed: one line, and the status that shells have for it."""
    for command, wanted in ("/not/there", 127), ("not-there-either", 127), ("", 127), (folder, 126):
        done = subprocess.run([branchctl, "run", "-o", "-", *options, "--", command], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=LIMIT, check=False)
        err = done.stderr.decode()
        check(done.returncode == wanted and not done.stdout and err.count("\n") == 1 and command in err, command,
              done.returncode, done.stdout, err)
