# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page in headless Firefox, by the Marionette protocol on a local port: messages in JSON after their length."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time


class Firefox:
    """Collects in errors what the page's console would show."""

    program = "firefox-esr"

    def __init__(self, folder):
        profile = folder + "/firefox"
        os.mkdir(profile)
        with open(profile + "/user.js", "w", encoding="ascii") as opened:
            opened.write('user_pref("marionette.port", 0);\nuser_pref("app.normandy.enabled", false);\n'
                         'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                         'user_pref("browser.shell.checkDefaultBrowser", false);\n')
        self.process = subprocess.Popen(
            [shutil.which(self.program), "--headless", "--marionette", "--remote-allow-system-access", "--no-remote", "--profile", profile],
            env=dict(os.environ, HOME=folder, MOZ_HEADLESS_WIDTH="1200", MOZ_HEADLESS_HEIGHT="800"),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.stream = self.connect(profile + "/MarionetteActivePort")
        self.number, self.path = 0, ""
        self.receive()  # who it is
        self.call("WebDriver:NewSession")

    def connect(self, file):
        while self.process.poll() is None:
            try:
                with open(file, encoding="ascii") as opened:
                    return socket.create_connection(("127.0.0.1", int(opened.read()))).makefile("rwb")
            except (OSError, ValueError):
                time.sleep(0.1)
        raise EOFError("firefox has ended")

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            byte = self.stream.read(1)
            if not byte:
                raise EOFError("firefox has ended")
            length += byte
        return json.loads(self.stream.read(int(length[:-1])))

    def call(self, command, **parameters):
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.stream.write(b"%d:%s" % (len(text), text))
        self.stream.flush()
        _, number, error, result = self.receive()
        if number != self.number or error:
            raise RuntimeError(command, error)
        return result

    def open(self, path):
        self.path = path
        self.in_browser("Services.console.reset()")
        self.call("WebDriver:Navigate", url="file://" + path)

    def in_browser(self, script):
        self.call("Marionette:SetContext", value="chrome")
        result = self.call("WebDriver:ExecuteScript", script=script, args=[])
        self.call("Marionette:SetContext", value="content")
        return result["value"]

    @property
    def errors(self):
        return [text for text in self.in_browser("return Services.console.getMessageArray().map(String)")
                if self.path in text]

    def run(self, script):
        """What the body of a function returns, in a scope beside the page's."""
        return self.call("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def resize(self, width, height):
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
