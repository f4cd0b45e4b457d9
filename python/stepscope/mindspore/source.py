"""MindSpore as a source of a recording: what runs between its start and its stop.

Parts that cannot start are left out, with the reason; none of them stops a training program.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import Any, Callable, Protocol

from stepscope.mindspore import framework
from stepscope.mindspore.guard import Guard
from stepscope.mindspore.host_events import HostEvents
from stepscope.mindspore.modules import ModuleRanges
from stepscope.mindspore.operators import OperatorWindows
from stepscope.mindspore.pipeline import NOTHING_TOLD, TOO_MANY, Pipeline
from stepscope.mindspore.steps import ModelSteps
from stepscope.profiler._log import Once, guarded
from stepscope.profiler.parameters import Parameters
from stepscope.profiler.ranks import find_place

_NEVER = sys.maxsize


class _Part(Protocol):
    def stop(self) -> None: ...


class MindSporeSource:
    """Used by one thread, the one that trains."""

    #: parameters that have an effect because of this source
    honours = frozenset({"record_shapes", "profile_memory", "data_process", "parallel_strategy"})

    def __init__(self) -> None:
        self._once = Once()
        self._guard = Guard()
        self._parts: list[_Part] = []  # in order of their start
        self._operators: OperatorWindows | None = None
        self._host_events: HostEvents | None = None
        self._pipeline: Pipeline | None = None  # where the caller has asked for it
        self._model_steps = ModelSteps(self.on_step_end)
        self._steps = 0  # of the open window of operators
        self._next_look = 1
        self._window_ends = math.inf
        self._missing: dict[str, str] = {}

    def costs(self, parameters: Parameters) -> str:
        return "3 to 5 µs for each operator of MindSpore"

    def expect(self) -> None:
        Pipeline.expect()

    def begin(self) -> None:
        """minddata's manager comes with the window."""

    def end(self) -> None:
        """As above."""

    def prepare(self, parameters: Parameters) -> None:
        """Nothing here takes long."""

    def unprepare(self) -> None:
        """Nothing was done."""

    def start(self, parameters: Parameters, folder: Path) -> dict[str, str]:
        """``folder`` is that of the raw file. Returns what will be missing, with the reason."""
        self._missing = {}
        self._try(
            "operators",
            lambda: self._start_operators(parameters.record_shapes, parameters.profile_memory),
        )
        self._try("steps of Model.train", lambda: self._start_steps(folder))
        if parameters.with_stack:
            self._try("modules", self._start_modules)
        if parameters.data_process:
            asked = "data_process" in parameters.asked
            self._try("pipeline", lambda: self._start_pipeline(folder, asked))
        if framework.host_events_are_on():
            self._try("host events", lambda: self._start_host_events(folder))
        self._begin_window()
        return self._missing

    def about(self, parameters: Parameters) -> dict[str, Any]:
        if not parameters.parallel_strategy:
            return {}
        settings = framework.parallel_settings()
        place = find_place()
        # What nobody has set is 1 and 0 there, also in a job of several ranks.
        if place.world_size and settings.get("device_num", 1) == 1:
            settings |= {"device_num": place.world_size, "global_rank": place.rank}
        return {"parallel": settings}

    @property
    def has_marked_steps(self) -> bool:
        return self._model_steps.has_marked_some

    def program_marks_steps(self) -> None:
        self._model_steps.marked_by_program = True
        self._steps += 1
        # Written out here and below: between two steps of a small network every call counts.
        if self._steps >= self._next_look or time.monotonic() >= self._window_ends:
            self._look()

    def on_step_end(self) -> None:
        self._steps += 1
        if self._steps >= self._next_look or time.monotonic() >= self._window_ends:
            self._look()

    def _look(self) -> None:
        with guarded("MindSpore recording", self._once):
            if self._host_events:
                self._host_events.on_step_end()
            if not self._operators:
                self._next_look = self._steps + 1 if self._host_events else _NEVER
            elif (
                self._steps >= self._operators.rotation.steps
                or time.monotonic() >= self._window_ends
            ):
                self._operators.rotate(self._steps)
                self._begin_window()

    def _begin_window(self) -> None:
        if self._operators:
            self._steps = 0
            self._next_look = 1 if self._host_events else self._operators.rotation.steps
            self._window_ends = time.monotonic() + self._operators.rotation.seconds

    def stop(self) -> dict[str, str]:
        """Before the recording stops. Returns what turned out to be missing, with the reason."""
        for part in reversed(self._parts):
            with guarded(f"stop of MindSpore's {type(part).__name__}"):
                part.stop()
        self._parts = []
        self._operators = None
        with guarded("MindSpore's own profiler"):
            self._guard.open()
        pipeline, self._pipeline = self._pipeline, None
        if pipeline and pipeline.has_left_some_out:
            return {"mindspore pipeline": TOO_MANY}
        return {"data_process": NOTHING_TOLD} if pipeline and pipeline.told_nothing else {}

    def _try(self, part: str, start: Callable[[], None]) -> None:
        try:
            start()
        except Exception as error:
            self._missing[f"mindspore {part}"] = str(error) or type(error).__name__

    def _start_operators(self, shapes: bool, memory: bool) -> None:
        self._guard.close()
        operators = OperatorWindows(shapes, memory)
        operators.start()
        self._operators = operators
        self._parts.append(operators)

    def _start_steps(self, folder: Path) -> None:
        self._model_steps.start(folder)
        self._parts.append(self._model_steps)

    def _start_modules(self) -> None:
        modules = ModuleRanges()
        modules.start()
        self._parts.append(modules)

    def _start_pipeline(self, folder: Path, asked: bool) -> None:
        pipeline = Pipeline()
        pipeline.start(folder)
        self._pipeline = pipeline if asked else None
        self._parts.append(pipeline)

    def _start_host_events(self, folder: Path) -> None:
        self._host_events = HostEvents()
        self._host_events.start(folder)
        self._parts.append(self._host_events)
