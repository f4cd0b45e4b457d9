"""Bytes that were taken or given back outside of every event that is listed: torch's ``[memory]``.

Mostly tensors that Python frees between operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from stepscope import Run
    from stepscope.torch._averages import Measured

NAME = "[memory]"

_RECORDS = """
    select ts, bytes, slice, device_kind = 'CPU' as is_host from memory
    where bytes is not null and ts >= {since} order by ts
"""


@dataclass(frozen=True)
class LooseMemory:
    """One row for each report of an allocator, by time."""

    ts: NDArray[Any]
    host_bytes: NDArray[Any]
    device_bytes: NDArray[Any]


def loose_memory(run: Run, since_ns: int, measured: Measured | None) -> LooseMemory:
    records = run.query(_RECORDS.format(since=since_ns))
    loose: NDArray[Any] = np.ones(records.num_rows, bool)
    if measured is not None and records.num_rows:
        at = measured.positions(np.ma.filled(np.ma.asarray(records["slice"]), -1))
        around = np.where(measured.listed[at], at, measured.parents[at])
        loose = (at < 0) | (around < 0)
    size = np.asarray(records["bytes"])[loose].astype(np.int64)
    is_host = np.asarray(records["is_host"])[loose]
    return LooseMemory(
        np.asarray(records["ts"])[loose], np.where(is_host, size, 0), np.where(is_host, 0, size)
    )
