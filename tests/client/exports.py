# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl export: every format has the samples of branchctl top, as readers of the format see them."""

import collections
import glob
import gzip
import json
import os
import re
import shutil
import subprocess
import tempfile
from html import parser as html_parser
from xml.etree import ElementTree

import otlp
import perfdata
from harness import branchctl, check, finish, one_line, recordings_folder, run
from stackcollapse import Stacks
from terminal_session import TERMINAL, run_on_terminal

HOSTILE = [b'<script>alert("1")</script>', b"]]>--></style>&amp;'`${x}", b"a;b;c", b"\\", b"\x1b]0;x\x07\x7f", b"\xff\xfe\x80",
           b"\xed\xa0\x80\xed\xbf\xbf", b"\xf4\x90\x80\x80", b"\xc0\xaf\xe0\x80\xaf", b"\xe2\x80\xa8\xe2\x80\xa9", b"\xc2\x85\xc2",
           b"\xc3\xa9\xf0\x9f\x94\xa5", b"x" * 4096, b"(1)", b"fn=(2)", b"12", b"%s%n", b"__proto__"]
BINARY = ["pprof", "otlp"]
FORMATS = ["folded", "pprof", "otlp", "speedscope", "firefox", "perf-script", "callgrind", "html", "svg"]
SVG_TAGS = ["svg", "title", "style", "defs", "pattern", "path", "rect", "g", "text"]
SVG = "{http://www.w3.org/2000/svg}"


def expected(path):
    """Self samples by the name of the function, and the sum of all."""
    document = json.loads(run("top", path, "--json", "-n", "0")[1])
    names = collections.Counter()
    for row in document["rows"]:
        if row["symbol"]:
            names[row["symbol"]] += row["self"]
    return +names, document["totals"]["samples"], document["totals"]["weight"] or document["totals"]["samples"]


def export(path, name, folder):
    file = os.path.join(folder, name)
    status, out, err = run("export", "--format", name, path, "-o", file)
    check(status == 0 and out == "", path, name, status, err)
    return file


def text_of(file):
    with open(file, encoding="utf-8") as opened:
        return opened.read()


def folded(file):
    names = collections.Counter()
    for line in text_of(file).removesuffix("\n").split("\n"):
        stack, _, n = line.rpartition(" ")
        names[stack.rpartition(";")[2]] += int(n)
    return names


def speedscope(file):
    document = json.loads(text_of(file))
    profile, names = document["profiles"][0], collections.Counter()
    for stack, n in zip(profile["samples"], profile["weights"], strict=True):
        names[document["shared"]["frames"][stack[-1]]["name"]] += n
    check(sum(profile["weights"]) == profile["endValue"], file, "endValue")
    return names


def firefox(file):
    names = collections.Counter()
    for thread in json.loads(text_of(file))["threads"]:
        for table in "samples", "stackTable", "frameTable", "funcTable":
            columns = [column for column in thread[table].values() if isinstance(column, list)]
            check(all(len(column) == thread[table]["length"] for column in columns), file, table)
        for i, prefix in enumerate(thread["stackTable"]["prefix"]):
            check(prefix is None or prefix < i, file, "a prefix comes later")
        for stack, n in zip(thread["samples"]["stack"], thread["samples"]["weight"], strict=True):
            func = thread["frameTable"]["func"][thread["stackTable"]["frame"][stack]]
            names[thread["stringArray"][thread["funcTable"]["name"][func]]] += n
    return names


def html(file):
    """The page's data; nothing else in it may be a script, or a tag that a name has made."""
    names, tags = collections.Counter(), collections.Counter()
    parser = html_parser.HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.update([tag])
    parser.feed(text_of(file))
    check(tags["script"] == 2 and tags["body"] == 1 and tags["details"] == 1 and not tags.keys() & {"img", "svg", "i", "b"},
          file, tags)
    (side,) = json.loads(re.search(r'id="data">(.*?)</script>', text_of(file), re.S)[1])["sides"]
    for i, (parent, frame, process, n) in enumerate(side["rows"]):
        check(parent is None or parent < i, file, "a caller comes later")
        check(process is None or len(side["processes"][process]) == 3, file, "a process")
        names[side["frames"][frame][0]] += n
    return names


