# SPDX-License-Identifier: LGPL-2.1-or-later
"""branchctl on real recordings: each is shown whole, its sums agree, or it is refused in a line."""

import glob
import json
import os
import re
import tempfile

from harness import RECORDED_VIEWS, check, finish, one_line, recordings_folder, run

LOCATION = {"object", "build_id", "file_offset", "address", "symbol", "symbol_offset", "line"}
SHARE = {"self", "total", "self_percent", "total_percent"}
KEYS = {
    "function": SHARE | {"symbol", "address", "file_offset", "object", "build_id"},
    "line": SHARE | {"line", "object", "build_id"},
    "object": SHARE | {"object", "build_id"},
    "process": SHARE | {"pid", "comm", "executable", "unit", "gone"},
    "comm": SHARE | {"comm"},
    "stack": {"frames", "samples", "percent", "stitched"},
    "stream": {"frames", "loops", "hits", "percent", "pruned", "cycles", "continuations"},
    "branch": {"from", "to", "count", "percent", "mispredicted", "predicted", "cycles", "cycles_rows",
               "mispredicted_percent", "mispredicted_percent_low"},
    "branch-site": {"from", "to", "kind", "count", "percent", "mispredicted", "predicted", "cycles",
                    "cycles_rows", "mispredicted_percent", "mispredicted_percent_low"},
    "block": {"start", "end", "count", "percent", "cycles", "cycles_rows", "average_cycles",
              "cycles_percent"},
}
KERNEL_TEXT = 0xffffffff81000000
TREE = {"frame", "depth", "parent", "self", "total", "self_percent", "total_percent"}
WINDOW = {"recording", "mode", "event", "hostname", "cpu", "start", "length", "samples"}
# What the rows of a view add up to: member of a row, counter.
SUMS = {
    "stack": [("samples", "samples")],
    "stream": [("hits", "streams"), ("pruned", "streams_pruned")],
    "branch": [("count", "rows_counted"), ("cycles", "cycles")],
    "branch-site": [("count", "rows_counted"), ("cycles", "cycles")],
    "block": [("count", "runs_counted")],
}


def sum_of(rows, member):
    return sum(row[member] for row in rows)


def locations(row):
    return row.get("frames", []) + [row[end] for end in ("from", "to", "start", "end") if end in row]


# What the makers of the recordings have published: the records of a branch, duplicates of the newest ones included;
# and the number of sources of branches in the program.
EDGES = {("0x12d2", "0x1210"): 22714, ("0x1220", "0x1190"): 23039, ("0x1287", "0x12c4"): 21603,
         ("0x12c4", "0x12c9"): 21980}
SOURCES, SOURCE_ROWS = 9, 119419
# A block, and how often it ran: as published, less the runs that a duplicate record only seems to end.
BLOCK, BLOCK_RUNS, FALSE_RUNS = 0x1242, 6553, 173


def in_program(location):
    return location["object"] is not None and "propeller_sample" in location["object"]


def address_of(location):
    """In the file, or where there is none its offset."""
    return location["address"] or location["file_offset"]


def check_published_edges(rows, totals):
    edges = {(address_of(row["from"]), address_of(row["to"])): row["count"] for row in rows}
    twice = 0
    for edge, published in EDGES.items():
        check(0 <= published - edges[edge] <= totals["rows_duplicate"], "edge", edge, edges[edge])
        twice += published - edges[edge]
    check(twice <= totals["rows_duplicate"], "more is missing of the edges than there were duplicates", twice)


def check_published_sources(rows, totals):
    mine = [row for row in rows if in_program(row["from"])]
    check(len({address_of(row["from"]) for row in mine}) == SOURCES, "sources")
    check(sum_of(mine, "count") == SOURCE_ROWS - totals["rows_duplicate"], "rows of the program")


