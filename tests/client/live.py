# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl top, live, on a terminal: tmux is the terminal, a mock daemon the daemon."""

import os
import re
import shutil
import sys
import threading
import time

import mock_daemon
from harness import SKIPPED, branchctl, check, finish, run
from tmux import Terminal, is_reversed


manual = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../man/branchctl.1.scd")


def live(daemon, *arguments, **environment):
    return Terminal([branchctl, "--socket", daemon.path, "top", *arguments], **environment)


def check_views(terminal):
    terminal.shows("software of cpu-clock", "2 windows + the open one",
                   "[function]", "FUNCTION", "75.", "work", "idle_\u017eofie")
    for key, name, text in (("s", "stack", "main+0x10 (demo)"), ("t", "stream", "no branch records"),
                            ("b", "branch", "no branch records"),
                            ("i", "branch-site", "no branch records"),
                            ("k", "block", "no branch records"), ("p", "process", "EXECUTABLE"),
                            ("o", "object", "/usr/bin/demo"), ("l", "line", "LINE"),
                            ("u", "unit", "demo.service"), ("f", "function", "FUNCTION")):
        terminal.press(key)
        terminal.shows(f"[{name}]", text)
    terminal.press("s", ">")
    terminal.shows("by callers", "  TOTAL    SELF SAMPLES FUNCTION", "main (demo)", "work (demo)")
    terminal.press(">")
    terminal.shows("by callees", "  TOTAL SAMPLES FUNCTION")
    terminal.press("/")
    terminal.type("main")
    terminal.press("Enter")
    terminal.shows_not("idle")
    terminal.shows("work (demo)", "main (demo)")  # called by it
    terminal.press("/", "C-u", "Enter", ">")
    terminal.shows("by samples", "main+0x10 (demo)")
    terminal.press("f", ">")
    terminal.shows("by total")
    terminal.press("<")
    terminal.shows("by self")


def check_filter(terminal):
    terminal.press("/")
    terminal.type("comm=other")
    terminal.shows("filter: comm=other")
    terminal.press("Enter")
    terminal.shows_not("work")
    terminal.shows("100.00%", "idle_\u017eofie")
    terminal.answer("/", "pid=x")
    terminal.shows("give a number", "filter: comm=other")
    terminal.answer("/", "com=demo")
    terminal.shows("there is no filter com=; there are pid, uid, comm,", "filter: comm=other", "idle_")
    terminal.shows_not("work")
    terminal.answer("/", 'symbol="a')
    terminal.shows("a quote is not closed", "filter: comm=other")
    terminal.answer("/", "nobody")
    terminal.shows("filter: nobody", "no row has the words")
    terminal.answer("/", "WOR")
    terminal.shows_not("idle")
    terminal.shows("work")
    terminal.press("/", "C-u", "Enter")
    terminal.shows("work", "idle")


def check_refresh(terminal, daemon):
    """A second later there is more, unless it is paused."""
    daemon.windows[-1]["samples"] = 1007
    terminal.shows("1207 samples")
    terminal.press("Space")
    terminal.shows("paused")
    daemon.windows[-1]["samples"] = 2007
    time.sleep(2.5)
    check("1207 samples" in terminal.text(), "a pause changes")
    terminal.press("Space")
    terminal.shows("2207 samples")
    terminal.shows_not("paused")
    daemon.windows[-1]["samples"] = 7
    terminal.shows("207 samples")


def check_help(terminal):
    terminal.press("h")
    terminal.shows("by function, stack, stream", "Any other key leaves")
    check(all(len(line) <= 80 for line in terminal.text().splitlines()), "help is too wide")
    terminal.press("x")
    terminal.shows("[function]")


def check_sizes(terminal):
    terminal.resize(200, 50)
    terminal.shows("software of cpu-clock")
    terminal.press("C-l")
    terminal.shows("FUNCTION", "q quit")
    terminal.waits(lambda shown: "q quit" in shown.splitlines()[-1] and shown.count("\n") == 50,
                   "the keys are not in the last line of 50")
    terminal.resize(10, 3)
    terminal.resize(30, 8)
    terminal.press("s")
    terminal.shows("[stack]", "75.")
    terminal.press("Down", "Down", "NPage", "End", "Home", "Up")
    terminal.shows("[stack]")
    terminal.resize(80, 24)
    terminal.press("f")
    terminal.shows("[function]", "q quit")


