# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page in headless Chromium, by the DevTools protocol on two pipes: messages in JSON that end with a zero byte."""

import json
import os
import shutil
import signal
import subprocess


class Chromium:
    """Collects in errors what the page's console would show."""

    program = "chromium"

    def __init__(self, folder):
        ours, theirs = os.pipe(), os.pipe()
        # the protocol's pipes are descriptors 3 and 4
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{ours[0]} 4>&{theirs[1]}', "sh", shutil.which(self.program), "--headless=new",
             "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
             "--user-data-dir=" + folder + "/chromium"],
            pass_fds=(ours[0], theirs[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(ours[0])
        os.close(theirs[1])
        self.to, self.of = os.fdopen(ours[1], "wb"), os.fdopen(theirs[0], "rb")
        self.number, self.rest, self.session, self.errors, self.loaded = 0, b"", None, [], False
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in "Runtime", "Log", "Page":
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.of.fileno(), 1 << 20)
            if not more:
                raise EOFError("chromium has ended")
            self.rest += more
        message, _, self.rest = self.rest.partition(b"\0")
        return json.loads(message)

    def take(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        elif method == "Log.entryAdded":
            self.errors.append(parameters["entry"])
        elif method == "Runtime.consoleAPICalled":
            self.errors.append(parameters["args"])
        elif method == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.to.write(json.dumps(message).encode() + b"\0")
        self.to.flush()
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(method, message["error"])
                return message["result"]
            self.take(message)

    def open(self, path):
        self.errors, self.loaded = [], False
        self.call("Page.navigate", url="file://" + path)
        while not self.loaded:
            self.take(self.receive())

    def run(self, script):
        """What the body of a function returns, in the page."""
        done = self.call("Runtime.evaluate", expression="(() => {" + script + "})()", returnByValue=True)
        if "exceptionDetails" in done:
            raise RuntimeError(script, done["exceptionDetails"])
        return done["result"].get("value")

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
