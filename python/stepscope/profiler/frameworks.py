"""What frameworks record by themselves while a window is open: their operators, above all."""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from pathlib import Path
from typing import Any, Callable, Protocol

from stepscope._imports import when_imported
from stepscope.profiler._log import Once, guarded
from stepscope.profiler.enums import ProfilerActivity
from stepscope.profiler.parameters import Parameters


class FrameworkSource(Protocol):
    @property
    def honours(self) -> frozenset[str]:
        """Names of the parameters that need this source."""

    def costs(self, parameters: Parameters) -> str:
        """What it will add to the program, in words."""

    def expect(self) -> None:
        """A profiler was made that will be started later. With ``data_process`` only."""

    def begin(self) -> None:
        """The profiler has started; windows may be a long way off. With ``data_process`` only."""

    def end(self) -> None:
        """The profiler has stopped."""

    def prepare(self, parameters: Parameters) -> None:
        """Does what takes long, before anything is recorded."""

    def unprepare(self) -> None:
        """Undoes that where nothing was recorded after all."""

    def start(self, parameters: Parameters, folder: Path) -> dict[str, str]:
        """Called when recording into ``folder`` has begun. Returns what will be missing, with the
        reason."""

    def about(self, parameters: Parameters) -> dict[str, Any]:
        """What the run is to say about the framework, when recording ends: names and JSON."""

    def program_marks_steps(self) -> None:
        """The program says that a step ends and another begins: the source need not find out.
        Called at each, between the two."""

    @property
    def has_marked_steps(self) -> bool:
        """Whether the source has found some by itself."""

    def stop(self) -> dict[str, str]:
        """Called before recording ends. Returns what turned out to be missing, with the reason."""


_SOURCES = {
    "torch": ("stepscope.torch._source", "TorchSource"),
    "mindspore": ("stepscope.mindspore.source", "MindSporeSource"),
}


def _make(name: str) -> FrameworkSource:
    module, source = _SOURCES[name]
    made: FrameworkSource = getattr(importlib.import_module(module), source)()
    return made


class Frameworks:
    """The sources of the frameworks that the program uses, as one. None of them can do harm."""

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = parameters
        self._once = Once()
        self._sources: list[FrameworkSource] = []
        self._absent: list[str] = []
        self._stop_waiting: list[Callable[[], None]] = []
        self._late: list[FrameworkSource] = []  # imported while they are recorded
        self._joining = threading.Lock()
        if ProfilerActivity.CPU not in parameters.activities:
            return
        for name in _SOURCES:
            if name not in sys.modules:
                self._absent.append(name)
                continue
            with guarded(f"the source of {name}"):
                self._sources.append(_make(name))

    @property
    def honours(self) -> frozenset[str]:
        return frozenset().union(*(source.honours for source in self._sources))

    @property
    def costs(self) -> list[str]:
        return [source.costs(self._parameters) for source in self._sources]

    def expect(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.expect"):
                source.expect()

    def begin(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.begin"):
                source.begin()

    def end(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.end"):
                source.end()

    def prepare(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.prepare"):
                source.prepare(self._parameters)

    def unprepare(self) -> None:
        for source in self._sources:
            with guarded(f"{type(source).__name__}.unprepare"):
                source.unprepare()

    def start(self, folder: Path, later: Callable[[dict[str, str]], None]) -> dict[str, str]:
        """Frameworks that the program imports while it is recorded join then. What is missing of
        them is told to ``later``."""
        missing: dict[str, str] = {}
        for source in self._sources:
            with guarded(f"{type(source).__name__}.start"):
                missing.update(source.start(self._parameters, folder))
        process = os.getpid()
        for name in self._absent:
            join = functools.partial(self._join, process, name, folder, later)
            self._stop_waiting.append(when_imported(name, join))
        return missing

    def _join(
        self, process: int, name: str, folder: Path, later: Callable[[dict[str, str]], None]
    ) -> None:
        if process != os.getpid():
            return  # a forked child is not recorded
        with guarded(f"the source of {name}"), self._joining:
            if not self._stop_waiting:
                return  # stopped meanwhile
            source = _make(name)
            if self._parameters.data_process:
                source.begin()
            source.prepare(self._parameters)
            later(source.start(self._parameters, folder))
            self._sources.append(source)
            self._late.append(source)

    def about(self) -> dict[str, Any]:
        said: dict[str, Any] = {}
        for source in self._sources:
            with guarded(f"{type(source).__name__}.about"):
                said.update(source.about(self._parameters))
        return said

    @property
    def have_marked_steps(self) -> bool:
        return any(source.has_marked_steps for source in self._sources)

    def program_marks_steps(self) -> None:
        with guarded("a framework's end of a step", self._once):
            for source in self._sources:
                source.program_marks_steps()

    def stop(self) -> dict[str, str]:
        missing: dict[str, str] = {}
        with self._joining:
            for stop_waiting in self._stop_waiting:
                stop_waiting()
            self._stop_waiting = []
        for source in self._sources:
            with guarded(f"{type(source).__name__}.stop"):
                missing.update(source.stop())
        if self._parameters.data_process:
            for source in self._late:
                with guarded(f"{type(source).__name__}.end"):
                    source.end()
        return missing
