#!/usr/bin/env python3
"""Writes the web UI's built files as C++ source, gzip-compressed, for the program to carry.

Usage: embed_web.py DIST OUTPUT.cc      DIST may be missing: then there are no files

The bytes go into string literals of octal escapes: compilers read those twenty times as fast as
arrays of numbers.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".woff2": "font/woff2",
    ".txt": "text/plain; charset=utf-8",
}
LITERAL_BYTES = 8192  # of one piece; pieces that follow each other are one literal


def literal(data: bytes) -> str:
    pieces = []
    for start in range(0, len(data), LITERAL_BYTES):
        escaped = "".join(f"\\{byte:03o}" for byte in data[start : start + LITERAL_BYTES])
        pieces.append(f'"{escaped}"')
    return "\n".join(pieces) or '""'


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    dist, output = Path(arguments[0]), Path(arguments[1])
    files = (
        sorted(path for path in dist.rglob("*") if path.is_file() and path.suffix)
        if dist.is_dir()
        else []
    )
    lines = ['#include "server/web_files.h"', "", "namespace stepscope {", "namespace {", ""]
    rows = []
    for number, path in enumerate(files):
        packed = gzip.compress(path.read_bytes(), compresslevel=9, mtime=0)
        kind = TYPES.get(path.suffix, "application/octet-stream")
        name = path.relative_to(dist).as_posix()
        lines.append(f"constexpr char kFile{number}[] =\n{literal(packed)};")
        rows.append(f'    {{"{name}", "{kind}", {{kFile{number}, {len(packed)}}}}},')
    lines += ["", "}  // namespace", "", "std::span<const WebFile> web_files() {"]
    if rows:
        lines += ["  static constexpr WebFile kFiles[] = {", *rows, "  };", "  return kFiles;"]
    else:
        lines += ["  return {};"]
    lines += ["}", "", "}  // namespace stepscope", ""]
    text = "\n".join(lines)
    if not output.exists() or output.read_text() != text:  # an equal file is not compiled again
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
