# SPDX-License-Identifier: LGPL-2.1-or-later
"""Made-up windows of many hosts, as branchd-ship would have sent them, and what they add up to."""

import collections
import time

SECOND = 1000000
Row = collections.namedtuple("Row", "host start unit build_id object symbol self total")


def tsv(cells):
    return "\t".join(str(cell).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n") for cell in cells) + "\n"


class Fleet:
    """The rows of all hosts; each host sends to one of the servers."""

    def __init__(self, servers):
        self.servers, self.rows, self.hosts = servers, [], []
        self.windows = collections.defaultdict(list)  # by host and start: rows

    def server_of(self, host):
        if host not in self.hosts:
            self.hosts.append(host)
        return self.servers[self.hosts.index(host) % len(self.servers)]

    def add(self, row):
        self.rows.append(row)
        self.windows[row.host, row.start].append(row)

    def send(self):
        """Once: a window is then on its server."""
        texts = {server: ([], []) for server in self.servers}
        for (host, start), rows in self.windows.items():
            functions, windows = texts[self.server_of(host)]
            day = time.strftime("%Y-%m-%d", time.gmtime(start))
            for n, row in enumerate(rows):
                functions.append(tsv((host, day, start * SECOND, 1, n, start, row.unit, row.build_id, row.object, row.symbol, row.self,
                                      row.total)))
            windows.append(tsv((host, day, start * SECOND, 1, 0, start, 1, 60 * SECOND, "stack", "cycles", "a CPU",
                                sum(row.self for row in rows), 1)))
        for server, (functions, windows) in texts.items():
            server.ask("INSERT INTO branchd.functions_rows FORMAT TabSeparated\n" + "".join(functions))
            server.ask("INSERT INTO branchd.windows_rows FORMAT TabSeparated\n" + "".join(windows))
        self.windows.clear()

    def sums(self, start, end, keys, wanted=lambda row: True):
        """{values of the keys: (self, total)} of the windows that start in [start, end)."""
        sums = {}
        for row in self.rows:
            if start <= row.start < end and wanted(row):
                key = tuple(getattr(row, name) for name in keys)
                old = sums.get(key, (0, 0))
                sums[key] = (old[0] + row.self, old[1] + row.total)
        return sums
