"""The watch itself: one in a process at a time."""

from __future__ import annotations

import atexit
import json
import os
import socket
import sys
from dataclasses import fields
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

from stepscope import _record
from stepscope.profiler import devices
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.parameters import Parameters, resolve
from stepscope.profiler.ranks import find_place
from stepscope.profiler.run_directory import check_path
from stepscope.triggers.allocation import AllocationFailures
from stepscope.triggers.rules import Rules
from stepscope.triggers.stacks import PythonStacks
from stepscope.triggers.steps import WatchedFrameworks

_RULES = {item.name for item in fields(Rules)}
_MOST_CAPTURES = 100
_NOT_IN_A_WATCH = ("schedule", "on_trace_ready", "start_profile", "output_path")


class Capture(NamedTuple):
    """A run directory, and why there is one."""

    path: Path
    kind: str
    what: str
    #: False while it is being recorded, and where something ended it early
    complete: bool
    #: what ended it early, a limit or the disk; empty otherwise
    stopped_by: str = ""
    #: events that are missing
    not_recorded: int = 0


def watch(
    output_path: str | os.PathLike[str] = "./data", operators: bool = True, **options: Any
) -> Watch:
    """Starts watching, until the end of the program or ``stop``. Never raises.

    Args:
        output_path: where the run directories of captures go.
        operators: PyTorch's operators are recorded; without them only steps, ranges and the system.
        options: the fields of ``Rules``, and of ``Profiler``'s parameters those that say what is
            recorded: ``with_stack``, ``record_shapes``, ``profile_memory``, ``max_host_mb`` ...
    """
    rules = {name: options.pop(name) for name in list(options) if name in _RULES}
    for name in _NOT_IN_A_WATCH:
        if options.pop(name, None) is not None:
            logger.warning("%s has no effect in a watch", name)
    parameters = resolve(options, devices.default_parameters(devices.present()))
    return Watch(str(output_path), Rules(**rules).checked(), parameters, operators)


class Watch:
    """What ``watch`` returns. Used by the thread that trains."""

    def __init__(self, output: str, rules: Rules, parameters: Parameters, operators: bool) -> None:
        self._output = output
        self._rules = rules
        self._parameters = parameters
        self._operators = bool(operators)
        self._once = Once()
        self._process = os.getpid()
        self._recording: _record.Recording | None = None
        self._frameworks: WatchedFrameworks | None = None
        self._stacks: PythonStacks | None = None
        self._failures: AllocationFailures | None = None
        self._number = 0
        self._marks_steps = False
        self._captured: list[Capture] = []
        with guarded("stepscope.triggers.watch"):
            self._start()

    @property
    def active(self) -> bool:
        return self._recording is not None and self._process == os.getpid()

    def step(self, number: int | None = None) -> None:
        """Ends a training step and begins the next one, for programs whose steps nobody else
        marks. Without a number they are counted."""
        if self._recording is None or self._frameworks is None:
            return
        with guarded("Watch.step", self._once):
            if not self._marks_steps:
                self._marks_steps = True
                self._frameworks.program_marks_steps()
            self._number = self._number + 1 if number is None else int(number)
            _record.step(self._number)

    def trigger(self, what: str, kind: str = "asked") -> None:
        """Captures because of something that only the program knows."""
        with guarded("Watch.trigger", self._once):
            if self.active:
                _record.trigger(str(kind), str(what))

    @property
    def captures(self) -> list[Capture]:
        """What was captured, the last hundred."""
        with guarded("Watch.captures", self._once):
            if self.active:
                return [*self._captured, *_read(_record.captures())]
        return list(self._captured)

    def stop(self) -> None:
        """Ends a capture that is under way, and the watch."""
        with guarded("Watch.stop"):
            self.pause()
        global _current
        if _current is self:
            _current = None

    def pause(self) -> bool:
        """Makes room for another recording of this process. Whether there was anything to do."""
        recording, self._recording = self._recording, None
        if recording is None or self._process != os.getpid():
            return False
        if self._failures:
            self._failures.stop()
        if self._frameworks:
            self._frameworks.stop()
        if self._marks_steps:
            _record.end_step()
        statistics = json.loads(recording.stop())
        if self._stacks:
            self._stacks.stop()
        self._failures = self._frameworks = self._stacks = None
        captured = self._captured + _read(json.dumps(statistics.get("captures", [])))
        self._captured = captured[-_MOST_CAPTURES:]  # a program may interrupt it every few steps
        return True

    def resume(self) -> None:
        """Goes on after ``pause``; medians and seconds start again."""
        with guarded("Watch.resume", self._once):
            if self._recording is None and self._process == os.getpid():
                self._begin()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._failures:
            self._failures.look_at(error)
        self.stop()

    def _start(self) -> None:
        global _current
        if _current is not None and _current.active:
            logger.error("this process is being watched already: the first watch goes on")
            return
        if _record.is_recording():
            logger.error(
                "this process is being recorded already: start the watch first, profilers that "
                "start later interrupt it"
            )
            return
        self._output = str(check_path(self._output))
        self._begin()
        _current = self

    def _begin(self) -> None:
        self._stacks = PythonStacks()
        try:
            self._recording = _record.Recording.watch(
                self._output, json.dumps(self._rules.native()), self._native_options()
            )
        except BaseException:
            self._stacks.stop()
            raise
        self._marks_steps = False
        self._frameworks = WatchedFrameworks(self._parameters, self._operators)
        if self._rules.on_allocation_failure:
            self._failures = AllocationFailures(self._allocation_failed)

    def _allocation_failed(self, what: str) -> None:
        _record.trigger("allocation_failure", what)

    def _native_options(self) -> str:
        place = find_place()
        sources = devices.sources(self._parameters, devices.present(), place.device)
        if sources.pop("npu", None):
            self._once.log(30, "a watch does not record the NPU: CANN writes all the time")
        about = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "world_size": place.world_size,
            "python": sys.version.split()[0],
            "parameters": self._parameters.effective(),
            "watch": self._rules.native(),
        }
        return json.dumps(
            {
                "rank": place.rank,
                **self._parameters.budget,
                "sources": sources,
                "metadata": about,
            }
        )


def _read(captures: str) -> list[Capture]:
    return [
        Capture(
            Path(item["folder"]),
            item["kind"],
            item["what"],
            bool(item["complete"]),
            item.get("stopped_by", ""),
            item.get("not_recorded", 0),
        )
        for item in json.loads(captures)
    ]


# A process has one recording, and so one watch.
_current: Watch | None = None


def current() -> Watch | None:
    """The watch of this process, if it has one."""
    return _current if _current is not None and _current.active else None


@atexit.register
def _end_of_program() -> None:
    if _current is not None:
        _current.stop()
