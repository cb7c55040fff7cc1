# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hosts for branchctl -H: an sshd on a port of its own for each, with its own keys, and what ssh needs to reach them."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
import time

from harness import SKIPPED

SSHD = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin")


def skip_without_ssh():
    if not SSHD or not shutil.which("ssh"):
        print("skipped: no sshd and ssh here")
        sys.exit(SKIPPED)
    if os.geteuid() == 0:
        os.makedirs("/run/sshd", exist_ok=True)  # as the unit of Debian's sshd makes it


def write(path, text, mode=0o600):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


def make_key(path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path], check=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Host:
    """Commands find "branchctl" in the folder bin, which install() writes."""

    def __init__(self, folder, name):
        self.name, self.folder, self.port = name, os.path.join(folder, name), free_port()
        self.bin = os.path.join(self.folder, "bin")
        os.makedirs(self.bin)
        make_key(os.path.join(self.folder, "host"))
        write(os.path.join(self.folder, "config"), f"""
Port {self.port}
MaxStartups 100
ListenAddress 127.0.0.1
HostKey {self.folder}/host
PidFile none
AuthorizedKeysFile {folder}/user.pub
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PermitRootLogin yes
SetEnv PATH={self.bin}:/usr/bin:/bin
""")
        self.log = os.path.join(self.folder, "log")
        self.process = subprocess.Popen([SSHD, "-D", "-f", os.path.join(self.folder, "config"), "-E", self.log])
        while not accepts(self.port) and self.process.poll() is None:
            time.sleep(0.05)
        assert self.process.poll() is None, open(self.log, encoding="utf-8").read()

    def install(self, script):
        write(os.path.join(self.bin, "branchctl"), "#!/bin/sh\n" + script + "\n", 0o755)

    def uninstall(self):
        os.unlink(os.path.join(self.bin, "branchctl"))

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Client:
    """The first word of PATH is a folder whose ssh knows the hosts by these names, and no others of the user's."""

    def __init__(self, folder, hosts):
        self.bin, config = os.path.join(folder, "client"), os.path.join(folder, "ssh_config")
        os.makedirs(self.bin)
        make_key(os.path.join(folder, "stranger"))
        write(os.path.join(folder, "known"), "".join(
            f"[127.0.0.1]:{host.port} {open(host.folder + '/host.pub', encoding='ascii').read()}" for host in hosts))
        places = [(host.name, host.port, "user") for host in hosts] + [
            ("stranger", hosts[0].port, "stranger"), ("closed", free_port(), "user")]
        write(config, "".join(f"Host {name}\n HostName 127.0.0.1\n Port {port}\n IdentityFile {folder}/{key}\n"
                              for name, port, key in places) +
              f"Host *\n User {getpass.getuser()}\n UserKnownHostsFile {folder}/known\n IdentitiesOnly yes\n"
              " IdentityAgent none\n BatchMode yes\n")
        write(os.path.join(self.bin, "ssh"), f'#!/bin/sh\nexec {shutil.which("ssh")} -F {config} "$@"\n', 0o755)
        self.path = self.bin + ":" + os.environ["PATH"]


def start(folder, names):
    """The hosts, and a client of theirs."""
    make_key(os.path.join(folder, "user"))
    hosts = [Host(folder, name) for name in names]
    return hosts, Client(folder, hosts)
