# SPDX-License-Identifier: LGPL-2.1-or-later
"""The attacks: each begins one in a trial, and may return what to check after it."""
import contextlib
import os
import sqlite3
import subprocess
import time

import elf_files
from trial import ATTACKER, OTHER, VICTIM

ROWS = {}
PARSERS = 4  # that branchd has at a time


def row(**options):
    def add(function):
        ROWS[function.__name__.replace("_", "-")] = (function, options)
        return function
    return add


def make(trial, folder, maker, name="program", uid=ATTACKER, **options):
    """A file of the attacker's own."""
    path = maker(os.path.join(trial.folder(folder, uid), name), **options)
    for file in (path, path + ".debug"):
        if os.path.exists(file):
            os.chown(file, uid, uid)
    return path


def run_hot(trial, *files, uid=ATTACKER, options=(), **more):
    return trial.start([trial.program("hot-file"), *options, trial.seconds + 60, elf_files.CODE, *files], uid, **more)


@row()
def long_names(trial):
    run_hot(trial, make(trial, "long-names", elf_files.long_names))


@row()
def many_notes(trial):
    run_hot(trial, make(trial, "many-notes", elf_files.many_notes))


@row()
def debug_link(trial):
    run_hot(trial, make(trial, "debug-link", elf_files.debug_link))


@row()
def many_symbols(trial):
    run_hot(trial, *(make(trial, "many-symbols", elf_files.many_symbols, f"program-{i}") for i in range(12)))


@row(seconds=24)
def memory_files(trial):
    page = make(trial, "memory-files", elf_files.named, function="hostile")
    trial.start([trial.program("memfds"), 60000, trial.seconds + 60, elf_files.CODE, page])