def check_published_block(rows):
    runs = sum_of([row for row in rows if in_program(row["start"]) and
                   int(address_of(row["start"]), 0) <= BLOCK <= int(address_of(row["end"]), 0)], "count")
    check(runs == BLOCK_RUNS - FALSE_RUNS, "the published block ran", runs)


def check_published(name, by, document):
    rows, totals = document["rows"], document["totals"]
    if "skylake-three-processes" in name and by == "branch-site":
        check_published_edges(rows, totals)
    elif "skylake-three-processes" in name and by == "block":
        check_published_block(rows)
    elif "skylake-vaddr-offset" in name and by == "branch-site":
        check_published_sources(rows, totals)


def check_totals(name, totals):
    """All is counted, or skipped for a reason."""
    for what in "rows", "runs":
        parts = sum(n for key, n in totals.items() if key.startswith(what + "_"))
        check(totals[what] == parts, name, what, totals[what], "are not", parts)
    check(totals["lost"] == totals["lost_records"] + totals["lost_samples"] + totals["skipped"], name, "lost")


def check_rows(name, by, document):
    totals, rows = document["totals"], document["rows"]

    for row in rows:
        if not check(set(row) == KEYS[by], name, by, "has", set(row) ^ KEYS[by]):
            return
        for location in locations(row):
            check(set(location) == LOCATION, name, by, location)
            check(address_of(location).startswith("0x"), name, by, location)
    for member, counter in SUMS.get(by, [("self", "samples")]):
        total = sum_of(rows, member)
        check(total == totals[counter], name, by, member, total, counter, totals[counter])
    if by in ("function", "line", "object", "process", "comm"):
        check(all(r["self"] <= r["total"] <= totals["samples"] for r in rows), name, by, "total")


def check_tree(path, name, first, samples):
    """What goes through a row goes on to those below it, or ends there."""
    status, out, err = run("top", path, "--by", "stack", "--tree=" + first, "--json", "-n", "0")
    if not check(status == 0, name, "--tree", err):
        return
    document = json.loads(out)
    check(document["tree"] == first and document["rows_omitted"] == 0, name, "--tree", first)
    rows = document["rows"]
    below, stack = [row["self"] for row in rows], []
    for i, row in enumerate(rows):
        check(set(row) == TREE and set(row["frame"]) == LOCATION, name, "--tree has", set(row) ^ TREE)
        del stack[row["depth"]:]
        check(row["parent"] == (stack[-1] if stack else None), name, "--tree, parent of row", i)
        stack.append(i)
        if row["parent"] is not None:
            below[row["parent"]] += row["total"]
    check(below == [row["total"] for row in rows], name, "--tree", first, "does not add up")
    check(sum_of([row for row in rows if row["depth"] == 0], "total") == samples, name, "--tree", first, "roots")
    for n in 1, 7, 20:
        few = json.loads(run("top", path, "--by", "stack", "--tree=" + first, "--json", "-n", n)[1])
        hottest = sorted((row["total"] for row in rows), reverse=True)[:n]
        check(sorted((row["total"] for row in few["rows"]), reverse=True) == hottest, name, "-n", n)
        check(few["rows_omitted"] == len(rows) - len(hottest), name, "-n", n)
    return rows


def check_trees(path, name, by_function):
    """Who takes samples is the same, whichever end is first."""
    selves, roots = {}, {}
    samples = by_function["totals"]["samples"]
    for row in check_tree(path, name, "caller", samples) or []:
        key = row["frame"]["object"], row["frame"]["symbol"]
        selves[key] = selves.get(key, 0) + row["self"]
    for row in check_tree(path, name, "callee", samples) or []:
        key = row["frame"]["object"], row["frame"]["symbol"]
        if row["depth"] == 0:
            roots[key] = roots.get(key, 0) + row["total"]
    functions = {}
    for row in by_function["rows"]:
        key = row["object"], row["symbol"]
        functions[key] = functions.get(key, 0) + row["self"]
    for what, got in ("selves", selves), ("roots", roots):
        got = {key: n for key, n in got.items() if n}
        check(got == {key: n for key, n in functions.items() if n}, name, "--tree", what)


