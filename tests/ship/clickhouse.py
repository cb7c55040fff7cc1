# SPDX-License-Identifier: LGPL-2.1-or-later
"""ClickHouse servers on loopback, as shards of one cluster, and a proxy that loses answers."""

import contextlib
import http.client
import http.server
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "client"))
from harness import SKIPPED  # noqa: E402
from loopback import serve  # noqa: E402
from ssh_hosts import free_port  # noqa: E402

SERVER = shutil.which("clickhouse-server", path=os.environ.get("PATH", "") + ":/usr/sbin")


def skip_without():
    if not SERVER:
        print("skipped: no clickhouse-server here")
        sys.exit(SKIPPED)


class Server:
    """One shard."""

    def __init__(self, folder, name):
        self.folder, self.http, self.tcp = os.path.join(folder, name), free_port(), free_port()
        os.makedirs(self.folder)
        self.process = None

    def configure(self, shards):
        cluster = "".join(f"<shard><replica><host>127.0.0.1</host><port>{s.tcp}</port></replica></shard>" for s in shards)
        with open(self.folder + "/config.xml", "w", encoding="utf-8") as file:
            file.write(f"""<yandex><logger><level>warning</level><log>{self.folder}/log</log>
<errorlog>{self.folder}/errors</errorlog></logger>
<http_port>{self.http}</http_port><tcp_port>{self.tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>{self.folder}/data/</path><tmp_path>{self.folder}/tmp/</tmp_path><mark_cache_size>16777216</mark_cache_size>
<users_config>{self.folder}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><remote_servers><branchd>{cluster}</branchd></remote_servers></yandex>""")
        with open(self.folder + "/users.xml", "w", encoding="utf-8") as file:
            users = "".join(f"<{name}><password>{password}</password><networks><ip>127.0.0.1</ip></networks>"
                            f"<profile>default</profile><quota>default</quota></{name}>"
                            for name, password in (("default", ""), ("ship", "se'cret")))
            file.write(f"""<yandex><profiles><default><max_threads>1</max_threads></default></profiles><users>{users}</users>
<quotas><default><interval><duration>3600</duration></interval></default></quotas></yandex>""")

    def start(self):
        with open(self.folder + "/out", "a", encoding="utf-8") as out:
            self.process = subprocess.Popen([SERVER, f"--config-file={self.folder}/config.xml"], stdout=out, stderr=out)
        for _ in range(600):
            try:
                if self.ask("SELECT 1") == "1\n":
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("ClickHouse does not start; see " + self.folder)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def ask(self, query, seconds=30):
        request = urllib.request.Request(f"http://127.0.0.1:{self.http}/", data=query.encode())
        try:
            with urllib.request.urlopen(request, timeout=seconds) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise RuntimeError(query[:1000] + ": " + error.read().decode()) from error

    def rows(self, query):
        """Numbers are numbers."""
        return [tuple(int(cell) if cell.isdigit() else cell.replace("\\'", "'") for cell in line.split("\t"))
                for line in self.ask(query).splitlines()]

    def run_file(self, path):
        with open(path, encoding="utf-8") as file:
            for statement in re.sub(r"--[^\n]*", "", file.read()).split(";"):
                if statement.strip():
                    self.ask(statement)


class Proxy:
    """Passes requests on. Of the next .lose inserts the answer does not come back, and those behind wait. With .says inserts
    are not passed on, and that is the answer to them."""

    def __init__(self, server, certificate=None):
        """@certificate: the paths of one and of its key, for https."""
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if proxy.says and "INSERT" in self.path:
                    self.answer(200, proxy.says)
                    return
                back = http.client.HTTPConnection("127.0.0.1", proxy.server.http, timeout=30)
                try:
                    encoding = self.headers["Content-Encoding"]
                    back.request("POST", self.path, body, {"Content-Encoding": encoding} if encoding else {})
                    answer = back.getresponse()
                    text = answer.read()
                except OSError:
                    self.close_connection = True
                    return
                proxy.requests.append((self.path, self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"]))
                if proxy.lose and "INSERT" in self.path:
                    proxy.lose -= 1
                    proxy.lost += 1
                    self.close_connection = True
                    return
                self.answer(answer.status, text)

            def answer(self, status, text):
                with contextlib.suppress(OSError):  # the client may have been killed
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(text)))
                    self.end_headers()
                    self.wfile.write(text)

            def log_message(self, format, *arguments):
                pass

        self.server, self.lose, self.lost, self.says, self.requests = server, 0, 0, b"", []
        self.port = serve(Handler, certificate)
