# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is said of a recording made up: in one line each, and nothing a terminal would act upon."""

import json
import os
import shutil
import subprocess
import tempfile

import perfdata
from harness import branchctl, check, finish, one_line, run


def check_clean(what, text):
    check(not any(c < " " and c not in "\n\t" or c in "\x7f\ufffd" for c in text), what, repr(text))


def check_names(folder):
    """Events, programs and objects may call themselves anything."""
    path = os.path.join(folder, "names.data")
    names = b"cpu\x1b[31mX\nY", b"other\x9b31m\x1b]0;t\x07"
    perfdata.write(path, [perfdata.mapping(b"/tmp/\x1b[2J\x9bprogram"), perfdata.sample(1),
                      perfdata.sample(2, number=2)], names)
    for arguments in ["top", path], ["dump", path], ["dump", "--samples", path], \
            ["top", "--event", "none", path]:
        status, out, err = run(*arguments)
        check(status == ("none" in arguments), arguments, status, err)
        check_clean(arguments, out)
        check_clean(arguments, err)
        check(all(line.startswith("branchctl: ") for line in err.splitlines()), arguments, err)
        check("\\x1b[31mX\\x0aY" in out + err, arguments, out, err)


def check_symbols(folder):
    """Whose symbols were not found is said, once."""
    path = os.path.join(folder, "symbols.data")
    shell = os.path.realpath("/bin/sh").encode()
    samples = [perfdata.sample(time, perfdata.BASE + 0x100 * time) for time in range(1, 9)]
    for mapping, want in (perfdata.mapping(b"/not/there"), "there"), \
            (perfdata.mapping(shell, b"another build-id!!!!"), "has build-id"):
        perfdata.write(path, [mapping] + samples)
        for arguments in ["top", path], ["dump", "--samples", path]:
            status, _, err = run(*arguments)
            check(status == 0 and one_line(err) and "without symbols" in err and want in err, arguments,
                  status, err)
    perfdata.write(path, [perfdata.mapping(b"/not/there"), perfdata.mapping(b"/nor/there", start=0x800000)] +
               samples + [perfdata.sample(9, 0x800100)])
    for arguments in ["top", path], ["dump", "--samples", path]:
        err = run(*arguments)[2]
        check(one_line(err) and "2 objects without symbols" in err and ": there" in err, arguments, err)
    perfdata.write(path, [perfdata.mapping(b"/not/there"), perfdata.mapping(b"/nor/other", start=0x800000), perfdata.comm(b"one", 1),
                          perfdata.sample(2), perfdata.comm(b"two", 3), perfdata.sample(4, 0x800100)])
    for name, said in ("one", "there without"), ("two", "other without"), ("*", "2 objects without"):
        status, _, err = run("top", path, "--comm", name)
        check(status == 0 and one_line(err) and said in err, name, status, err)


def check_closed_streams(folder):
    """Without a standard stream, too, each file that is opened is what it should be."""
    path = os.path.join(folder, "closed.data")
    perfdata.write(path, [perfdata.mapping(b"/bin/true")] + [perfdata.sample(time) for time in range(1, 9)])
    whole = run("top", path)
    for closed in "<&-", "2>&-", "<&- 2>&-":
        done = subprocess.run(["sh", "-c", 'exec "$@" ' + closed, "sh", branchctl, "top", path], capture_output=True,
                              check=False)
        check(done.returncode == 0 and done.stdout.decode() == whole[1], closed, done)
    done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", branchctl, "top", path], capture_output=True, check=False)
    check(done.returncode == 1 and done.stderr.decode() == whole[2] +
          "branchctl: cannot write the output: Bad file descriptor\n", done)


def check_functions_of_one_name(folder):
    """Their starts distinguish them."""
    source, program = os.path.join(folder, "a.c"), os.path.join(folder, "a.out")
    compiler = shutil.which("cc")
    if not compiler:
        return
    with open(source, "w", encoding="ascii") as f:
        f.write("int main(void) { return 0; }\n"
                'asm(".type same,@function\\nsame: .zero 64\\n.size same,64\\n'
                '.text 1\\n.type one,@function\\none: .zero 64\\n.size one,64\\n.text 0");\n')
    subprocess.run([compiler, "-no-pie", "-o", program, source], check=True)
    subprocess.run(["objcopy", "--redefine-sym", "one=same", program], check=True)
    path = os.path.join(folder, "same.data")
    perfdata.write(path, [perfdata.mapping(program.encode())] +
               [perfdata.sample(time, perfdata.BASE + 0x1000 + 8 * time) for time in range(1, 100)])
    rows = [row for row in json.loads(run("top", path, "--json")[1])["rows"] if row["symbol"] == "same"]
    known = subprocess.run(["nm", program], capture_output=True, check=True).stdout.decode().split("\n")
    known = {hex(int(line.split()[0], 16)) for line in known if line.endswith(" same")}
    check({row["address"] for row in rows} == known and len(rows) == len(known) == 2, rows, known)
    rows = json.loads(run("top", path, "--json", "--inline")[1])["rows"]
    check([row["address"] for row in rows if row["symbol"] == "same"] == [None], rows)


