# SPDX-License-Identifier: LGPL-2.1-or-later
"""Curves over time as an SVG file, one panel below the other."""
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, GAP = 900, 120, 90, 30, 45
COLORS = ("#1f5fa8", "#b5422c", "#3d7d3a", "#8a5a9e", "#8c7a2b")


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_svg(path, title, size, lines):
    """@size: width and height."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]}" height="{size[1]}" '
                   'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
                   f'<text x="{LEFT}" y="20" font-size="15">{escape(title)}</text>\n' + "\n".join(lines) + "\n</svg>\n")


def panel(title, times, curves, top):
    """@curves: pairs of a name and as many values as there are @times; None: a value is not known."""
    end = times[-1] or 1
    most = max((v for _, values in curves for v in values if v is not None), default=0) or 1
    yield f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{escape(title)}</text>'
    yield f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#999"/>'
    for share in (0, 0.5, 1):
        y = top + HEIGHT - share * HEIGHT
        yield f'<text x="20" y="{y + 4:.0f}">{number(share * most)}</text>'
        yield f'<line x1="{LEFT}" y1="{y:.0f}" x2="{LEFT + WIDTH}" y2="{y:.0f}" stroke="#ddd"/>'
    for i, (name, values) in enumerate(curves):
        points = " ".join(f"{LEFT + t / end * WIDTH:.1f},{top + HEIGHT - v / most * HEIGHT:.1f}"
                          for t, v in zip(times, values) if v is not None)
        color = COLORS[i % len(COLORS)]
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="1.2"/>'
        yield f'<text x="{LEFT + WIDTH - 150 * (len(curves) - i)}" y="{top - 8}" fill="{color}">{escape(name)}</text>'


def mark(name, share, row, bottom):
    """A line through all panels, with its name on one of some rows at the top."""
    x = LEFT + share * WIDTH
    yield f'<line x1="{x:.1f}" y1="{TOP + 30}" x2="{x:.1f}" y2="{bottom}" stroke="#777" stroke-dasharray="4 3"/>'
    yield f'<text x="{x - 6.9 * len(name):.1f}" y="{TOP + 48 + 18 * row}" fill="#555">{escape(name)}</text>'


def write(path, title, times, panels, unit=(60, "min"), marks=()):
    """@panels: pairs of a title and its curves; @times and @marks, pairs of a name and a time, in seconds; @unit: of the axis."""
    lines = []
    for i, (name, curves) in enumerate(panels):
        lines += panel(name, times, curves, TOP + 30 + i * (HEIGHT + GAP))
    height = TOP + 30 + len(panels) * (HEIGHT + GAP)
    for i, (name, at) in enumerate(marks):
        lines += mark(name, at / times[-1], i, height - GAP)
    for tenth in range(0, 11, 2):
        seconds = times[-1] * tenth / 10
        lines.append(f'<text x="{LEFT + WIDTH * tenth / 10 - 20:.0f}" y="{height - GAP + 16}">{seconds / unit[0]:.3g} {unit[1]}</text>')
    write_svg(path, title, (WIDTH + LEFT + 30, height), lines)