def check_daemon_goes_and_comes(terminal, daemon):
    path, windows = daemon.path, daemon.windows
    daemon.vanish()
    terminal.shows("the daemon is not running", "work")
    os.unlink(path)
    terminal.press("+")
    terminal.shows("-15min", "the daemon is not running")
    terminal.answer("T", "@-x")
    terminal.shows("'@-x' is not a window", "work")
    terminal.answer("T", "yesterday")
    terminal.shows("yesterday", "the daemon is not running")
    terminal.press("T", "C-u", "Enter")
    with mock_daemon.Daemon(windows, path):
        terminal.shows("connected again")
        terminal.shows("q quit")
        terminal.shows_not("the daemon is not running")


def marked(terminal):
    """The line at the cursor, which is in reverse: not the name of a view in it."""
    lines = [line for line in terminal.text("-e").splitlines() if is_reversed(line)]
    return lines[-1] if lines else ""


def check_marked(terminal, text):
    terminal.waits(lambda _: text in marked(terminal), "not at the cursor:", text)


def check_cursor(terminal):
    terminal.press("f", "Home")
    check_marked(terminal, "work")
    terminal.press("Down")
    check_marked(terminal, "idle")
    terminal.press("Down", "Down", "NPage", "End")
    check_marked(terminal, "main")
    terminal.press("PPage")
    check_marked(terminal, "work")
    terminal.press("C-n", "C-n", "C-p")
    check_marked(terminal, "idle")
    terminal.press(">")  # another order begins at its first row
    check_marked(terminal, "work")
    terminal.press("<", "G")
    check_marked(terminal, "main")
    terminal.press("g")
    check_marked(terminal, "work")


def check_functions(terminal):
    """From a function to its calls, its instructions and its history, and back."""
    terminal.press("Enter")
    terminal.shows("[calls]", "work (demo)", "Callers", "Callees", "main (demo)")
    check_marked(terminal, "work")
    terminal.press("Enter")
    terminal.shows("this is the function itself")
    terminal.press("Down", "Enter")
    terminal.waits(lambda shown: "main (demo)" in shown.splitlines()[1], "not of main")
    terminal.shows("work (demo)")
    terminal.press("f")
    terminal.shows("f does nothing here")
    terminal.press("Tab")
    terminal.shows("[instructions]")
    terminal.press("Escape")
    terminal.waits(lambda shown: "work (demo)" in shown.splitlines()[1], "not back at work")
    terminal.press("a")
    terminal.shows("[instructions]", "in /usr/bin/demo: ", "no branch records")
    terminal.press("Right")
    terminal.shows("[history]", "work: ", "START")
    terminal.press("Left", "Left")
    terminal.shows("[calls]", "Callers")
    terminal.press("Escape")
    terminal.shows("[function]", "idle_")
    terminal.press("Escape")
    terminal.shows("nothing to go back to")
    terminal.press("x")
    terminal.shows("x does nothing")
    terminal.press("H")
    terminal.shows("[history]", "START")
    terminal.press("Escape")
    terminal.shows("[function]")


def check_narrowing(terminal):
    terminal.press("p", "Home", "Enter")
    terminal.shows("filter: pid=4711", "[function]")
    terminal.shows_not("idle_")
    terminal.press("Escape")
    terminal.shows("[process]", "other")
    terminal.shows_not("filter:")
    terminal.press("a")
    terminal.shows("that is of functions")
    terminal.press("l", "Enter")
    terminal.shows("the function of this line is not known")
    terminal.press("f")