def check_view(path, name, by):
    status, out, err = run("top", path, "--by", by, "--json", "-n", "0")
    if not check(status == 0, name, by, err):
        return None
    document = json.loads(out)
    check(list(document) == ["windows", "by", "totals", "rows", "rows_omitted"], name, list(document))
    check(document["by"] == by, name, by)
    check(set(document["windows"][0]) == WINDOW, name, document["windows"])
    check(document["rows_omitted"] == 0, name, by, "rows are missing")
    check_totals(name, document["totals"])
    check_rows(name, by, document)
    check_published(name, by, document)
    return document


def check_depths(path, name, by_stream):
    """Streams of any depth have the same hits, and are as deep as that; in full they are the paths themselves."""
    totals = by_stream["totals"]
    for depth in 1, 2, 3, 7, 128, "full":
        document = json.loads(run("top", path, "--by", "stream", "--depth", depth, "--json", "-n", "0")[1])
        rows = document["rows"]
        check(document["totals"] == totals, name, "--depth", depth, "has other counters")
        for member, counter in SUMS["stream"]:
            check(sum_of(rows, member) == totals[counter], name, "--depth", depth, member)
        for row in rows:
            keys = KEYS["stream"] - {"continuations"} if depth == "full" else KEYS["stream"]
            check(set(row) == keys, name, "--depth", depth, "has", set(row) ^ keys)
            check(depth == "full" or len(row["frames"]) <= depth, name, "--depth", depth, row["frames"])


def check_orders(path, name):
    """--sort: the same rows, the largest of that number first."""
    for by, key, value in (("function", "total", lambda row: row["total"]), ("object", "self", lambda row: row["self"]),
                           ("block", "runs", lambda row: row["count"]),
                           ("block", "average", lambda row: row["average_cycles"] or 0),
                           ("branch", "mispredicted", lambda row: row["mispredicted"])):
        rows = [json.loads(run("top", path, "--by", by, "--json", "-n", "0", *sort)[1])["rows"]
                for sort in ([], ["--sort", key])]
        values = [value(row) for row in rows[1]]
        check(values == sorted(values, reverse=True), name, by, key, values[:9])
        check(sorted(map(json.dumps, rows[0])) == sorted(map(json.dumps, rows[1])), name, by, key, "has other rows")


def check_mispredictions(path, name):
    """--mispredicted by other rows than branches: theirs add up to those of all branches, the most first."""
    sites = json.loads(run("top", path, "--by", "branch-site", "--json")[1])["rows"]
    functions = {}
    for row in filter(lambda row: row["mispredicted"], sites):
        names = row["from"]["object"], row["from"]["symbol"]
        functions[names] = functions.get(names, 0) + row["mispredicted"]
    for by in "function", "object", "process", "comm":
        status, out, err = run("top", path, "--by", by, "--mispredicted", "--json")
        check(status == 0, name, by, status, err)
        rows = json.loads(out)["rows"]
        values = [row["mispredicted"] for row in rows]
        check(sum(values) == sum(functions.values()) and 0 not in values, name, by, "mispredictions", sum(values))
        check(values == sorted(values, reverse=True), name, by, values[:9])
        check(sum_of(rows, "predicted") <= sum_of(sites, "predicted"), name, by, "predicted")
        if by == "function":
            found = {}
            for row in rows:
                names = row["object"], row["symbol"]
                found[names] = found.get(names, 0) + row["mispredicted"]
            check(found == functions, name, "mispredictions by function", len(found), len(functions))
        if by == "object" and rows:
            of_one = json.loads(run("top", path, "--by", by, "--mispredicted", "--json", "--object", rows[0]["object"])[1])["rows"]
            check([(row["object"], row["mispredicted"]) for row in of_one] == [(rows[0]["object"], values[0])], name,
                  "--object of mispredictions", of_one)
        table = run("top", path, "--by", by, "--mispredicted")[1].splitlines()
        head = [line.split()[:3] for line in table if line.split()[:1] == ["SHARE"]]
        check(head == [["SHARE", "MISPREDICTED", "RATE"]] if rows else not head, name, by, head)


