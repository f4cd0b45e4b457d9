"""Keeps MindSpore's own Python profiler out while ours records.

Both would drive the same C++ object: whoever stops it stops it for both.
"""

from __future__ import annotations

import os
from typing import Any, Callable

from stepscope.mindspore import framework
from stepscope.profiler._log import logger

_METHODS = ("start", "stop", "analyse")


class OwnProfilerActiveError(RuntimeError):
    def __init__(self) -> None:
        super().__init__(
            "MindSpore's own profiler is recording, and there is only one in a process: "
            + (
                "MS_PROFILER_OPTIONS started it; import stepscope before mindspore, and ours "
                "records in its place"
                if os.environ.get("MS_PROFILER_OPTIONS")
                else "stop it, or let `stepscope record` put ours in its place"
            )
        )


class Guard:
    def __init__(self) -> None:
        self._kept: dict[str, Callable[..., Any]] = {}
        self._said = False

    def close(self) -> None:
        """Raises OwnProfilerActiveError if the other was first."""
        if framework.own_profiler_is_active():
            raise OwnProfilerActiveError
        theirs = framework.own_profiler_class()
        for name in _METHODS:
            self._kept[name] = getattr(theirs, name)
            setattr(theirs, name, self._refuse)

    def open(self) -> None:
        theirs = framework.own_profiler_class() if self._kept else None
        for name, method in self._kept.items():
            setattr(theirs, name, method)
        self._kept = {}

    def _refuse(self, *_: object, **__: object) -> None:
        if not self._said:
            self._said = True
            logger.error("stepscope is recording: MindSpore's own profiler does nothing meanwhile")
