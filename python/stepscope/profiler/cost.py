"""What a recording will take, said before it starts; what it took, said when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stepscope.profiler.parameters import Parameters

# Share of one core in percent, from and to, and bytes a second; the shares and the cost of a launch
# as measured in docs/performance.md and docs/recording.md, the bytes for a usual training loop. The
# system's are those of one sample a second.
_SOURCES = {
    "system": (0.02, 0.02, 500),
    "python_stacks": (1.8, 6.0, 40_000),
    "gpu": (0.0, 0.0, 1_000_000),
    "npu": (0.0, 0.0, 1_000_000),
}
# Of each kernel, by the GPU's tier, as `stepscope record` says it.
_LAUNCHES = {2: "1 to 2 µs", 3: "3 to 5 µs"}
_EVENT_BYTES = 10
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "bytes"))


def estimated(
    sources: Mapping[str, Mapping[str, Any]], frameworks: Iterable[str], parameters: Parameters
) -> str:
    """``frameworks`` are what their sources say that they cost."""
    least = most = rate = 0.0
    for name, options in sources.items():
        low, high, size = _SOURCES.get(name, (0.0, 0.0, 0))
        scale = 1000 / options["interval_ms"] if name == "system" else 1.0
        least, most, rate = least + low * scale, most + high * scale, rate + size * scale
    percent = f"{least:.2g}" if most == least else f"{least:.2g} to {most:.2g}"
    launch = _LAUNCHES.get(sources.get("gpu", {}).get("tier", 0))
    launches = f", and {launch} of the launching thread for each kernel" if launch else ""
    launches += "".join(f", and {words}" for words in frameworks)
    return (
        f"estimated cost {percent} % of one core{launches}, {_size(rate)} a second and "
        f"{_EVENT_BYTES} bytes for each range; at most {parameters.max_host_mb:g} MB of memory and "
        f"{parameters.max_disk_gb:g} GB of disk"
    )


def measured(statistics: Mapping[str, Any], step_times: Mapping[str, Any]) -> str:
    seconds = float(statistics.get("seconds", 0))
    return (
        f"{statistics.get('events', 0):,} events of {statistics.get('threads', 0)} threads in "
        f"{seconds:.3f} s, {_size(statistics.get('bytes', 0))}{steps(step_times)}"
    )


def steps(times: Mapping[str, Any]) -> str:
    """What a step took with and without recording, as far as there were such steps."""
    words = [
        f"{times[kind]['median_seconds'] * 1e3:.4g} ms {kind.replace('_', ' ')} (median of "
        f"{times[kind]['steps']})"
        for kind in ("with_recording", "without_recording")
        if kind in times
    ]
    return f"; a step took {', '.join(words)}" if words else ""


def lost(statistics: Mapping[str, Any]) -> str:
    """What is missing from a recording; empty if nothing is."""
    parts = []
    if statistics.get("not_recorded"):
        parts.append(f"{statistics['not_recorded']:,} events were not recorded")
    if statistics.get("stopped_by"):
        parts.append(f"it ended early: {statistics['stopped_by']}")
    return " and ".join(parts)


def _size(count: float) -> str:
    scale, unit = next((scale, unit) for scale, unit in _UNITS if count >= scale or unit == "bytes")
    return f"{count / scale:.3g} {unit}"
