# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl flame in browsers: no error in the console, the widths of top --tree, zoom, search, a difference, hostile
names, intervals of estimated samples, a narrow window, and what is there without scripts."""

import json
import math
import os
import random
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../client"))
# pylint: disable=wrong-import-position
import mock_daemon
import perfdata
from chromium import Chromium
from firefox import Firefox
from harness import check, finish, run
from start import start

KERNEL = 0xffffffff81000000
HOSTILE = ["</script><script>window.taken=1</script>", '<img src=x onerror="window.taken=1">', "]]><!--",
           "<svg onload=window.taken=1>", "${window.taken=1}", "__proto__", "constructor", "<!--<script>"]
NAMES = ["f%d" % i for i in range(600)] + ["only_here", "grows"] + HOSTILE
ONLY, GROWS = 600, 601
PRESS = 'document.getElementById("graph").dispatchEvent(new KeyboardEvent("keydown", {key: "%s", bubbles: true}));'


def recording(path, seed, n, grown):
    """Random call chains in functions of NAMES, callees first; some are called by user code."""
    rng, records = random.Random(seed), []
    for i in range(n):
        depth, at, chain = rng.randrange(2, 25), 0, []
        for level in range(depth):
            at = rng.randrange(min(3 + 4 * level, 600)) if rng.random() < 0.35 else (7 * at + level) % 600
            chain.insert(0, KERNEL + 64 * (at + 1) + 1)
        leaf = ONLY if i % 10 == 0 else GROWS if i % 100 < grown else 602 + i % len(HOSTILE) if i % 9 == 0 else at
        if leaf == GROWS:
            chain = chain[-1:]
        chain.insert(0, KERNEL + 64 * (leaf + 1) + 1)
        if i % 3 == 0:
            chain.append(perfdata.BASE + 0x100)
        records.append(perfdata.sample(1000 * i, chain[0], chain=chain, misc=perfdata.KERNEL))
    perfdata.write(path, [perfdata.kernel(KERNEL, 0x100000, KERNEL), perfdata.comm(b"work</script>"),
                          perfdata.mapping(b"/no/such/<b>program</b>"), *records])


def add_path(totals, path, count):
    totals[path] = totals.get(path, 0) + count


def expected(file, kallsyms):
    """The samples of each path of names by top --tree, and its JSON."""
    document = json.loads(run("top", file, kallsyms, "--by", "stack", "--tree", "--json", "-n", "0")[1])
    totals, paths = {}, []
    for row in document["rows"]:
        frame = row["frame"]
        name = frame["symbol"] or "[" + os.path.basename(frame["object"]) + "]"
        paths.append((*(paths[row["parent"]] if row["parent"] is not None else ()), name))
        add_path(totals, paths[-1], row["total"])
    return totals


def about(browser):
    """What is said of the focus: its name, and what is below it."""
    name, *lines = browser.run('return document.getElementById("about").innerText').split("\n")
    return name, "\n".join(lines)


def press(browser, *keys):
    for key in keys:
        browser.run(PRESS % key)


def samples(text):
    found = re.search(r"([\d,]+) samples?\b", text)
    return int(found[1].replace(",", "")) if found else None


def check_walk(browser, totals):
    """The hottest path by keys, and all siblings on the way that are drawn."""
    path = ()
    press(browser, "Escape", "ArrowUp")
    while True:
        seen = []
        while not seen or about(browser)[0] != seen[-1]:
            name, text = about(browser)
            seen.append(name)
            if not check(samples(text) == totals.get((*path, name)), browser.program, path, name, text):
                return
            press(browser, "ArrowRight")
        press(browser, *["ArrowLeft"] * len(seen))
        path = (*path, about(browser)[0])
        press(browser, "ArrowUp")
        if about(browser)[0] == path[-1] or len(path) == 12:
            break
    check(len(path) > 3, browser.program, "a path of", len(path))


def check_zoom(browser, totals):
    """After Enter the node has the full width: the pointer at both ends of its row finds it."""
    press(browser, "Escape", "ArrowUp", "ArrowRight", "Enter")
    name = about(browser)[0]
    second = sorted((-n, path[0]) for path, n in totals.items() if len(path) == 1)[1][1]
    check(name == second, browser.program, "zooms to", name, "not", second)
    for where in "rect.left + 3", "rect.right - 20":
        seen = browser.run(
            'const box = document.getElementById("graph"), canvas = document.getElementById("canvas");'
            "const rect = canvas.getBoundingClientRect();"
            f'canvas.dispatchEvent(new MouseEvent("mousemove", {{clientX: {where}, clientY: rect.bottom - 27}}));'
            'return document.getElementById("tip").innerText;')
        check(seen.split("\n")[0] == name, browser.program, "zoomed", where, seen)
    press(browser, "Escape")
    check(about(browser)[0] == "all", browser.program, "Escape")


def search(browser, words):
    return browser.run(f'const field = document.getElementById("search"); field.value = {json.dumps(words)};'
                       'field.dispatchEvent(new Event("input")); return document.getElementById("found").textContent')


def check_search(browser, file, kallsyms):
    rows = json.loads(run("top", file, kallsyms, "--json", "-n", "0")[1])["rows"]
    share = next(row["total_percent"] for row in rows if row["symbol"] == "only_here")
    check(search(browser, "Only_Here") == f"{share:.2f} % matched", browser.program, search(browser, "only_here"), share)
    check(search(browser, "no such thing") == "0.00 % matched", browser.program, "nothing matches")
    check(search(browser, "") == "", browser.program, "search is cleared")


def check_page(browser, what):
    ready = browser.run("return document.body.dataset.ready")
    check(ready == "true", browser.program, what, "is not ready")
    check(not browser.errors, browser.program, what, str(browser.errors)[:2000])
    taken = browser.run("return [typeof window.taken, document.scripts.length, "
                        'document.querySelectorAll("img, b, svg").length - document.querySelectorAll("#about b").length]')
    check(taken == ["undefined", 2, 0], browser.program, what, "took names for markup", taken)
    browser.resize(400, 700)
    wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
    check(wide <= 0, browser.program, what, "is too wide by", wide)
    browser.resize(1200, 800)


def check_difference(browser):
    """Of all leaves, the one that was made to grow is beyond noise."""
    check(search(browser, "grows").endswith("matched"), browser.program, "search")
    press(browser, "Escape")
    text = about(browser)[1]
    check("old: " in text and "new: " in text, browser.program, text)


def check_deep(browser, folder, kallsyms):
    """A stack of 8,000 calls: it is searched, and the page scrolls from its start to its end."""
    chain = [KERNEL + 64 * (i % 600 + 1) + 1 for i in range(8000)]
    perfdata.write(folder + "/deep.data", [perfdata.kernel(KERNEL, 0x100000, KERNEL), perfdata.comm(b"deep"),
                                           perfdata.sample(1, chain[0], chain=chain, misc=perfdata.KERNEL)])
    run("flame", folder + "/deep.data", kallsyms, "-o", folder + "/deep.html")
    browser.open(folder + "/deep.html")
    check_page(browser, "deep.html")
    check(search(browser, "f0") == "100.00 % matched", browser.program, "deep", search(browser, "f0"))
    tall, seen = browser.run('const box = document.getElementById("graph"); return [box.scrollHeight, box.clientHeight]')
    check(tall == 8001 * 18 and seen < 800, browser.program, "deep", tall, seen)


def check_all_widths(browser, totals):
    """Every node of the tree, wide or not."""
    seen = {}
    for path, n in browser.run(
            'const all = [], visit = (node, path) => { for (const child of node.children.values()) {'
            "const here = [...path, child.name]; all.push([here, child.total[NEW]]); visit(child, here); } };"
            "visit(view.root, []); return all;"):
        add_path(seen, tuple(path), n)
    check(seen == totals, browser.program, "widths", len(seen), len(totals))
    check(len(totals) >= 10000, "only", len(totals), "frames")


def check_moved(browser):
    moved = browser.run("return build_tree('none').nodes.filter(node => node.moved).map(node => node.name)")
    check("grows" in moved, browser.program, "what grew is not marked", moved[:9])
    check("only_here" not in moved, browser.program, "what did not move is marked")


class Estimating(mock_daemon.Daemon):
    """Window 2 has fewer samples in work(). Where @captured is false, every count stands for three samples, and of those
    of work() a fifth were captured."""

    captured = True

    def _profile(self, parameters):
        reply = super()._profile(parameters)
        profile = reply["parameters"]["profile"]
        n, stacks = profile["counters"]["samples"], profile["stacks"]
        if parameters["first"] == 2:
            stacks["rows"][1][4] += 60
            stacks["rows"][2][4] -= 60
        if not self.captured:
            stacks["columns"].append("variance")
            for row in stacks["rows"]:
                row.append(4 * row[4] if row[3] == "0x1110" else 0)
            profile["counters"].update(samples_variance=2 * n, stacks_variance=sum(row[-1] for row in stacks["rows"]))
        return reply


def wilson(share, n):
    rest = 1 + 1.959964**2 / n
    middle = (share + 1.959964**2 / (2 * n)) / rest
    half = 1.959964 / rest * math.sqrt(share * (1 - share) / n + 1.959964**2 / (4 * n * n))
    return f"({100 * (middle - half):.2f} to {100 * (middle + half):.2f} %)"


def check_estimated(browser, folder):
    """Intervals and differences of samples that are estimated: of 400, 300 are in work(), called by main()."""
    with Estimating([mock_daemon.window(i, mock_daemon.LENGTH * i, 400) for i in (1, 2)]) as daemon:
        for captured, expected in (True, {"main": 1, "idle_\u017eofie": 1}), (False, {"main": 3 + 4, "idle_\u017eofie": 3}):
            daemon.captured = captured
            run("--socket", daemon.path, "flame", "1", "-o", folder + "/estimated.html")
            browser.open(folder + "/estimated.html")
            press(browser, "Escape", "ArrowUp")
            for name, unit in expected.items():
                seen, text = about(browser)
                share = 0.75 if name == "main" else 0.25
                check(seen == name and wilson(share, 400 / 2 / unit) in text, browser.program, name, unit, seen, text)
                press(browser, "ArrowRight")
            run("--socket", daemon.path, "flame", "1", "--diff", "2", "-o", folder + "/estimated.html")
            browser.open(folder + "/estimated.html")
            press(browser, "Escape", "ArrowUp")
            name, text = about(browser)
            check(name == "main" and "−15.00 points" in text and ("within noise" in text) != captured,
                  browser.program, captured, name, text)


def check_schemes(browser, folder):
    colors = []
    for scheme in "light", "dark":
        browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        colors.append(browser.run("return getComputedStyle(document.body).backgroundColor"))
    check(colors[0] != colors[1], browser.program, "has one scheme", colors)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(folder + "/flame.html")
    text = browser.run('return [document.getElementById("plain").open, document.getElementById("graph").hidden, '
                       'document.getElementById("plain").innerText]')
    check(text and text[0] and text[1] and "only_here" in text[2], browser.program, "without scripts", text)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def write_pages(folder, kallsyms):
    with open(folder + "/kallsyms", "w", encoding="ascii") as opened:
        opened.write("%x T _text\n" % KERNEL)
        for i, name in enumerate(NAMES, 1):
            opened.write("%x t %s\n" % (KERNEL + 64 * i, name))
    recording(folder + "/new.data", 1, 3000, 30)
    recording(folder + "/old.data", 2, 3000, 10)
    recording(folder + "/half.data", 1, 1450, 30)
    with open(folder + "/blank.html", "w", encoding="ascii") as opened:
        opened.write("<title>blank</title>")
    for arguments in (["half.data", "-o", "half.html"], ["new.data", "-o", "flame.html"], ["old.data", "--diff", "new.data", "-o", "diff.html"]):
        paths = [folder + "/" + word if "." in word else word for word in arguments]
        status, out, err = run("flame", *paths, kallsyms)
        check(status == 0 and out == "" and "wrote " in err, status, err)
    size = os.path.getsize(folder + "/flame.html") - len(page_data(folder + "/flame.html"))
    check(size < 300000, "the page has", size, "bytes beside its data")


def page_data(path):
    with open(path, encoding="utf-8") as opened:
        return opened.read().partition('id="data">')[2].partition("</script>")[0]


def measure(browser, file, frames):
    """Five times from the call that opens a page to its load event; the figures are for the documentation, and no test."""
    seconds = []
    for _ in range(5):
        browser.open(os.path.dirname(file) + "/blank.html")
        begun = time.monotonic()
        browser.open(file)
        seconds.append(time.monotonic() - begun)
    print(f"{browser.program}: {frames} frames, median of five {sorted(seconds)[2]:.2f} s,",
          *(f"{each:.2f}" for each in seconds))


def check_browser(kind, folder, kallsyms):
    browser = start(kind, folder)
    try:
        totals = expected(folder + "/new.data", kallsyms)
        measure(browser, folder + "/half.html", len(expected(folder + "/half.data", kallsyms)))
        measure(browser, folder + "/flame.html", len(totals))
        check_page(browser, "flame.html")
        check_walk(browser, totals)
        check_zoom(browser, totals)
        check_search(browser, folder + "/new.data", kallsyms)
        if kind is Chromium:  # it lets a test see the page's variables
            check_all_widths(browser, totals)
            check_schemes(browser, folder)
        check_deep(browser, folder, kallsyms)
        check_estimated(browser, folder)
        browser.open(folder + "/diff.html")
        check_page(browser, "diff.html")
        check_difference(browser)
        if kind is Chromium:
            check_moved(browser)
    finally:
        browser.close()


wanted = {"chromium": Chromium, "firefox": Firefox}[sys.argv[2]]
with tempfile.TemporaryDirectory() as place:
    symbols = "--kallsyms=" + place + "/kallsyms"
    write_pages(place, symbols)
    check_browser(wanted, place, symbols)
finish()