def check_table(path, name, by, n_rows):
    """The table has as many rows, and says how many it left out."""
    if by == "stack":
        n_rows = check_stack_table(path, name, n_rows)
    status, out, _ = run("top", path, "--by", by)
    check(status == 0 and out.startswith(path + ": "), name, by)
    left_out = [line for line in out.splitlines() if line.endswith("-n 0 shows all")]
    check(bool(left_out) == (n_rows > 20), name, by, left_out, n_rows)
    check("\033" not in out, name, by, "colours into a pipe")
    colored = run("top", path, "--by", by, "--color=always")[1]
    check("\033" in colored, name, by, "no colours")


def check_stack_table(path, name, n_stacks):
    """Where no symbol is known, the table shows stacks by functions: fewer of them, and no sample less."""
    out = run("top", path, "--by", "stack", "-n", "0")[1]
    rows = [int(n) for n in re.findall(r"^ *[0-9.]+%  ([0-9]+) samples?\b", out, re.MULTILINE)]
    of = int(re.search(r": (?:[0-9]+ of all )?([0-9]+) samples", out).group(1))
    check(0 < len(rows) <= n_stacks, name, "stacks in the table", len(rows), "of", n_stacks)
    check(sum(rows) == of, name, "samples of the stacks in the table", sum(rows), "of", of)
    return len(rows)


def check_dump(path, name, totals):
    status, out, _ = run("dump", path)
    check(status == 0, name, "dump")
    check(f"{totals['samples']}  samples" in out, name, "dump without its counters")
    status, out, _ = run("dump", path, "--format", "json")
    check(status == 0 and isinstance(json.loads(out), dict), name, "dump --format json")
    check(run("dump", path, "--json")[1] == out, name, "dump --json is another")
    status, out, _ = run("dump", "--samples", path)
    n = sum(1 for line in out.splitlines() if line and not line.startswith("\t"))
    taken = sum(totals[key] for key in ("samples", "samples_guest", "samples_limit"))
    check(status == 0 and n == taken, name, "dump --samples has", n, "of", taken)


def check_filters(path, name, by_process):
    """The processes' parts add up to the whole, and are what they say."""
    processes = {}
    for row in by_process["rows"]:
        processes[row["pid"]] = processes.get(row["pid"], 0) + row["self"]
    for pid in sorted(filter(None, processes))[:3]:
        document = json.loads(run("top", path, "--json", "--pid", pid)[1])
        check(document["totals"]["samples"] == processes[pid], name, "pid", pid)
        head = run("top", path, "--pid", pid)[1].partition("\n")[0]
        check(f": {processes[pid]} of all {by_process['totals']['samples']} samples" in head, name, "pid", pid, head)
        n = run("dump", "--samples", path, "--pid", pid)[1].count(f" {pid}/")
        check(n == processes[pid], name, "samples of pid", pid, n)
    comms = {}
    for row in by_process["rows"]:
        if row["comm"] and not set(row["comm"]) & set(",*?[]"):
            comms[row["comm"]] = comms.get(row["comm"], 0) + row["self"]
    some = sorted(comms)[:2]
    start = some[0][:2] if some else "x"
    for pattern, expected in ((",".join(some), sum(comms[comm] for comm in some)),
                              (f"none,{start}*", sum(n for comm, n in comms.items() if comm.startswith(start)))):
        if some:
            document = json.loads(run("top", path, "--json", "--comm", pattern)[1])
            check(document["totals"]["samples"] == expected, name, "--comm", pattern, expected, document["totals"])
    status, out, err = run("top", path, "--comm", "no such process")
    check(status == 1 and not out and "nothing matches the filters" in err, name, status, out, err)
    check(not some or any(comm in err for comm in comms), name, "names no process", err)


