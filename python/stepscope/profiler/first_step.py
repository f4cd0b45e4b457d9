"""The first step of a profiler without a schedule, which nobody has marked."""

from __future__ import annotations

from stepscope import _record

#: what takes less than this part of the next step is none
_PART = 10


class FirstStep:
    """A program that calls ``step()`` where its iterations end has done one before the first call.
    One that calls it where they begin has not: which it is shows when the next step has ended."""

    def __init__(self) -> None:
        self._began = _record.now()
        self._ended = 0
        self._number = 0

    def step(self, number: int) -> bool:
        """``number`` begins. Whether this is settled."""
        if self._ended:
            self.settle()
            return True
        self._number, self._ended = number - 1, _record.now()
        return False

    def settle(self) -> None:
        """The next step has ended, or the recording ends."""
        next_took = _record.now() - self._ended
        if self._ended and (self._ended - self._began) * _PART >= next_took:
            _record.step_since(self._number, self._began)
