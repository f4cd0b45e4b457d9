"""Tells a window in which no training happened.

A loop that ends right after step() may have opened one. A loop that begins with step() has its last
step there: such a window must be kept.
"""

from __future__ import annotations

import math
import threading
import time

# What a thread needs to leave a loop, and how long that may take: a busy machine takes a thread off
# its processor for many milliseconds.
_CPU_SECONDS = 0.0002
_SECONDS = 0.02
_SHARE_OF_SHORTEST_STEP = 0.1


class Idle:
    def __init__(self) -> None:
        self._shortest_step = math.inf
        self._opened_window = False
        self._thread = 0
        self._clock = 0.0
        self._cpu = 0.0

    def step_ends(self) -> float:
        """Returns how long the step took."""
        seconds = time.monotonic() - self._clock
        if seconds < self._shortest_step:
            self._shortest_step = seconds
        return seconds

    def step_begins(self, opened_window: bool) -> None:
        self._opened_window = opened_window
        self._clock = time.monotonic()
        if opened_window:  # the rest is asked for only then, and takes microseconds
            self._thread = threading.get_ident()
            self._cpu = time.thread_time()

    def since_step(self) -> bool:
        """Whether the last step() opened a window and nothing happened since."""
        if not self._opened_window or self._thread != threading.get_ident():
            return False
        longest = max(_SECONDS, _SHARE_OF_SHORTEST_STEP * self._shortest_step)
        used = time.thread_time() - self._cpu
        return used < _CPU_SECONDS and time.monotonic() - self._clock < longest