def check_chains(folder):
    """Zeros in a chain are no frames, for dump --samples as for top; markers are none, either."""
    path = os.path.join(folder, "chains.data")
    user = (1 << 64) - 512
    chain = [user, perfdata.BASE + 0x100, 0, perfdata.BASE + 0x200, 0]
    perfdata.write(path, [perfdata.mapping(b"/not/there"), perfdata.sample(1, chain=chain),
                      perfdata.sample(2, chain=[user, 0])])
    out = run("dump", "--samples", path)[1]
    frames = [line.split()[0] for line in out.splitlines() if line.startswith("\t")]
    check(frames == ["400100", "400200", "400100"], out)
    rows = json.loads(run("top", path, "--json", "--by", "stack")[1])["rows"]
    offsets = sorted([frame["file_offset"] for frame in row["frames"]] for row in rows)
    check(offsets == [["0x100"], ["0x100", "0x1ff"]], rows)


def check_start(folder):
    """By a clock that counts from 1970 it is exact to the microsecond."""
    path = os.path.join(folder, "start.data")
    perfdata.write(path, [perfdata.sample(1795234072421655143), perfdata.sample(1795234073421655143)])
    out = run("top", path, "--json")[1]
    check('"start": 1795234072.421655,' in out and '"length": 1.0,' in out, out)
    check("1795234072.421655143" in run("dump", path)[1], "dump")


def check_several_events(path):
    """Each is what it is alone, in the order of the options."""
    names = ["e0", "twice#2", "odd#2"]
    several = [word for name in names for word in ("--event", name)]
    for command in ["top", path], ["diff", path, path], ["diff", path, path, "--by", "object,function"]:
        alone = [json.loads(run(*command, "--json", "--event", name)[1]) for name in names]
        check(json.loads(run(*command, "--json", *several)[1]) == {"events": alone}, command)
        status, out, err = run(*command, *several)
        check(status == 0 and "also recorded" not in err, command, err)
        tables = [run(*command, "--event", name)[1] for name in names]
        if command[0] == "diff":
            tables = ["[ %s ]\n%s" % named for named in zip(names, tables)]
        check(out == "\n".join(tables), command, out)
    status, out, err = run("diff", path, path, "--event", "e0", "--event", "none")
    check(status == 1 and out == "" and one_line(err) and "no event none" in err, status, err)


def check_events(folder):
    """Each can be chosen: also two of one name, also the hundredth."""
    path = os.path.join(folder, "events.data")
    names = [b"twice", b"twice", b"odd#2"] + [b"e%d" % i for i in range(100)]
    perfdata.write(path, [perfdata.sample(number, number=number) for number in range(1, 104)
                      for _ in range(number)], names)
    for name, n in ("twice", 1), ("twice#1", 1), ("twice#2", 2), ("odd#2", 3), ("e0", 4), ("e99", 103):
        document = json.loads(run("top", path, "--json", "--event", name)[1])
        check(document["totals"]["samples"] == n, name, document)
        check(run("dump", "--samples", path, "--event", name)[1].count(":4711 ") == n, name)
    for name in "twice#3", "twice#", "twice#0", "twice#2x", "odd", "#1":
        status, out, err = run("top", path, "--event", name)
        check(status == 1 and out == "" and one_line(err) and "twice, twice#2, odd#2" in err, name, err)
    for arguments in ["top", path, "--event", "e99"], ["dump", "--samples", path, "--event", "e99"]:
        err = run(*arguments)[2]
        check("e99; also" in err and "twice#2, odd#2" in err, err)
    check_several_events(path)
    perfdata.write(path, [perfdata.sample(1, number=1)], [b"counts", b"samples"], [0, 1000])
    document = json.loads(run("top", path, "--json")[1])
    check(document["windows"][0]["event"] == "samples", document["windows"])


def check_reader_leaves(folder):
    """That is neither a failure nor said, with SIGPIPE ignored as well."""
    path = os.path.join(folder, "long.data")
    perfdata.write(path, [perfdata.sample(time, perfdata.BASE + time) for time in range(1, 20000)])
    for arguments in ["dump"], ["dump", "--json"], ["dump", "--samples"], ["top", "--json", "-n", "0"]:
        done = subprocess.run(["sh", "-c", "trap '' PIPE; { \"$@\"; echo $? >&2; } | head -c 10", "sh",
                               branchctl, *arguments, path], capture_output=True, check=False)
        check(done.stderr == b"0\n", arguments, done)
    for arguments in ["dump"], ["dump", "--json"], ["dump", "--samples"]:
        done = subprocess.run(["sh", "-c", 'exec "$@" >/dev/full', "sh", branchctl, *arguments, path],
                              capture_output=True, check=False)
        said = done.stderr.decode()
        check(done.returncode == 1 and one_line(said) and "No space left" in said, arguments, done)


with tempfile.TemporaryDirectory() as place:
    check_names(place)
    check_symbols(place)
    check_events(place)
    check_start(place)
    check_chains(place)
    check_functions_of_one_name(place)
    check_reader_leaves(place)
    check_closed_streams(place)
finish()
