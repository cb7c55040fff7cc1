# SPDX-License-Identifier: LGPL-2.1-or-later
"""Servers of HTTP on loopback, also with TLS."""

import http.server
import os
import ssl
import subprocess
import threading


def make_certificate(folder):
    """The paths of a certificate of an authority of one's own, and of its key; by openssl."""
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    return certificate, key


def serve(handler, certificate=None):
    """The port. @certificate: the paths of one and of its key, for https."""
    listener = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True)
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return listener.server_port