def svg(file, *recording):
    """Whole XML; the lowest frames are the roots of top --tree, but for those below 0.1 %."""
    document = json.loads(run("top", *recording, "--by", "stack", "--tree", "--json", "-n", "0")[1])
    samples = document["totals"]["samples"]
    wanted = [row["total"] for row in document["rows"] if row["depth"] == 0 and 1000 * row["total"] >= samples]
    root = ElementTree.parse(file).getroot()
    frames = [group for group in root.iter(SVG + "g")]
    check({element.tag for element in root.iter()} <= {SVG + tag for tag in SVG_TAGS}, file, "tags")
    lowest = max(float(group.find(SVG + "rect").get("y")) for group in frames)
    seen = [int(re.search(r": (\d+) samples?", group.find(SVG + "title").text)[1]) for group in frames
            if float(group.find(SVG + "rect").get("y")) == lowest]
    check(seen == wanted, file, "samples of the lowest frames", seen, wanted)


READERS = [("folded", folded), ("speedscope", speedscope), ("firefox", firefox), ("html", html)]


def tell(path, name, acceptor, seen, top):
    """Figures for the documentation."""
    print(f"{os.path.basename(os.path.dirname(path))}, {name}: {acceptor} {seen}, top {top}")


def check_script(file, weight):
    """As stackcollapse reads it, by the period of each stack."""
    stacks = Stacks(text_of(file))
    check(not stacks.strange, file, "lines that are no perf script", stacks.strange[:3])
    check(stacks.weights.total() == weight, file, "periods", stacks.weights.total(), weight)
    return stacks


def check_perf(path, ours):
    """perf script's own text of the recording, read in the same way: the same periods of each process."""
    if not shutil.which("perf"):
        return "perf script"
    text = subprocess.run(["perf", "script", "--ns", "-F", "comm,pid,tid,time,period,event,ip,sym,symoff,dso", "-i", path],
                          capture_output=True, check=True).stdout.decode(errors="replace")
    theirs = Stacks(text)
    check(not theirs.strange and theirs.pids == ours.pids, path, "periods by process", theirs.pids, ours.pids)
    tell(path, "perf-script", f"perf script's periods, {len(theirs.pids)} pids,", theirs.weights.total(),
         ours.weights.total())
    return None


def check_callgrind(path, file, samples):
    if not shutil.which("callgrind_annotate"):
        return "callgrind_annotate"
    out = subprocess.run(["callgrind_annotate", file], capture_output=True, text=True, check=True).stdout
    total = re.search(r"^\s*([\d,]+).*PROGRAM TOTALS", out, re.M)
    if check(total and int(total[1].replace(",", "")) == samples, file, "total of callgrind_annotate"):
        tell(path, "callgrind", "callgrind_annotate", total[1], samples)
    return None


def check_pprof(file, names, samples):
    with gzip.open(file) as opened:
        check(len(opened.read()) > 0, file)
    if not shutil.which("go"):
        return "go tool pprof"
    done = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-top", "-nodecount=1000000", "-nodefraction=0",
                           "-edgefraction=0", file], capture_output=True, text=True, check=False,
                          env=dict(os.environ, PPROF_TMPDIR=os.path.dirname(file)))
    if not check(done.returncode == 0, file, done.stderr):
        return None
    total = re.search(r" of (\d+) total", done.stdout)
    seen = collections.Counter()
    for line in done.stdout.partition("flat%")[2].removesuffix("\n").split("\n")[1:]:
        words = re.split(" +", line.lstrip(" "), maxsplit=5)
        seen[words[5].removesuffix(" (inline)")] += int(words[0])
    check(total and int(total[1]) == samples, file, "total of pprof", total and total[1], samples)
    check(all(seen[name] == n for name, n in names.items()), file, "pprof", {
        name: (n, seen[name]) for name, n in names.items() if seen[name] != n})
    return None