def check_spans(terminal):
    terminal.press("+")
    terminal.shows("-15min: ", "FUNCTION", "work")
    terminal.shows_not("asking branchd")
    terminal.press("s")
    terminal.shows("-15min: ", "main+0x10 (demo)")
    terminal.press("f", "T")
    terminal.type("nonsense of a span")
    terminal.press("Enter")
    terminal.shows("nonsense of a span", "not a ", "-15min: ", "work")
    terminal.answer("T", "unmarked")
    terminal.shows("no mark is named 'unmarked'", "-15min: ", "work")
    for key, kind, text in ("Enter", "calls", "Callers"), ("a", "instructions", "no branch records"), ("H", "history", "START"):
        terminal.press(key)
        terminal.shows(f"[{kind}]", text)
        terminal.answer("T", "@-99")
        terminal.shows(f"[{kind}]", text, "there are", "-15min")
        terminal.answer("T", "@-x")
        terminal.shows(f"[{kind}]", text, "'@-x' is not a window", "-15min")
    terminal.press("Escape")
    terminal.shows("[function]", "-15min: ")
    terminal.press("T", "C-u", "Enter")
    terminal.shows_not("nonsense")
    terminal.shows("work", "q quit")


def check_old_windows():
    """Nothing was sampled in the last five minutes: a longer span is some keys away, and one can go back."""
    now = mock_daemon.now_us()
    old = [mock_daemon.window(5, now - 8 * 3600 * mock_daemon.SECOND)]
    with mock_daemon.Daemon(old) as daemon, live(daemon) as terminal:
        terminal.shows("no window in the last five minutes", "no data yet")
        terminal.press("+", "+")
        terminal.shows("-1h: ", "no window at")
        terminal.press("+", "+")
        terminal.shows("-1d: ", "work")
        terminal.press("-")
        terminal.shows("-6h: ", "no window at")
        terminal.answer("T", "@-x")
        terminal.shows("'@-x' is not a window", "-6h: ")
        terminal.press("T", "C-u", "Enter")
        terminal.shows("no window in the last five minutes")
        terminal.press("q")
        terminal.shows("ended with 0")


