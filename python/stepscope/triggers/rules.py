"""When something is captured, and how much. A wrong value never stops a training program: it is
replaced by the default, and the log says so."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field, fields, replace
from typing import Any

from stepscope.profiler._log import logger

_SIGNALS = (
    signal.SIGABRT,
    signal.SIGSEGV,
    signal.SIGBUS,
    signal.SIGFPE,
    signal.SIGILL,
    signal.SIGTERM,
)
_MOST_SIGNAL = 31


@dataclass(frozen=True)
class SlowStep:
    """Steps of more than ``factor`` times the median of the 63 before, ``steps`` in a row."""

    factor: float = 1.5
    steps: int = 3


@dataclass(frozen=True)
class Rules:
    #: None: steps may take as long as they do
    slow_step: SlowStep | None = field(default_factory=SlowStep)
    #: seconds in which no step begins or ends, behind the first one; None: never
    no_progress_s: float | None = 60
    on_allocation_failure: bool = True
    #: True: those that end programs; or the signals' numbers
    on_signal: bool | tuple[int, ...] = True
    #: before the last step, in at most ``keep_mb`` of memory, compressed
    keep_seconds: float = 10
    keep_mb: int = 64
    #: behind the trigger; a capture ends with the first of the two
    capture_steps: int = 5
    capture_seconds: float = 30
    #: captures within ``per_seconds``, but for those of signals
    at_most: int = 3
    per_seconds: int = 3600

    def checked(self) -> Rules:
        usual = Rules()
        better: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if not _is_right(item.name, value):
                better[item.name] = getattr(usual, item.name)
                logger.warning("%s is %r: reset to %r", item.name, value, better[item.name])
        return replace(self, **better)

    def native(self) -> dict[str, Any]:
        """In the collector's words."""
        slow = self.slow_step
        return {
            "keep_seconds": self.keep_seconds,
            "keep_mb": self.keep_mb,
            "capture_steps": self.capture_steps,
            "capture_seconds": self.capture_seconds,
            "slow_factor": float(slow.factor) if slow else 0.0,
            "slow_steps": slow.steps if slow else 0,
            "no_progress_s": self.no_progress_s or 0,
            "signals": sum(1 << number for number in self._signals()),
            "at_most": self.at_most,
            "per_seconds": self.per_seconds,
        }

    def _signals(self) -> tuple[int, ...]:
        if isinstance(self.on_signal, bool):
            return tuple(_SIGNALS) if self.on_signal else ()
        return tuple(set(self.on_signal))


def _is_right(name: str, value: Any) -> bool:
    if name == "slow_step":
        return value is None or (
            isinstance(value, SlowStep)
            and _positive(value.factor)
            and value.factor > 1
            and _positive(value.steps, whole=True)
        )
    if name == "no_progress_s":
        return value is None or _positive(value)
    if name == "on_allocation_failure":
        return isinstance(value, bool)
    if name == "on_signal":
        return isinstance(value, bool) or (
            isinstance(value, (tuple, list))
            and all(isinstance(number, int) and 0 < number <= _MOST_SIGNAL for number in value)
        )
    whole = name in ("keep_mb", "capture_steps", "at_most", "per_seconds")
    return _positive(value, whole)


def _positive(value: object, whole: bool = False) -> bool:
    kinds = (int,) if whole else (int, float)
    return isinstance(value, kinds) and not isinstance(value, bool) and 0 < value < 2**31
