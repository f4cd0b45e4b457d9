"""What frameworks record by themselves while a window is open: their operators, above all."""

from __future__ import annotations

import sys
from typing import Protocol

from stepscope.profiler._log import guarded
from stepscope.profiler.enums import ProfilerActivity
from stepscope.profiler.parameters import Parameters


class FrameworkSource(Protocol):
    @property
    def honours(self) -> frozenset[str]:
        """Names of the parameters that need this source."""

    def prepare(self) -> None:
        """Does what takes long, before anything is recorded."""

    def start(self, parameters: Parameters) -> dict[str, str]:
        """Called when recording has begun. Returns what will be missing, with the reason."""

    def program_marks_steps(self) -> None:
        """The program says where steps begin: the source need not find out."""

    def stop(self) -> None:
        """Called before recording ends."""


class Frameworks:
    """The sources of the frameworks that the program uses, as one. None of them can do harm."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._sources: list[FrameworkSource] = []
        if ProfilerActivity.CPU not in parameters.activities:
            return
        with guarded("the PyTorch source"):
            if "torch" in sys.modules:
                from stepscope.torch._source import TorchSource

                self._sources.append(TorchSource())

    @property
    def honours(self) -> frozenset[str]:
        return frozenset().union(*(source.honours for source in self._sources))

    def prepare(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.prepare"):
                source.prepare()

    def start(self) -> dict[str, str]:
        missing: dict[str, str] = {}
        for source in self._sources:
            with guarded(f"{type(source).__name__}.start"):
                missing.update(source.start(self._parameters))
        return missing

    def program_marks_steps(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.program_marks_steps"):
                source.program_marks_steps()

    def stop(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.stop"):
                source.stop()