def check_kernel_code(path, name):
    """Where there is no code, its addresses are shown, and it is said."""
    rows = json.loads(run("top", path, "--by", "block", "--object", "[kernel]", "--json", "-n", "1")[1])["rows"]
    if not check(rows, name, "has no blocks of the kernel"):
        return
    start = int(rows[0]["start"]["address"], 0) & ~0xfff
    with tempfile.NamedTemporaryFile("w", suffix=".kallsyms") as symbols:
        symbols.write("%016x T _text\n%016x t hot\n%016x t next\n" % (KERNEL_TEXT, start, start + 0x2000))
        symbols.flush()
        annotate = ["annotate", "hot", path, "--kallsyms", symbols.name]
        status, out, err = run(*annotate)
        check(status == 0 and "binary not found, nor is the function in /proc/kcore; addresses only" in out, name, err, out)
        document = json.loads(run(*annotate, "--json")[1])
    check(document["function"]["code"] is None and document["ranges"], name, "annotate", document["function"])
    for instruction in document["instructions"]:
        check(instruction["text"] is None and instruction["at"]["address"] in out.replace(" ffff", " 0xffff"),
              name, "annotate lacks", instruction["at"])


def check_annotate_objects(path, name, by_function):
    """The hottest function of an object alone."""
    objects = {}
    for row in by_function["rows"]:
        if row["symbol"] and row["self"] and row["object"] and not set(row["object"]) & set("*?[],"):
            objects.setdefault(row["object"], 0)
            objects[row["object"]] = max(objects[row["object"]], row["self"])
    for each, most in sorted(objects.items())[:4]:
        status, out, err = run("annotate", path, "--object", each, "-n", "1", "--json")
        if check(status == 0, name, "annotate --object", each, err):
            function = json.loads(out)["functions"][0]["function"]
            check(function["start"]["object"] == each and function["samples"] == most, name, each, most, function)


def check_recording(path, name):
    documents = {by: check_view(path, name, by) for by in RECORDED_VIEWS}
    if not all(documents.values()):
        return
    for by, document in documents.items():
        check_table(path, name, by, len(document["rows"]))
    check_trees(path, name, documents["function"])
    check_depths(path, name, documents["stream"])
    check_orders(path, name)
    check_mispredictions(path, name)
    check_dump(path, name, documents["function"]["totals"])
    check_filters(path, name, documents["process"])
    check_annotate_objects(path, name, documents["function"])


def check_format(path, name):
    status, out, err = run("top", path, "--json")
    if status == 0:
        check_recording(path, name)
        return
    check(status == 1 and out == "" and one_line(err), name, status, out[:80], err)
    for arguments in ["top", path], ["dump", path], ["dump", "--samples", path]:
        status, out, _ = run(*arguments)
        check(status == 1 and out == "", name, arguments, status, out[:80])
    print("refused:", name, err, end="")


def check_corrupt(path):
    status, out, err = run("top", path)
    check(status == 1 and out == "" and one_line(err), "corrupt", status, out[:80], err)
    status, out, err = run("top", path, "--force")
    check(status == 0 and out and "lost" in err, "corrupt, --force", status, err)


folder = recordings_folder()
found = sorted(glob.glob(os.path.join(folder, "*/perf.data")))
check(found, "no recordings in", folder)
for each in found:
    check_recording(each, os.path.basename(os.path.dirname(each)))
    if "sandybridge" in each:
        check_kernel_code(each, os.path.basename(os.path.dirname(each)))
for each in sorted(glob.glob(os.path.join(folder, "formats/*"))):
    check_format(each, os.path.basename(each))
for each in glob.glob(os.path.join(folder, "formats/*corrupted*")):
    check_corrupt(each)
finish()
