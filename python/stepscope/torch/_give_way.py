"""torch.profiler comes first. A thread has one profiler, and torch's raises where it finds the
place taken. While Stepscope has it, the functions that start and end torch's are wrapped: the place
is free when theirs starts, and Stepscope's when theirs has ended.
"""

from __future__ import annotations

import functools
import sys
from typing import Any, Callable

from stepscope.profiler._log import logger
from stepscope.torch._library import Library

# Each of them has the functions of torch._C under their names.
_MODULES = (
    "torch.autograd.profiler",
    "torch.autograd.profiler_legacy",
    "torch.autograd",
    "torch._C._autograd",
)
_STARTS = ("_enable_profiler", "_enable_profiler_legacy")
_ENDS = ("_disable_profiler", "_disable_profiler_legacy")


class GivesWay:
    def __init__(self, library: Library) -> None:
        self._library = library
        #: module, name, what was there, what is there now
        self._wrapped: list[tuple[Any, str, Callable[..., Any], Callable[..., Any]]] = []

    def start(self) -> None:
        import torch.autograd.profiler  # noqa: F401, to be found below

        for module_name in _MODULES:
            module = sys.modules.get(module_name)
            for name in (*_STARTS, *_ENDS):
                original = getattr(module, name, None)
                if original is not None:
                    wrapper = self._start_of if name in _STARTS else self._end_of
                    wrapped = wrapper(original)
                    setattr(module, name, wrapped)
                    self._wrapped.append((module, name, original, wrapped))

    def stop(self) -> None:
        wrapped, self._wrapped = self._wrapped, []
        for module, name, original, ours in wrapped:
            # Where another has wrapped it again, ours stays below and does nothing.
            if getattr(module, name, None) is ours:
                setattr(module, name, original)

    def _start_of(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def start(*arguments: Any, **options: Any) -> Any:
            if self._wrapped and self._library.give_way():
                logger.warning(
                    "profile_memory has effect in part: torch.profiler starts on this thread, and "
                    "has the reports of the allocators until it ends"
                )
            try:
                return original(*arguments, **options)
            except BaseException:
                self._come_back()
                raise

        return start

    def _end_of(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def end(*arguments: Any, **options: Any) -> Any:
            try:
                return original(*arguments, **options)
            finally:
                self._come_back()

        return end

    def _come_back(self) -> None:
        if self._wrapped:
            self._library.come_back()