def check_windows_close(daemon):
    """The cursor follows idle when work is overtaken; the trend gets longer."""
    with live(daemon) as terminal:
        terminal.shows("TREND", "75.", "work", "\u2588")  # of the windows: the counts before have another order
        terminal.press("Down")
        check_marked(terminal, "idle")
        before = terminal.text()
        daemon.closed(mock_daemon.window(900, mock_daemon.now_us() // mock_daemon.LENGTH * mock_daemon.LENGTH, 5000))
        terminal.waits(lambda shown: shown != before and "4 windows" in shown, "no window closed")
        check_marked(terminal, "idle")
        terminal.press("q")


def check_no_utf8(daemon):
    """In a C locale all is ASCII, on 40, 80 and 200 columns, and no line is longer."""
    for columns in 40, 80, 200:
        command = ["env", "LC_ALL=C", branchctl, "--socket", daemon.path, "top", "--color=never"]
        with Terminal(command, columns=columns) as terminal:
            terminal.shows("work", "q quit", "TREND" if columns > 40 else "SELF")
            for keys in ["Enter"], ["a"], ["H"], ["Escape", "s"], ["h"]:
                terminal.press(*keys)
                terminal.shows_not("asking")
                text = terminal.text()
                check(all(len(line) <= columns for line in text.splitlines()), columns, keys, text)
                check(text.isascii(), columns, keys, "is not ASCII:", text)
            terminal.press("x", "q")
            terminal.shows("ended with 0")


def check_low(daemon):
    with live(daemon, rows=5) as terminal:
        terminal.shows("[function]", "work", "q quit")
        terminal.press("Down", "Enter")
        terminal.shows("[calls] idle")
        terminal.press("q")
        terminal.shows("ended with 0")


def check_manual():
    """All keys of the help are in the manual's table."""
    with open(manual, encoding="utf-8") as file:
        table = file.read().split("[[ *Key*")[1].split("\n\n")[0]
    keys = re.findall(r"\*([^*]+)\*", table)
    with live(shared, columns=200, rows=60) as terminal:
        terminal.press("h")
        terminal.shows("Any other key leaves", "Control-U")
        for line in terminal.text().splitlines():
            named = line[2:21].strip() if line.startswith("  ") else ""
            for key in re.split(r", | (?!up|down)", named):
                if key not in ("SELF", "TOTAL", "TREND", "Control-U", ""):
                    check(key in keys, "not in the manual:", key)


def check_quit(terminal):
    terminal.press("q")
    terminal.shows("ended with 0")


def check_colors(daemon):
    for arguments, environment, wanted in (([], {}, True), (["--color=never"], {}, False),
                                           ([], {"NO_COLOR": "1"}, False),
                                           (["--color=always"], {"NO_COLOR": "1"}, True)):
        with live(daemon, *arguments, **environment) as terminal:
            terminal.shows("work")
            colored = "\033[31m" in terminal.text("-e")
            check(colored == wanted, arguments, environment, "is coloured:", colored)
            terminal.press("q")
            terminal.shows("ended with 0")


def check_options(daemon):
    with live(daemon, "--by", "unit", "--comm", "demo") as terminal:
        terminal.shows("[unit]", "filter: comm=demo", "demo.service", "100.00%")
        terminal.press("C-c")
        terminal.shows("ended with 0")


def check_once(daemon):
    """What is asked for by name, or with --once, is printed and that is it."""
    for arguments in ["--once"], ["@-1"], ["@-1", "--by", "stack"]:
        with live(daemon, *arguments, PAGER="") as terminal:
            terminal.shows("samples of", "work", "ended with 0")


def check_no_terminal(daemon):
    status, out, err = run("--socket", daemon.path, "top")
    check(status == 0 and "FUNCTION" in out and "\033" not in out, status, err)
    with live(daemon, TERM="tmux") as terminal:
        terminal.shows("work")
    with Terminal(["env", "TERM=dumb", branchctl, "--socket", daemon.path, "top"]) as terminal:
        terminal.shows("FUNCTION", "ended with 0")
    with Terminal([branchctl, "--socket", "/nonexistent/io.branchd", "top"]) as terminal:
        terminal.shows("systemctl start branchd", "ended with 1")


def time_of_keys():
    """The seconds in which some keys are answered while the daemon answers nothing."""
    daemon = mock_daemon.Daemon(mock_daemon.recent())
    daemon._answer = lambda call, connection: time.sleep(1000)
    with daemon, live(daemon) as terminal:
        terminal.shows("no data yet")
        started = time.monotonic()
        terminal.press("b", "h")
        terminal.shows("by function, stack, stream")
        terminal.press("x", "q")
        terminal.shows("ended with 0")
        return time.monotonic() - started


def check_slow_daemon():
    """Keys do not wait for the daemon; a busy machine gets three tries."""
    check(any(time_of_keys() < 8 for _ in range(3)), "keys are slow")


class Late(mock_daemon.Daemon):
    """Answers with counts at once, which are others than those of the profile, and with the profile when it may."""

    def __init__(self):
        self.may = threading.Event()
        super().__init__(mock_daemon.recent(3), counts=True)

    def _profile(self, parameters):
        self.may.wait()
        return super()._profile(parameters)


def check_first_rows():
    """The first rows do not wait for whole windows; what needs those says so."""
    with Late() as daemon, live(daemon) as terminal:
        terminal.shows("[function]", "307 samples", "37.46%", "work")
        terminal.press("Down")
        terminal.press("s")
        terminal.shows("[stack]", "asking branchd")
        terminal.press("f")
        terminal.shows("37.46%")
        daemon.may.set()
        terminal.shows("75.", "work")
        terminal.press("s")
        terminal.shows("[stack]", "main+0x10 (demo)")


if not shutil.which("tmux"):
    print("skipped: tmux is not installed")
    sys.exit(SKIPPED)
with mock_daemon.Daemon(mock_daemon.recent()) as shared:
    check_colors(shared)
    check_options(shared)
    check_once(shared)
    check_no_terminal(shared)
    check_low(shared)
    check_manual()
check_slow_daemon()
check_first_rows()
check_old_windows()
with mock_daemon.Daemon(mock_daemon.recent(3), counts=True) as counting:
    check_windows_close(counting)
    check_no_utf8(counting)
shared = mock_daemon.Daemon(mock_daemon.recent(2), counts=True)  # neither is five minutes old before this ends
with live(shared) as screen:
    check_views(screen)
    check_filter(screen)
    check_cursor(screen)
    check_functions(screen)
    check_narrowing(screen)
    check_spans(screen)
    check_refresh(screen, shared)
    check_help(screen)
    check_sizes(screen)
    check_daemon_goes_and_comes(screen, shared)
    check_quit(screen)
finish()
