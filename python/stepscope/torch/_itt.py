"""Operators by ITT, torch's own calls into a tracing library: where there is no C++ compiler.

The library is one of Stepscope's, built with it. Its name has to be in the environment before torch
is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from stepscope.torch import _build

_VARIABLE = "INTEL_LIBITTNOTIFY64"
_GROUPS = "INTEL_ITTNOTIFY_GROUPS"
_LIBRARY = "libstepscope_itt.so"

HOW = (
    f"import stepscope.torch before torch, or set {_VARIABLE} to the path of {_LIBRARY} and "
    f"{_GROUPS} to all"
)


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
            os.environ[_GROUPS] = "all"


def wake() -> None:
    """Has torch load the library, which it does at the first operator. Nothing records yet."""
    import torch

    if os.environ.get(_VARIABLE, "").endswith(_LIBRARY) and not _loaded():
        ranges = Ranges()
        torch.empty(0)
        ranges.stop()


def start() -> Ranges | None:
    """None where torch has not loaded the library."""
    return Ranges() if _loaded() else None


def _loaded() -> bool:
    return _LIBRARY in Path("/proc/self/maps").read_text()


def _find() -> Path | None:
    from stepscope.torch._library import collector_library

    library = collector_library().parent / _LIBRARY
    return library if library.exists() else None