def check_labels(path, file, samples, weight):
    """Counts, weights and the label pid as Go's pprof reads them, which takes pid 0 for none."""
    if not shutil.which("go"):
        return
    raw = subprocess.run(["go", "tool", "pprof", "-symbolize=none", "-raw", file], capture_output=True, text=True,
                         check=True, env=dict(os.environ, PPROF_TMPDIR=os.path.dirname(file))).stdout
    rows, pids, last = [], collections.Counter(), 0
    for line in raw.partition("Samples:\n")[2].partition("Locations\n")[0].split("\n"):
        counts, pid = re.match(r" +(\d+) +(\d+): ", line), re.search(r"^ +pid:\[(\d+)", line)
        if counts:
            last = int(counts[1])
            rows.append((last, int(counts[2])))
        if pid:
            pids[int(pid[1])] += last
    sums = [sum(column) for column in zip(*rows)]
    check(sums == [samples, weight], file, "samples and weights of pprof -raw", sums)
    tell(path, "pprof", "pprof -raw", sums, [samples, weight])
    wanted = collections.Counter()
    for row in json.loads(run("top", path, "--by", "process", "--json", "-n", "0")[1])["rows"]:
        if row["pid"] and row["pid"] > 0:
            wanted[row["pid"]] += row["self"]
    check(pids == +wanted, file, "pids of pprof -raw", pids, wanted)


def check_otlp(path, file, names):
    """Functions, processes and sums are those of top."""
    if not OTLP:
        return "protoc, or Google's module for Python"
    with open(file, "rb") as opened:
        request = otlp.Request(OTLP, opened.read(), file)
    totals = json.loads(run("top", *path, "--json", "-n", "1")[1])["totals"]
    wanted = [totals["samples"]] + [totals["weight"]] * bool(totals["weight"])
    sums = [request.by_function(profile).total() for profile in request.profiles]
    check(sums == wanted and request.types()[0] == ("samples", "count"), file, sums, wanted, request.types())
    functions = request.by_function(request.profiles[0])
    check(all(functions[name] == n for name, n in names.items()), file, "otlp, of a function", functions, names)
    pids = collections.Counter()
    for row in json.loads(run("top", *path, "--by", "process", "--json", "-n", "0")[1])["rows"]:
        if row["pid"] is not None and row["pid"] >= 0:
            pids[row["pid"]] += row["self"]
    seen = request.by_attribute(request.profiles[0], "process.pid")
    check(all(seen[pid] == n for pid, n in pids.items()), file, "otlp, of a process", seen, pids)
    check(request.scope == request.resource["service.name"] == "branchd", file, request.resource)
    check(len({profile.profile_id for profile in request.profiles}) == len(request.profiles) and
          all(len(profile.profile_id) == 16 for profile in request.profiles), file, "identifiers of profiles")
    tell(path[0], "otlp", "protoc's reader", sums, wanted)
    return None


def check_recording(path, folder):
    names, samples, weight = expected(path)
    missing = set()
    for name, read in READERS:
        seen = read(export(path, name, folder))
        check(seen.total() == samples, path, name, seen.total(), samples)
        tell(path, name, "own reader", seen.total(), samples)
        wanted = {key.replace(";", ":") if name == "folded" else key: n for key, n in names.items()}
        check(all(seen[key] == n for key, n in wanted.items()), path, name, "of a function")
    missing.add(check_perf(path, check_script(export(path, "perf-script", folder), weight)))
    svg(export(path, "svg", folder), path)
    missing.add(check_callgrind(path, export(path, "callgrind", folder), samples))
    missing.add(check_pprof(export(path, "pprof", folder), names, samples))
    check_labels(path, os.path.join(folder, "pprof"), samples, weight)
    missing.add(check_otlp([path], export(path, "otlp", folder), names))
    return missing - {None}


def shown(name):
    """A function's name as branchctl shows it, by Python's own decoder: no control characters, nothing invalid."""
    return re.sub("[\x00-\x1f\x7f\udc80-\udcff]", "?", name.decode("utf-8", "surrogateescape").replace("\x85", "??"))


def hostile_recording(folder):
    """A sample in each of HOSTILE, names of functions of the kernel; the process and its object are hostile, too."""
    base, path = 0xffffffff81000000, os.path.join(folder, "hostile.data")
    with open(os.path.join(folder, "kallsyms"), "wb") as opened:
        opened.write(b"%x T _text\n" % base)
        for i, name in enumerate(HOSTILE, 1):
            opened.write(b"%x t %s\n" % (base + 64 * i, name))
    perfdata.write(path, [
        perfdata.kernel(base, 0x100000, base), perfdata.comm(b"<b>;\n\t\"\xed\xa0\x80 1"),
        perfdata.mapping(b"/<i>\n\t;\"\\ \xff/" + b"y" * 3900),
        *(perfdata.sample(1000 * i, base + 64 * i + 1, misc=perfdata.KERNEL) for i in range(1, len(HOSTILE) + 1)),
        perfdata.sample(100000)])
    return path, "--kallsyms=" + os.path.join(folder, "kallsyms")


