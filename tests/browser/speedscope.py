# SPDX-License-Identifier: LGPL-2.1-or-later
"""speedscope.app's own importer reads what branchctl exports: its table has the figures of branchctl top."""

import json
import os
import re
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../client"))
# pylint: disable=wrong-import-position
import perfdata
from chromium import Chromium
from harness import check, finish, run
from hot_functions import mapping, sample, write_names
from npm import install
from start import start

NAMES = ["parse", "read_line", "hash<int>::find(int)", "insert", "main"]


def recording(folder):
    write_names(folder + "/kallsyms", NAMES)
    perfdata.write(folder + "/work.data", [mapping(), perfdata.comm(b"work"), *map(sample, range(1, 1001))])
    return [folder + "/work.data", "--kallsyms=" + folder + "/kallsyms"]


def wait_for(browser, script, what):
    for _ in range(300):
        value = browser.run(script)
        if value:
            return value
        time.sleep(0.1)
    raise TimeoutError(what)


def table(page, file, folder):
    """Total and self by function, as the importer's table has them."""
    browser = start(Chromium, folder)
    try:
        browser.open(page)
        wait_for(browser, 'return document.querySelector("input[type=file]") !== null', "the page")
        root = browser.call("DOM.getDocument")["root"]["nodeId"]
        field = browser.call("DOM.querySelector", nodeId=root, selector="input[type=file]")["nodeId"]
        browser.call("DOM.setFileInputFiles", nodeId=field, files=[file])
        wait_for(browser, 'return document.body.innerText.includes("Sandwich")', "the file")
        browser.run('for (const kind of ["keydown", "keypress"])'
                    'window.dispatchEvent(new KeyboardEvent(kind, {key: "3", bubbles: true}))')
        words = json.dumps(["Symbol Name", *(name.split("(")[0] for name in NAMES)])
        text = wait_for(browser, f"const text = document.body.innerText; return {words}.every(word => "
                        "text.includes(word)) && text", "the table")
    finally:
        browser.close()
    rows = re.findall(r"([\d,]+) \([\d.]+%\)\s+([\d,]+) \([\d.]+%\)\s+(\S[^\n]*)", text)
    return {name: tuple(int(number.replace(",", "")) for number in (total, self)) for total, self, name in rows}


where = install("speedscope@1.25.0", "dist/release/index.html")
with tempfile.TemporaryDirectory() as place:
    source = recording(place)
    wanted = {row["symbol"]: (row["total"], row["self"])
              for row in json.loads(run("top", *source, "--json", "-n", "0")[1])["rows"]}
    check(len(wanted) == len(NAMES), wanted)
    for name in "folded", "speedscope", "pprof":
        output = os.path.join(place, name)
        status, _, err = run("export", "--format", name, *source, "-o", output)
        check(status == 0, name, err)
        seen = table(where, output, tempfile.mkdtemp(dir=place))
        check(all(seen.get(key) == row for key, row in wanted.items()), name, seen, wanted)
        print(name, seen)
finish()
