# SPDX-License-Identifier: LGPL-2.1-or-later
"""A server on loopback that takes whatever is sent to it."""

import http.server

from loopback import serve


class Acceptor:
    """Answers .status and .answer, and keeps what it was sent while that is 200."""

    def __init__(self, certificate=None):
        acceptor = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if acceptor.status == 200:
                    acceptor.profiles.append((self.path, dict(self.headers), body))
                else:
                    acceptor.refused += 1
                self.send_response(acceptor.status)
                self.end_headers()
                self.wfile.write(acceptor.answer)

            def log_message(self, format, *arguments):
                pass

        self.status, self.answer, self.profiles, self.refused = 200, b"", [], 0
        self.port = serve(Handler, certificate)
