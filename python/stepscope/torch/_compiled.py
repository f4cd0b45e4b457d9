"""The ranges of torch.compile: compiled graphs, Triton's kernels, the phases of compiling. torch
makes them where a flag says that a profiler runs, on threads that have one
(native/thread_profiler.h).
"""

from __future__ import annotations

import importlib
import sys
from typing import Any, Callable

_MODULE = "torch.autograd.profiler"
_SETTER = "_set_is_profiler_enabled"


def is_compile_used() -> bool:
    """Whether the program has called torch.compile. Nothing else makes such ranges, and asking for
    them costs every operator."""
    frames = sys.modules.get("torch._dynamo.eval_frame")
    return any(map(callable, getattr(frames, "cached_backends", {}).values()))


class CompiledRanges:
    """Keeps the flag up. Whatever torch.profiler does with it meanwhile holds from the end on."""

    def __init__(self) -> None:
        self._wanted = False
        self._set: Callable[[bool], None] | None = None

    def start(self) -> None:
        profiler: Any = importlib.import_module(_MODULE)
        set_flag = getattr(profiler, _SETTER, None)
        if set_flag is None:
            return  # a torch without such ranges

        def note(enable: bool) -> None:
            self._wanted = enable
            if self._set is None:  # over, and wrapped by another meanwhile
                set_flag(enable)

        self._wanted = profiler._is_profiler_enabled
        self._set, self._note = set_flag, note
        setattr(profiler, _SETTER, note)
        set_flag(True)

    def stop(self) -> None:
        profiler = importlib.import_module(_MODULE)
        set_flag, self._set = self._set, None
        if set_flag is None:
            return
        if getattr(profiler, _SETTER) is self._note:
            setattr(profiler, _SETTER, set_flag)
        set_flag(self._wanted)
