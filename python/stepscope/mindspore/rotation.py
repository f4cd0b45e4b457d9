"""When MindSpore's profiler is stopped and started again.

Its buffers grow by about 370 bytes an operator until it is stopped, and stopping blocks for 2 to 10
microseconds an operator. Windows of 10,000 operators keep both small: 4 MB, some 50 ms.
"""

from __future__ import annotations

OPERATORS = 10_000
#: also most of what a killed program loses
SECONDS = 1.0
# As long as the operators of a step are not known.
_FIRST_STEPS = 16
_FIRST_SECONDS = 0.1
# MindSpore never forgets memory records and writes all of them at every stop. Windows that grow
# with them, and in slow loops stops that are far apart, keep that bearable.
_SHARE_OF_MEMORY_RECORDS = 4
_STOPS_APART = 50


class Rotation:
    """Says at once, for each window, how many steps and until when it may last: between two steps
    of a small network there is no time to reckon."""

    def __init__(self) -> None:
        self._operators_per_step = 0.0
        self._most_operators = OPERATORS
        self._most_seconds = SECONDS

    @property
    def steps(self) -> int:
        if not self._operators_per_step:
            return _FIRST_STEPS
        return max(1, int(self._most_operators / self._operators_per_step))

    @property
    def seconds(self) -> float:
        return self._most_seconds if self._operators_per_step else _FIRST_SECONDS

    def learn(self, steps: int, operators: int, memory_records: int, stop_seconds: float) -> None:
        """What a window held, and how long stopping took."""
        if steps and operators:
            self._operators_per_step = operators / steps
        self._most_operators = max(OPERATORS, memory_records // _SHARE_OF_MEMORY_RECORDS)
        self._most_seconds = max(SECONDS, stop_seconds * _STOPS_APART)
