"""Which steps can be recorded where data are sunk.

A device that sinks takes ``sink_size`` steps at a time: sink n is the steps (n - 1) * sink_size + 1
to n * sink_size, and a profiler can start and stop between two sinks only.
"""

from __future__ import annotations

from stepscope.profiler._log import logger


def round_to_sinks(start: int, stop: int, sink_size: int) -> tuple[int, int]:
    """The steps of the sinks that hold ``start`` to ``stop``: no step is missed, and none is added
    that could be left out."""
    return start - (start - 1) % sink_size, -(-stop // sink_size) * sink_size


def round_as_mindformers(start: int, stop: int, sink_size: int) -> tuple[int, int]:
    """mindformers' arithmetic, digit for digit. It adds the remainder to the end, which is a
    multiple of the sink's size only where the remainder is half of it, and bounds only what it has
    changed. Its numbers are those that are called back: the last step of a sink."""
    if start % sink_size:
        start = max(start - start % sink_size, sink_size)
    if stop % sink_size:
        stop = max(stop + stop % sink_size, start + sink_size)
    return start, stop


def recorded_steps(start: int, stop: int, sink_size: int) -> tuple[int, int]:
    """What a window records of a training that calls back at the ends of sinks."""
    first, last = -(-max(start, 1) // sink_size), -(-stop // sink_size)
    return (first - 1) * sink_size + 1, last * sink_size


def sink_window(start: int, stop: int, sink_size: int, as_mindformers: bool) -> tuple[int, int]:
    """The window to use; logs what differs from what was asked for, and from the other way."""
    exact = round_to_sinks(start, stop, sink_size)
    theirs = round_as_mindformers(start, stop, sink_size)
    by_theirs = recorded_steps(*theirs, sink_size)
    chosen = theirs if as_mindformers else exact
    recorded = by_theirs if as_mindformers else exact
    if (start, stop) != recorded or exact != by_theirs:
        other, name = (exact, "exactly") if as_mindformers else (by_theirs, "as mindformers does")
        logger.warning(
            "data are sunk %d steps at a time: steps %d to %d were asked for, and %d to %d are "
            "recorded; rounded %s it would be %d to %d",
            sink_size, start, stop, *recorded, name, *other,
        )  # fmt: skip
    return chosen
