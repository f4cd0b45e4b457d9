"""Operators by ITT, torch's own calls into a tracing library: where there is no C++ compiler.

The library is one of Stepscope's, built with it. torch looks for it when it is imported, so its name
has to be in the environment before that.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from stepscope.torch import _build

_VARIABLE = "INTEL_LIBITTNOTIFY64"
_LIBRARY = "libstepscope_itt.so"

HOW = f"import stepscope.torch before torch, or set {_VARIABLE} to the path of {_LIBRARY}"


class Ranges:
    """Operators of this thread, and of those that torch runs its work on, from here to ``stop``."""

    def __init__(self) -> None:
        from torch.autograd.profiler import emit_itt

        self._emitter: Any = emit_itt()
        self._emitter.__enter__()

    def stop(self) -> None:
        self._emitter.__exit__(None, None, None)


def offer() -> None:
    """Names the library to a torch that is yet to be imported, if there will be need for it."""
    if "torch" in sys.modules or _VARIABLE in os.environ:
        return
    try:
        _build.compiler()
    except _build.BuildError:
        library = _find()
        if library:
            os.environ[_VARIABLE] = str(library)


def start() -> Ranges | None:
    """None where torch has not loaded the library."""
    if _LIBRARY not in Path("/proc/self/maps").read_text():
        return None
    return Ranges()


def _find() -> Path | None:
    from stepscope.torch._library import collector_library

    library = collector_library().parent / _LIBRARY
    return library if library.exists() else None
