"""What frameworks record by themselves while a window is open: their operators, above all."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

from stepscope.profiler._log import Once, guarded
from stepscope.profiler.enums import ProfilerActivity
from stepscope.profiler.parameters import Parameters


class FrameworkSource(Protocol):
    @property
    def honours(self) -> frozenset[str]:
        """Names of the parameters that need this source."""

    def costs(self, parameters: Parameters) -> str:
        """What it will add to the program, in words."""

    def prepare(self, parameters: Parameters) -> None:
        """Does what takes long, before anything is recorded."""

    def unprepare(self) -> None:
        """Undoes that where nothing was recorded after all."""

    def start(self, parameters: Parameters, folder: Path) -> dict[str, str]:
        """Called when recording into ``folder`` has begun. Returns what will be missing, with the
        reason."""

    def program_marks_steps(self) -> None:
        """The program says that a step ends and another begins: the source need not find out.
        Called at each, between the two."""

    def stop(self) -> None:
        """Called before recording ends."""


class Frameworks:
    """The sources of the frameworks that the program uses, as one. None of them can do harm."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._once = Once()
        self._sources: list[FrameworkSource] = []
        if ProfilerActivity.CPU not in parameters.activities:
            return
        with guarded("the PyTorch source"):
            if "torch" in sys.modules:
                from stepscope.torch._source import TorchSource

                self._sources.append(TorchSource())
        with guarded("the MindSpore source"):
            if "mindspore" in sys.modules:
                from stepscope.mindspore.source import MindSporeSource

                self._sources.append(MindSporeSource())

    @property
    def honours(self) -> frozenset[str]:
        return frozenset().union(*(source.honours for source in self._sources))

    @property
    def costs(self) -> list[str]:
        return [source.costs(self._parameters) for source in self._sources]

    def prepare(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.prepare"):
                source.prepare(self._parameters)

    def unprepare(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.unprepare"):
                source.unprepare()

    def start(self, folder: Path) -> dict[str, str]:
        missing: dict[str, str] = {}
        for source in self._sources:
            with guarded(f"{type(source).__name__}.start"):
                missing.update(source.start(self._parameters, folder))
        return missing

    def program_marks_steps(self) -> None:
        with guarded("a framework's end of a step", self._once):
            for source in self._sources:
                source.program_marks_steps()

    def stop(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.stop"):
                source.stop()
