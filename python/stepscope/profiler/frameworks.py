"""Frameworks that a window records by their own means.

Only those that the program has imported already: importing one here could cost seconds.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Protocol

from stepscope.profiler._log import guarded
from stepscope.profiler.parameters import Parameters

# Framework, and the module and class of ours.
_SOURCES = {"mindspore": ("stepscope.mindspore.source", "MindSporeSource")}


class FrameworkSource(Protocol):
    name: str
    #: parameters that have an effect because of this source
    honours: frozenset[str]
    #: parts that could not start, and why
    left_out: dict[str, str]

    def start(self, folder: Path) -> None: ...
    def on_program_step(self) -> None: ...
    def stop(self) -> None: ...
    def remove(self) -> None: ...


def imported(parameters: Parameters) -> list[FrameworkSource]:
    """Never raises: a framework of another version is left out, and the log says so."""
    found: list[FrameworkSource] = []
    for framework, (module, name) in _SOURCES.items():
        if framework in sys.modules:
            with guarded(f"recording of {framework}"):
                found.append(getattr(import_module(module), name)(parameters))
    return found
