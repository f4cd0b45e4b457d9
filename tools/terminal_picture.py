#!/usr/bin/env python3
"""Draws a command's output as an SVG of a terminal, for the README.

usage: stepscope info RUN | tools/terminal_picture.py "stepscope info RUN" > docs/images/info.svg
"""

import sys
from html import escape

CHARACTER_WIDTH = 7.8
LINE_HEIGHT = 18
MARGIN = 16
MOST_COLUMNS = 112


def picture(command: str, lines: list[str]) -> str:
    shown = [line[:MOST_COLUMNS] for line in lines]
    columns = max(len(line) for line in [*shown, command + "$ "])
    width = round(columns * CHARACTER_WIDTH) + 2 * MARGIN
    height = (len(shown) + 2) * LINE_HEIGHT + 2 * MARGIN
    rows = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img"'
        f' aria-label="output of {escape(command)}">',
        f'<rect width="{width}" height="{height}" rx="8" fill="#15181d"/>',
        '<g font-family="ui-monospace, DejaVu Sans Mono, monospace" font-size="13" fill="#d5d9e0"'
        ' xml:space="preserve">',
        f'<text x="{MARGIN}" y="{MARGIN + LINE_HEIGHT}" fill="#7ec8a4">$ {escape(command)}</text>',
    ]
    for number, line in enumerate(shown):
        y = MARGIN + (number + 2) * LINE_HEIGHT + 6
        # Headings of the report are the lines without a number in front.
        is_heading = line.strip().startswith(("slices", "calls", "rank ", "data quality"))
        color = ' fill="#8ab4f8"' if is_heading else ""
        rows.append(f'<text x="{MARGIN}" y="{y}"{color}>{escape(line)}</text>')
    rows += ["</g>", "</svg>"]
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(picture(sys.argv[1], sys.stdin.read().splitlines()))