def check_hostile(folder):
    """Each file can be read, and has each name as often as the recording."""
    path, kallsyms = hostile_recording(folder)
    wanted = collections.Counter(map(shown, HOSTILE))
    for name in FORMATS:
        file = os.path.join(folder, name)
        status, _, err = run("export", "--format", name, path, kallsyms, "-o", file)
        if check(status == 0, name, status, err) and name not in BINARY:
            bad = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text_of(file))
            check(not bad, name, "control characters", bad)
            check(name in ("callgrind", "svg") or "\\x0a\\x09" in text_of(file).replace("\\u005c", "\\") and
                  "\\xed\\xa0\\x80 1" in text_of(file).replace("\\u005c", "\\"), name, "the name of the process")
    for name, read in READERS:
        seen = read(os.path.join(folder, name))
        names = {key.replace(";", ":") if name == "folded" else key: n for key, n in wanted.items()}
        check(all(seen[key] == n for key, n in names.items()), name, "hostile", seen)
        check(seen.total() == len(HOSTILE) + 1, name, seen.total())
    svg(os.path.join(folder, "svg"), path, kallsyms)
    check_script(os.path.join(folder, "perf-script"), 1000 * (len(HOSTILE) + 1))
    check_callgrind(path, os.path.join(folder, "callgrind"), len(HOSTILE) + 1)
    functions = re.findall(r"^fn=\(\d+\) (.*)$", text_of(os.path.join(folder, "callgrind")), re.M)
    check(wanted.total() == len(functions) - 1 and not wanted - collections.Counter(functions), "callgrind", functions)
    check_pprof(os.path.join(folder, "pprof"), wanted, len(HOSTILE) + 1)
    check_otlp([path, kallsyms], os.path.join(folder, "otlp"), wanted)


def check_files(path, folder):
    """A file is written whole or not at all; a device stays one."""
    for name in FORMATS:
        for file in "/dev/full", folder + "/no/such", folder:
            status, out, err = run("export", "--format", name, path, "-o", file)
            check(status == 1 and out == "" and one_line(err) and file in err, name, file, status, err)
            check((file == "/dev/full") == ("No space left" in err), name, file, err)
        done = subprocess.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", branchctl, "export", "--format", name, path],
                              capture_output=True, text=True, check=False)
        check(done.returncode == 1 and one_line(done.stderr) and "No space left" in done.stderr, name, done)
    check(os.path.exists("/dev/full") and not os.path.isfile("/dev/full"), "/dev/full was replaced")
    file = folder + "/kept"
    with open(file, "w", encoding="ascii") as opened:
        opened.write("old")
    status, _, err = run("export", "--format", "folded", path, "-o", file, "--symbol", "no_such_function")
    check(status == 1 and text_of(file) == "old", "an export without samples", status, err)
    status = run("export", "--format", "folded", path, "-o", file)[0]
    check(status == 0 and text_of(file) != "old", "a file is not replaced", status)
    plain, named = (run("export", "--format", "folded", path, *words) for words in ([], ["-o", "-"]))
    check(plain[1] == named[1] == text_of(file) and not os.path.exists("-"), "-o - is standard output")
    check(not glob.glob(folder + "/*.??????"), "a temporary file is left", os.listdir(folder))


def check_said(path, file):
    """On a terminal what was written is said; in scripts success is silent."""
    n = json.loads(run("top", path, "--json", "-n", "1")[1])["totals"]["samples"]
    text, status = run_on_terminal("export", "--format", "folded", path, "-o", file, stderr=TERMINAL)
    check(status == 0 and f"branchctl: wrote {file}: folded of {n} samples, {os.path.getsize(file)} bytes\n" in text, status, text)
    check("wrote" not in run("export", "--format", "folded", path, "-o", file)[2], "it is said in a script")


OTLP = otlp.compile_messages()
paths = sorted(glob.glob(recordings_folder() + "/*/perf.data"))
check(paths, "no recordings")
lacking = set()
with tempfile.TemporaryDirectory() as place:
    for recording in paths:
        lacking |= check_recording(recording, place)
    check_files(paths[0], place)
    check_said(paths[0], place + "/said")
    check_hostile(place)
if lacking:
    print("not tried, because it is missing:", *sorted(lacking))
finish()