def hang(trial, stop_server):
    page = make(trial, "hung", elf_files.named, function="hostile")
    place = trial.folder("mount")
    server = trial.start([trial.programs["hung-fuse"], place, page, ATTACKER], uid=0, stdout=subprocess.PIPE)
    trial.clean_ups.append(lambda: subprocess.run(["umount", "-l", place], check=False, stderr=subprocess.DEVNULL))
    trial.check(server.stdout.readline() == b"mounted\n", "the file system cannot be mounted")
    program = run_hot(trial, place + "/program", options=["--wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    trial.check(program.stdout.readline() == b"ready\n", "the program cannot be read")
    if stop_server:
        os.kill(server.pid, 19)
    program.stdin.write(b"\n")
    program.stdin.flush()


@row()
def hung_file_system(trial):
    hang(trial, stop_server=False)


@row()
def stopped_file_system(trial):
    hang(trial, stop_server=True)


class Opened:
    """Whether a file was opened: inotify tells, but for O_PATH."""

    OPEN = 0x20

    def __init__(self, *paths):
        import ctypes
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        for path in paths:
            if libc.inotify_add_watch(self.fd, path.encode(), self.OPEN) < 0:
                raise OSError(ctypes.get_errno(), path)

    def any(self):
        try:
            return bool(os.read(self.fd, 4096))
        except BlockingIOError:
            return False


@row()
def replaced_by_device(trial):
    """By a link to a device, and by a FIFO. The device is /dev/zero under a name that nobody else knows."""
    folder = trial.folder("replaced", ATTACKER)
    zero = os.path.join(trial.folder("devices"), "zero")
    os.mknod(zero, 0o20666, os.makedev(1, 5))
    os.chmod(zero, 0o666)
    pairs, watched = [], [zero]
    for i in range(8):
        program = make(trial, "replaced", elf_files.named, f"program-{i}", function="hostile")
        other = f"{folder}/other-{i}"
        if i % 2:
            os.symlink(zero, other)
            os.chown(other, ATTACKER, ATTACKER, follow_symlinks=False)
        else:
            os.mkfifo(other)
            os.chown(other, ATTACKER, ATTACKER)
            watched.append(other)
        pairs.append(f"{program}={other}")
    opened = Opened(*watched)
    run_hot(trial, *pairs)
    return lambda: trial.check(not opened.any(), "a device or FIFO was opened")


def names_of(rows):
    return {row["symbol"] for row in rows}


def all_windows(trial):
    windows = trial.closed_windows()
    return f"{windows[0]['id']}..{windows[-1]['id']}"


@row()
def setuid_program(trial):
    path = trial.program("two-phases", "setuid", to="setuid-two-phases")
    os.chmod(path, 0o4755)
    program = trial.start([path, 100])
    own = trial.start([trial.program("two-phases", "attacker", ATTACKER, "own-two-phases"), 100])

    def check():
        os.chmod(trial.socket, 0o666)
        seen = all_windows(trial)
        trial.check(trial.rows(program.pid, seen), "root does not see the setuid program")
        trial.check(trial.rows(own.pid, seen, uid=ATTACKER), "a user does not see their own program")
        processes = trial.top(seen, "--by", "process", "-n", "0", uid=ATTACKER)["rows"]
        trial.check({p["pid"] for p in processes} <= {own.pid, program.pid}, "a user sees others:", processes)
        trial.check(not any(p["executable"] == path for p in processes), "a user sees root's setuid program:",
                    processes)
    return check


@row()
def same_build_id(trial):
    """Of another user's file, and of root's libc; each file keeps its path and functions."""
    build_id = os.urandom(20)
    libc = next(line.split()[2] for line in subprocess.run(
        ["ldd", trial.programs["libc-user"]], capture_output=True, text=True, check=True).stdout.splitlines()
        if "libc.so" in line)
    mine = make(trial, "same-mine", elf_files.named, "mine", ATTACKER, function="of_attacker", build_id=build_id)
    other = make(trial, "same-other", elf_files.named, "other", OTHER, function="of_other", build_id=build_id)
    forged = make(trial, "same-forged", elf_files.named, "forged", ATTACKER, function="forged",
                  build_id=elf_files.build_id_of(libc))
    attacker, forger = run_hot(trial, mine), run_hot(trial, forged)
    time.sleep(1)
    victim = run_hot(trial, other, uid=OTHER)
    late = trial.victim("late-system", 0, "libc-user", ("rand", "random", "random_r"))

    def check():
        os.chmod(trial.socket, 0o666)
        seen = all_windows(trial)
        for uid, child, function, file in (
                (OTHER, victim, "of_other", other), (ATTACKER, attacker, "of_attacker", mine),
                (ATTACKER, forger, "forged", forged), (0, victim, "of_other", other)):
            rows = trial.rows(child.pid, seen, uid=uid)
            hot = [r for r in rows if (r["object"] or "").endswith(os.path.basename(file))]
            trial.check(hot and names_of(hot) == {function}, function, "is shown to", uid, "as", rows[:3])
        for uid, name in ((OTHER, b"same-mine"), (ATTACKER, b"same-other")):
            text = subprocess.run([trial.branchctl, "--socket", trial.socket, "dump", seen], capture_output=True,
                                  check=False, user=uid, group=uid, extra_groups=[]).stdout
            trial.check(name not in text, uid, "is shown the path of another user's file")
        rows = trial.rows(late.pid, seen)
        trial.check("forged" not in names_of(rows) and not any("forged" in (r["object"] or "") for r in rows),
                    "libc has names of a forged file:", rows[:3])
    return check


def damage(trial):
    """Overwrites pages of the database, all but the header."""
    path = os.path.join(trial.state, "branchd.db")
    with contextlib.closing(sqlite3.connect(path, timeout=10)) as database:
        # a write of somebody else: the daemon does not use the pages any more that it has in memory
        version, = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version={version}")
    with open(path, "r+b") as file:
        size = os.fstat(file.fileno()).st_size
        for page in range(1, size // 4096):
            file.seek(4096 * page)
            file.write(os.urandom(4096))
    for name in ("-wal",):
        if os.path.exists(path + name):
            with open(path + name, "r+b") as file:
                file.write(os.urandom(os.path.getsize(path + name)))


def wait_for(condition, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.2)
    return False


def set_aside(trial):
    return trial.call("GetStatus")["store"]["set_aside"]


def damage_and_wait(trial):
    """Whether the daemon begins another database."""
    before = set_aside(trial)
    damage(trial)
    return wait_for(lambda: set_aside(trial) != before, 15)


@row(seconds=24, damages_store=True)
def damaged_twice(trial):
    """Each time another database is begun. After one time more windows wait, and are stored when branchd ends."""
    trial.check(damage_and_wait(trial), "the first damaged database is still in use")
    time.sleep(3)
    trial.check(damage_and_wait(trial), "the second damaged database is still in use")

    def check():
        status = trial.call("GetStatus")
        trial.check(status["store"]["given_up"] == 0 and status["store"]["waiting"] <= 1, "windows are not stored:",
                    status["store"])
        trial.check(len(trial.closed_windows()) >= 2, "few windows are stored")
        check_waiting(trial)
    return check


def check_waiting(trial):
    for _ in range(3):
        if not damage_and_wait(trial):
            break
    status = trial.call("GetStatus")
    trial.check(any("renamed before" in text for text in status["problems"]), "nothing says why windows wait:",
                status["problems"])
    trial.check(wait_for(lambda: trial.call("GetStatus")["store"]["waiting"] >= 2, 15), "no windows wait")
    began = time.time()
    open_window = trial.call("GetProfile", {"first": 0})["windows"][0]
    trial.check(open_window["samples"] > 0, "the open window has no samples")
    try:
        trial.closed_windows()
        trial.check(False, "a damaged list of windows is shown")
    except OSError as error:
        trial.check("DatabaseDamaged" in str(error), "the answer is", error)
    trial.stop_daemon()
    trial.start_daemon()
    kept = [w for w in trial.closed_windows() if w["start_us"] < began * 1e6]
    trial.check(kept and kept[0]["start_us"] <= open_window["start_us"], "windows that waited are lost:", kept,
                open_window)


@row(seconds=30, config="MaxUse=48M\n")
def deep_recursion(trial):
    windows = trial.closed_windows()
    first, victim = windows[0], trial.victims["victim"][0]
    trial.start([trial.program("deep-stacks"), os.cpu_count(), trial.seconds + 60])

    def check():
        kept = [w for w in trial.closed_windows() if w["start_us"] <= first["start_us"]]
        trial.check(kept, "the first window is gone")
        rows = trial.rows(victim.pid, kept[0]["id"]) if kept else []
        trial.check({"red", "blue"} <= names_of(rows), "the first window does not have the victim:", rows[:4])
        trial.note("store:", trial.call("GetStatus")["store"])
    return check


@row(seconds=60, parser="attacked-parser", min_windows=4)
def attacked_parser(trial):
    """Files take over the parser of their owner's files: it attacks, answers wrongly, has its memory damaged."""
    folder, victim = trial.folder("goals", ATTACKER), trial.victims["victim"][0].pid
    marker, secret = f"{folder}/marker", f"{trial.folder('secrets')}/secret"
    with open(secret, "w", encoding="ascii") as file:
        file.write("secret")
    names = [f"attack:{verb}:{argument}" for verb, argument in (
        ("execve", marker), ("create", marker), ("open", secret), ("connect", trial.socket), ("kill", trial.daemon.pid),
        ("ptrace", victim), ("let-go", ""))]
    names += ["damage:memory:1", "damage:memory:2", "forgery:text:", "forgery:descriptors:"]
    run_hot(trial, *(make(trial, "attacks", elf_files.named, f"program-{i}", function=name)
                     for i, name in enumerate(names)))
    other = run_hot(trial, make(trial, "other", elf_files.named, "other", OTHER, function="of_other"), uid=OTHER)

    def check():
        trial.check(not os.path.exists(marker), "the parser made a file or executed a program")
        rows = trial.rows(other.pid, all_windows(trial))
        hot = [row for row in rows if (row["object"] or "").endswith("/other")]
        trial.check(hot and names_of(hot) == {"of_other"}, "another user's file is shown as", rows[:3])
        status = trial.call("GetStatus")
        trial.note("naming:", status["naming"])
        trial.check(wait_for(lambda: len(trial.helpers("branchd-parser")) <= PARSERS, 5),
                    "parsers outlive their connections:", trial.helpers("branchd-parser"))
    return check


@row(state_size="64M", seconds=20)
def small_disk(trial):
    """All files that are too large, with the state on a file system of 64 MiB."""
    for begin in (long_names, many_notes, debug_link, many_symbols):
        begin(trial)
    trial.start([trial.program("deep-stacks"), 1, trial.seconds + 60])


