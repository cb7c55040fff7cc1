# SPDX-License-Identifier: LGPL-2.1-or-later
"""Who sees whose samples: identity.py BRANCHD PROGRAM runs both. Needs root and BPF, and is skipped without.

A user starts programs that act as another user, and programs that hide from him. He sees the samples of those
that perf would let him look into, and nothing of all others: no name, no path, no build-id.
"""
import os
import shutil
import subprocess
import sys

from service import Failures, ask, parameters_of, running, samples

USER, OTHER = 64201, 64202  # users that are nobody
SECONDS = 1  # of CPU, of each of two phases
SECRET = "confidential"
BRANCHD, PROGRAM = (os.path.abspath(path) for path in sys.argv[1:3])


def call(path, uid, method, **parameters):
    """The text of the reply to a user."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            with os.fdopen(writer, "wb") as pipe:
                pipe.write(ask(path, method, parameters).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        reply = pipe.read()
    os.waitpid(child, 0)
    return reply.decode()


def copy(place, folder, name, owner, mode):
    """The program under another name, which is its comm, with owner, group and mode."""
    folder = os.path.join(place, folder)
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    shutil.copy(PROGRAM, path)
    os.chown(path, *owner)
    os.chmod(path, mode)
    return path


# name: the folder, owner and mode of the file, who starts it, and whether that user sees it
PROGRAMS = {
    "own": ("own", (USER, USER), 0o755, USER, True),
    "roots-file": ("usr", (0, 0), 0o755, USER, True),
    "setuid-root": (SECRET, (0, 0), 0o4755, USER, False),
    "setuid-other": (SECRET, (OTHER, OTHER), 0o4755, USER, False),
    "setgid-other": (SECRET, (0, OTHER), 0o2755, USER, False),
    "unreadable": (SECRET, (0, 0), 0o711, USER, False),
    "others": ("a-" + SECRET, (OTHER, OTHER), 0o755, OTHER, False),
}


def run_programs(place):
    children = []
    for name, (folder, owner, mode, starter, _) in PROGRAMS.items():
        path = copy(place, folder, name, owner, mode)
        children.append(subprocess.Popen([path, str(SECONDS)], stdout=subprocess.DEVNULL, user=starter,
                                         group=starter, extra_groups=[], cwd="/"))
    return children


def names(profile):
    return {process["comm"] for process in profile["processes"] if process["samples"]}


def check_replies(failures, path, last):
    """Of stored windows and of the open one, as profiles and as functions."""
    both = {"first": 1, "last": 0}
    seen = parameters_of(call(path, 0, "GetProfile", **both))["profile"]
    failures.check(set(PROGRAMS) <= names(seen), f"root sees only {sorted(names(seen))}")
    for process in seen["processes"]:
        if process["comm"] not in PROGRAMS or not process["executable"]:
            continue
        name, (_, owner, mode, starter, visible) = process["comm"], PROGRAMS[process["comm"]]
        uid = owner[0] if mode & 0o4000 else starter
        failures.check(process["uid"] == uid, f"{name} is of user {process['uid']}, not {uid}")
        failures.check(process["restricted"] == (starter == USER and not visible),
                       f"{name}: restricted is {process['restricted']}")

    for parameters in both, {"first": last, "last": last}, {"first": 0, "last": 0}:
        text = call(path, USER, "GetProfile", **parameters)
        profile = parameters_of(text)["profile"]
        expected = {name for name, program in PROGRAMS.items() if program[4]} & names(seen)
        failures.check(names(profile) <= expected, f"the user sees {sorted(names(profile) - expected)}")
        if parameters == both:
            failures.check(expected <= names(profile), f"the user sees only {sorted(names(profile))}")
        failures.check(SECRET not in text, f"{parameters}: another user's path is in the profile")
        functions = call(path, USER, "GetFunctions", parts=1, **parameters)
        parameters_of(functions)
        failures.check(SECRET not in functions, f"{parameters}: another user's path is among the functions")
    text = call(path, OTHER, "GetProfile", **both)
    failures.check("others" in names(parameters_of(text)["profile"]), "the other user does not see their program")
    failures.check("setuid-other" not in text, "a setuid program is shown to its owner, who did not start it")
    failures.check("/own/" not in text, "the user's path is shown to the other user")


def main():
    if os.geteuid() != 0:
        print("skipped: sampling the machine needs root")
        return 77
    failures = Failures()
    with running(BRANCHD, "identity", 2) as (_, place, path):
        os.chmod(path, 0o666)
        if not samples(path):
            print("skipped: this machine cannot be sampled")
            return 77
        children = run_programs(place)
        for child in children:
            child.wait()
        windows = parameters_of(call(path, 0, "ListWindows"))["windows"]
        check_replies(failures, path, max(window["id"] for window in windows))
    return 1 if failures else 0


sys.exit(main())
