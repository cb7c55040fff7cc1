# SPDX-License-Identifier: LGPL-2.1-or-later
"""Programs of others from npm, installed once below ~/.cache/branchd/npm; where that fails, the test is skipped."""

import os
import shutil
import subprocess

from start import skip

CACHE = os.path.expanduser("~/.cache/branchd/npm")


def install(package, file):
    """The path of a file of a package, which is NAME@VERSION."""
    name = package.rpartition("@")[0]
    folder = os.path.join(CACHE, package.replace("/", "-"))
    path = os.path.join(folder, "node_modules", name, file)
    if os.path.exists(path):
        return path
    if not shutil.which("npm"):
        skip("npm is not installed")
    os.makedirs(folder, exist_ok=True)
    try:
        done = subprocess.run(["npm", "install", "--no-save", "--prefix", folder, package],
                              capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired as error:
        skip(error)
    if done.returncode != 0 or not os.path.exists(path):
        skip("npm cannot install", package, done.stderr[-500:])
    return path
