# SPDX-License-Identifier: LGPL-2.1-or-later
"""A network between branchd-ship and a server that can be cut, and what the server has to have in spite of that."""

import contextlib
import socket
import threading
import time

from harness import check
from ship_host import wait_for


class Network:
    """Passes bytes to the server and back. While it is cut, it takes them and passes none; when it is mended, connections from before
    are gone. With .lose_answers bytes to the server still pass. .times has when each connection came."""

    def __init__(self, server_port, port=0):
        self.server, self.is_cut, self.lose_answers, self.swallowed = server_port, False, False, 0
        self.pairs, self.lock, self.times = set(), threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            self.times.append(time.monotonic())
            threading.Thread(target=self.connect, args=[client], daemon=True).start()

    def connect(self, client):
        """Until both ends have said all."""
        with client, socket.create_connection(("127.0.0.1", self.server)) as server:
            with self.lock:
                self.pairs.add((client, server))
            answers = threading.Thread(target=self.copy, args=[server, client, True], daemon=True)
            answers.start()
            self.copy(client, server, False)
            answers.join()
            with self.lock:
                self.pairs.discard((client, server))

    def copy(self, source, target, is_answer):
        try:
            while data := source.recv(65536):
                if self.is_cut or (is_answer and self.lose_answers):
                    self.swallowed += len(data)
                else:
                    target.sendall(data)
            if not self.is_cut:
                target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def mend(self):
        self.is_cut = self.lose_answers = False
        with self.lock:
            for pair in self.pairs:
                for end in pair:
                    with contextlib.suppress(OSError):  # it may have ended
                        end.shutdown(socket.SHUT_RDWR)
            self.pairs.clear()


def check_windows(server, host, what):
    """Each window once, in the tables and in their sums."""
    where = f"WHERE host = '{host.quoted}'"
    want = sorted((w["start_us"], w["id"], w["samples"]) for w in host.batched())
    got = server.rows(f"SELECT window, id, samples FROM branchd.windows {where} ORDER BY window, id")
    check(got == want, what, got, want)
    for table in "functions", "functions_minute", "functions_hour", "functions_day":
        got = server.rows(f"SELECT symbol, sum(self) FROM branchd.{table} {where} GROUP BY symbol HAVING sum(self) > 0 ORDER BY symbol")
        check(sorted(got) == host.functions(), what, table, got, host.functions())
    for table in "functions", "stacks":
        raw, once = [server.rows(f"SELECT count() FROM branchd.{name} {where}") for name in (table + "_rows", table)]
        check(raw == once, what, "rows that came twice", raw, once)


def wait_for_all(server, host):
    n = len(host.batched())
    wait_for(f"{n} windows of {host.name}", lambda: server.rows(f"SELECT count() FROM branchd.windows WHERE host = '{host.quoted}'") == [(n,)])
    wait_for("an empty spool", lambda: host.status().get("waiting_batches") == 0)
