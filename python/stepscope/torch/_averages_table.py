"""The text of ``key_averages().table()``: columns, widths and words as torch prints them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.torch._averages import Timed

_WIDTH = 12
_FLOPS = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
_UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


def render(
    rows: Sequence[Timed],
    shown: Sequence[Timed],
    headers: Iterable[str],
    name_width: int | None,
    shapes_width: int | None,
    unit: str | None,
) -> str:
    """Lines for those that are ``shown``; columns and totals are of all ``rows``."""
    if not rows:
        return ""
    with_device = any(row.self_device_time_total > 0 for row in rows)
    with_memory = any(row.self_cpu_memory_usage for row in rows)
    with_device_memory = any(row.self_device_memory_usage for row in rows)
    with_shapes = any(row.input_shapes for row in rows)
    cpu_total = sum(row.self_cpu_time_total for row in rows)
    device_total = sum(row.self_device_time_total for row in rows if not row.cpu_time_total)

    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    if with_device:
        titles += ["Self CUDA", "Self CUDA %", "CUDA total", "CUDA time avg"]
    if with_memory:
        titles += ["CPU Mem", "Self CPU Mem"]
    if with_device_memory:
        titles += ["CUDA Mem", "Self CUDA Mem"]
    titles += ["# of Calls"]
    if with_shapes:
        titles += ["Input Shapes"]
    flops_unit, flops_size = _flops_scale([row.flops for row in rows if row.flops])
    if flops_unit:
        titles += [f"Total {flops_unit}"]

    lines = []
    for row in shown:
        cells = [
            _cut(row.key, name_width),
            _share(row.self_cpu_time_total, cpu_total),
            time_text(row.self_cpu_time_total, unit),
            _share(row.cpu_time_total, cpu_total),
            time_text(row.cpu_time_total, unit),
            time_text(row.cpu_time, unit),
        ]
        if with_device:
            cells += [
                time_text(row.self_device_time_total, unit),
                _share(row.self_device_time_total, device_total),
                time_text(row.device_time_total, unit),
                time_text(row.device_time, unit),
            ]
        if with_memory:
            cells += [_bytes(row.cpu_memory_usage), _bytes(row.self_cpu_memory_usage)]
        if with_device_memory:
            cells += [_bytes(row.device_memory_usage), _bytes(row.self_device_memory_usage)]
        cells.append(str(row.count))
        if with_shapes:
            cells.append(str(row.input_shapes)[:shapes_width])
        if flops_unit:
            cells.append(f"{row.flops / flops_size:.3f}" if row.flops else "--")
        lines.append(cells)

    widths = [_WIDTH] * len(titles)
    widths[0] = _column_width((row.key for row in rows), name_width)
    if with_shapes:
        at = titles.index("Input Shapes")
        widths[at] = _column_width((str(row.input_shapes) for row in rows), shapes_width)
    rule = "  ".join("-" * width for width in widths) + "  "
    text = [rule, _line(titles, widths), rule, *(_line(cells, widths) for cells in lines), rule]
    above = [line for header in headers for line in ("=" * (len(rule) - 2), header)]
    text.append(f"Self CPU time total: {time_text(cpu_total, unit)}")
    if with_device:
        text.append(f"Self CUDA time total: {time_text(device_total, unit)}")
    return "\n".join(above + text) + "\n"


def _column_width(texts: Iterable[str], most: int | None) -> int:
    longest = max(len(text) for text in texts) + 4
    return longest if most is None else min(longest, most)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths)) + "  "


def _cut(name: str, width: int | None) -> str:
    return name if width is None or len(name) < width - 3 else name[: width - 3] + "..."


def time_text(us: float, unit: str | None = None) -> str:
    if unit not in _UNITS:
        unit = next((word for word, length in _UNITS.items() if us >= length), "us")
    return f"{us / _UNITS[unit]:.3f}{unit}"


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.2f}%" if whole else "NaN"


def _flops_scale(counts: Sequence[int]) -> tuple[str, int]:
    """The largest unit in which the smallest count is at least one; "" where there are none."""
    if not counts:
        return "", 1
    steps = min(int(math.log10(min(counts)) / 3), len(_FLOPS) - 1)
    return _FLOPS[steps], 1000**steps


def _bytes(count: int) -> str:
    for word, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if abs(count) >= size:
            return f"{count / size:.2f} {word}"
    return f"{count} B"
