"""When MindSpore's profiler is stopped and started again.

Its buffers grow by about 370 bytes an operator until it is stopped, and stopping blocks for 2 to 10
microseconds an operator. Windows of 10,000 operators keep both small: 4 MB, some 50 ms.
"""

from __future__ import annotations

import time
from typing import Callable

OPERATORS = 10_000
#: also what a killed program loses at most
SECONDS = 1.0
# As long as the operators of a step are not known.
_FIRST_STEPS = 16
_FIRST_SECONDS = 0.1
# MindSpore never forgets memory records and writes all of them at every stop. Windows that grow
# with them, and stops that take a fiftieth of the time, keep that bearable.
_SHARE_OF_MEMORY_RECORDS = 4
_STOPS_APART = 50


class Rotation:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._per_step = 0.0
        self._limit = OPERATORS
        self._seconds = SECONDS
        self._steps = 0
        self._opened = 0.0

    def begin(self) -> None:
        """A window opens."""
        self._steps = 0
        self._opened = self._clock()

    def step(self) -> bool:
        """A step has ended; whether the window should, too."""
        self._steps += 1
        elapsed = self._clock() - self._opened
        if not self._per_step:
            return self._steps >= _FIRST_STEPS or elapsed >= _FIRST_SECONDS
        return self._steps * self._per_step >= self._limit or elapsed >= self._seconds

    def learn(self, operators: int, memory_records: int, stop_seconds: float) -> None:
        """What a window that has ended held, and how long stopping took."""
        if self._steps and operators:
            self._per_step = operators / self._steps
        self._limit = max(OPERATORS, memory_records // _SHARE_OF_MEMORY_RECORDS)
        self._seconds = max(SECONDS, stop_seconds * _STOPS_APART)
