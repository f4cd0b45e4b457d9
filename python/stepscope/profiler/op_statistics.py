"""``Profiler.op_analyse``: how often operators ran, and how long, by the shapes of their inputs."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

# By type ("MatMul") as MindSpore has it, or by the whole name ("aten::addmm").
_HOST = """
    select input_shapes as shapes, count(*) as calls, sum(dur) as ns
    from ops where ts >= {since} and (type = {name} or name = {name})
    group by input_shapes order by ns desc
"""
_DEVICE = """
    select o.input_shapes as shapes, count(*) as calls, sum(k.dur) as ns
    from kernels k join ops o on o.id = k.op
    where o.ts >= {since} and (o.type = {name} or o.name = {name})
    group by o.input_shapes order by ns desc
"""


def checked_names(op_name: object, device_id: object) -> list[str]:
    """Raises TypeError where they cannot be."""
    if device_id and (isinstance(device_id, bool) or not isinstance(device_id, int)):
        raise TypeError(f"device_id must be a whole number, not {device_id!r}")
    names = [op_name] if isinstance(op_name, str) else op_name
    if not isinstance(names, list) or not names or not all(_is_name(name) for name in names):
        raise TypeError(f"op_name must be a name or a list of names, not {op_name!r}")
    return names


def op_statistics(run: Path, since_ns: int, names: list[str], device_id: int | None) -> str:
    """JSON: a list for each name, and the device. Raises RuntimeError for a name without calls."""
    import stepscope

    answer: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stepscope.StepscopeWarning)
        opened = stepscope.open(str(run))
    with opened:
        for name in names:
            words = {"since": since_ns, "name": "'" + name.replace("'", "''") + "'"}
            rows = [
                _row(side, row)
                for side, sql in (("cpu", _HOST), ("gpu", _DEVICE))
                for row in opened.query(sql.format(**words)).to_pylist()
            ]
            if not rows:
                raise RuntimeError(f"no operator {name!r} was recorded in {run}")
            answer[name] = rows
    return json.dumps({**answer, "device_id": device_id or 0})


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _row(side: str, row: dict[str, Any]) -> dict[str, Any]:
    us = row["ns"] / 1e3
    return {
        "op_side": side,
        "input_shape": _shape(row["shapes"]),
        "op_occurrences": row["calls"],
        "op_total_time(us)": round(us, 4),
        "op_avg_time(us)": round(us / row["calls"], 4),
    }


def _shape(text: str | None) -> str:
    """ "input_0:(16,64),input_1:(64)"; empty where shapes were not recorded."""
    try:
        shapes = json.loads(text or "[]")
    except ValueError:
        return text or ""
    if not isinstance(shapes, list):
        return text or ""
    return ",".join(
        f"input_{at}:({','.join(map(str, shape)) if isinstance(shape, list) else shape})"
        for at, shape in enumerate(shapes)
    )
