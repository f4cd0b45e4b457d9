"""What a recording will take, said before it starts; what it took, said when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stepscope.profiler.parameters import Parameters

# Share of one core in percent, and bytes a second. They are the collector's goals (25 ns and 10
# bytes an event; 1,000 stacks or 50 counters a second), not measurements: `measured` has those.
_SOURCES = {
    "system": (0.1, 500),
    "python_stacks": (1.0, 40_000),
    "gpu": (2.0, 1_000_000),
    "npu": (2.0, 1_000_000),
}
_EVENT_BYTES = 10
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))


def estimated(sources: Iterable[str], parameters: Parameters) -> str:
    known = [_SOURCES[name] for name in sources if name in _SOURCES]
    percent = sum(share for share, _ in known)
    rate = sum(size for _, size in known)
    return (
        f"estimated cost {percent:.1f} % of one core, {_size(rate)} a second and {_EVENT_BYTES} "
        f"bytes for each range; at most {parameters.max_host_mb:g} MB of memory and "
        f"{parameters.max_disk_gb:g} GB of disk"
    )


def measured(statistics: Mapping[str, Any]) -> str:
    seconds = float(statistics.get("seconds", 0))
    return (
        f"{statistics.get('events', 0):,} events of {statistics.get('threads', 0)} threads in "
        f"{seconds:.3f} s, {_size(statistics.get('bytes', 0))}"
    )


def lost(statistics: Mapping[str, Any]) -> str:
    """What is missing from a recording; empty if nothing is."""
    parts = []
    if statistics.get("not_recorded"):
        parts.append(f"{statistics['not_recorded']:,} events were not recorded")
    if statistics.get("stopped_by"):
        parts.append(f"it ended early, at its limit {statistics['stopped_by']}")
    return " and ".join(parts)


def _size(count: float) -> str:
    scale, unit = next((scale, unit) for scale, unit in _UNITS if count >= scale or unit == "bytes")
    return f"{count / scale:.3g} {unit}"
