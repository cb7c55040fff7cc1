# SPDX-License-Identifier: LGPL-2.1-or-later
"""Groups of bars as an SVG file, one panel below the other; the axis is logarithmic."""
import math
from xml.sax.saxutils import escape

from curves import write_svg

WIDTH, HEIGHT, LEFT, TOP, GAP = 720, 130, 90, 60, 55
COLORS = ("#1f5fa8", "#8fb7dd", "#b5422c", "#e0a091", "#3d7d3a", "#8a5a9e")


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def panel(title, groups, names, rows, top):
    """@rows: of each name a value for each of the groups; None, or not above 0: there is no bar."""
    known = [v for values in rows for v in values if v and v > 0]
    least = math.ceil(math.log10(min(known, default=1))) - 1
    most = max(math.ceil(math.log10(max(known, default=1))), least + 1)
    yield f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{escape(title)}</text>'
    for power in range(least, most + 1):
        y = top + HEIGHT * (most - power) / (most - least)
        yield f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="#ddd"/>'
        yield f'<text x="20" y="{y + 4:.1f}">{10 ** power:g}</text>'
    room = WIDTH / len(groups)
    wide = room * 0.9 / len(names)
    for at, group in enumerate(groups):
        yield f'<text x="{LEFT + room * (at + 0.4):.1f}" y="{top + HEIGHT + 16}">{escape(group)}</text>'
        for i, values in enumerate(rows):
            if not values[at] or values[at] <= 0:
                continue
            high = HEIGHT * (math.log10(values[at]) - least) / (most - least)
            x = LEFT + room * at + room * 0.05 + wide * i
            yield (f'<rect x="{x:.1f}" y="{top + HEIGHT - high:.1f}" width="{wide - 2:.1f}" height="{high:.1f}" '
                   f'fill="{COLORS[i % len(COLORS)]}"/>')
            yield f'<text x="{x:.1f}" y="{top + HEIGHT - high - 3:.1f}" font-size="9">{number(values[at])}</text>'


def write(path, title, groups, names, panels):
    """@panels: pairs of a title and the rows of panel()."""
    lines = []
    for i, name in enumerate(names):
        x = LEFT + WIDTH * i / len(names)
        lines.append(f'<rect x="{x:.0f}" y="30" width="10" height="10" fill="{COLORS[i % len(COLORS)]}"/>'
                     f'<text x="{x + 14:.0f}" y="39">{escape(name)}</text>')
    for i, (name, rows) in enumerate(panels):
        lines += panel(name, groups, names, rows, TOP + 20 + i * (HEIGHT + GAP))
    height = TOP + 20 + len(panels) * (HEIGHT + GAP)
    write_svg(path, title, (WIDTH + LEFT + 30, height), lines)
