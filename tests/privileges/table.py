# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table in docs/architecture.md of who may do what, as a test reads it."""
import os
import re

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")

# of include/uapi/linux/capability.h
CAPABILITIES = {
    "CAP_DAC_READ_SEARCH": 2, "CAP_SETGID": 6, "CAP_SETUID": 7, "CAP_SETPCAP": 8, "CAP_SYS_PTRACE": 19,
    "CAP_SYS_ADMIN": 21, "CAP_SYSLOG": 34, "CAP_PERFMON": 38, "CAP_BPF": 39, "CAP_CHECKPOINT_RESTORE": 40,
}
# Services that ask branchd's socket as users do; branchd has no part in them.
CLIENTS = {"branchd-metrics", "branchd-ship"}


def mask_of(names):
    """The capabilities in a text, as the kernel writes them."""
    return sum(1 << CAPABILITIES[name] for name in names.split() if name != "none")


def read_table(clients=False):
    """{process: {column: text}}; with @clients, theirs as well."""
    with open(os.path.join(TOP, "docs/architecture.md"), encoding="utf-8") as file:
        section = re.search(r"^## Who may do what\n(.*?)^## ", file.read(), re.M | re.S).group(1)
    lines = [line for line in section.splitlines() if line.startswith("|")]
    header, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    table = {}
    for row in rows:
        if len(row) == len(header) and row[0].startswith("branchd") and (clients or row[0] not in CLIENTS):
            table[row[0]] = dict(zip(header, row))
    return table
