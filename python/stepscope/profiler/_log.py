"""How the profiler speaks: the log for what it does, warnings for what a script should change.

Nothing here or above raises into training code: what fails is logged, and training goes on.
"""

from __future__ import annotations

import functools
import logging
import sys
import warnings
from types import FrameType, TracebackType
from typing import Any, Callable, TypeVar, cast

from stepscope._errors import StepscopeWarning

logger = logging.getLogger("stepscope")

_F = TypeVar("_F", bound=Callable[..., Any])


def advise(text: str) -> None:
    """Warns at the line of the script that made it necessary."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame and f"{frame.f_globals.get('__name__')}.".startswith("stepscope."):
        frame = frame.f_back
        level += 1
    warnings.warn(text, StepscopeWarning, stacklevel=level)


class Once:
    """Says a thing once: what happens in one step is likely to happen in all of them.

    Bounded, as texts may hold numbers that change with every step.
    """

    _MOST = 100

    def __init__(self) -> None:
        self._said: set[str] = set()

    def log(self, level: int, text: str) -> None:
        if text not in self._said and len(self._said) < self._MOST:
            self._said.add(text)
            logger.log(level, text)


class guarded:  # noqa: N801, reads as a word: with guarded("Profiler.stop"): ...
    """Logs an exception of its block and swallows it."""

    def __init__(self, call: str, once: Once | None = None) -> None:
        self._call = call
        self._once = once

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception):  # Ctrl-C and exit() are not ours to swallow
            return False
        text = f"Call to {self._call} failed: {error or type(error).__name__}"
        (self._once or Once()).log(logging.ERROR, text)
        logger.debug("Where it failed:", exc_info=error)
        return True


def explained(constructor: _F) -> _F:
    """Logs what a constructor raises: programs that catch and go on keep a trace of it."""

    @functools.wraps(constructor)
    def logged(*arguments: Any, **options: Any) -> Any:
        try:
            return constructor(*arguments, **options)
        except Exception as error:
            logger.error("Call to %s failed: %s", constructor.__qualname__, error)
            raise

    return cast(_F, logged)
