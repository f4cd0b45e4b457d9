"""How long steps take while something records, and while nothing does."""

from __future__ import annotations

from collections import deque
from typing import Any

#: Of the latest steps; enough for a median, and bounded.
_MOST = 1000

#: mindformers starts and calls step() at once, so that its numbers are those of the training: that
#: step is none, and the next one is the first.
_NOTHING_SECONDS = 0.0001


class StepTimes:
    """The first step is left out: it is the one that compiles, allocates and loads. So are those of
    a warm-up, in which the recorder learns."""

    def __init__(self) -> None:
        self._recorded: deque[float] = deque(maxlen=_MOST)
        self._others: deque[float] = deque(maxlen=_MOST)
        self._to_leave_out = 2

    def add(self, seconds: float, recorded: bool, warm_up: bool = False) -> None:
        if self._to_leave_out:
            is_nothing = seconds < _NOTHING_SECONDS
            self._to_leave_out = self._to_leave_out - 1 if is_nothing else 0
        elif not warm_up:
            (self._recorded if recorded else self._others).append(seconds)

    def window_begins(self) -> None:
        self._recorded.clear()

    def figures(self) -> dict[str, Any]:
        """Medians in seconds, and of how many steps; what was not seen is left out."""
        kinds = {"with": self._recorded, "without": self._others}
        return {
            f"{kind}_recording": {"median_seconds": _median(seen), "steps": len(seen)}
            for kind, seen in kinds.items()
            if seen
        }


def _median(values: deque[float]) -> float:
    # The standard one would import 10 ms of other modules into the program.
    return sorted(values)[len(values) // 2]
