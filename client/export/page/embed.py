#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes C strings of a page's style and script, and of their hashes, by which it permits no others.

    embed.py FILE...    .css files become page_style, .js files page_script, each in this order
"""
import base64
import hashlib
import sys

for name, end in ("style", ".css"), ("script", ".js"):
    text = ""
    for path in filter(lambda path: path.endswith(end), sys.argv[1:]):
        with open(path, encoding="utf-8") as opened:
            text += opened.read()
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    print(f'static const char page_{name}_hash[] = "sha256-{digest}";')
    print(f"static const char page_{name}[] =")
    for line in text.split("\n")[:-1]:
        print('\t"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"')
    print("\t;")
