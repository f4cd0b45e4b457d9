"""The windows of one profiler: what the transitions do, one after the other."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.profiler import devices
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.analysis import Analyses, Choices, background
from stepscope.profiler.frameworks import Frameworks
from stepscope.profiler.handlers import TraceHandler, call_trace_ready
from stepscope.profiler.metadata import Metadata
from stepscope.profiler.mstx import mstx
from stepscope.profiler.outer import outer_run
from stepscope.profiler.parameters import Parameters, plain
from stepscope.profiler.step_times import StepTimes

if TYPE_CHECKING:
    from stepscope.profiler.session import Session
    from stepscope.profiler.window import Window


class Recorder:
    def __init__(self, parameters: Parameters, once: Once, times: StepTimes) -> None:
        self._parameters = parameters
        self._once = once
        self._times = times
        self._outer: Path | None = None
        self._last: Window | None = None
        self._prepared: Frameworks | None = None
        self._output = parameters.output_folder
        self.handler = parameters.on_trace_ready
        self.metadata = Metadata()
        self.window: Window | None = None
        #: windows that are complete and have not been analysed
        self.recorded: list[Path] = []
        self.has_recorded = False
        #: of the last window that is complete, or is being handed over
        self.last_path: Path | None = None
        #: when it began; 0 where the run holds nothing before
        self.last_began_ns = 0
        #: runs with windows that are complete, and where the first window of each began
        self.windows: dict[Path, int] = {}
        #: what it lacks, in words
        self.last_missing = ""
        self.delivering = False
        #: the window holds nothing, and is to be removed
        self.is_idle = False
        self._begun: Frameworks | None = None

    def expect(self) -> None:
        """The profiler was made, and will be started later."""
        if self._parameters.data_process:
            Frameworks(self._parameters).expect()

    def begin(self) -> None:
        """The profiler has started: what must be there before the first window."""
        if self._parameters.data_process:
            self._begun = Frameworks(self._parameters)
            self._begun.begin()

    def end(self) -> None:
        begun, self._begun = self._begun, None
        if begun:
            begun.end()

    @property
    def has_joined(self) -> bool:
        """Whether windows went into the recording of another."""
        return self._outer is not None and self.has_recorded

    def look_around(self, name: str) -> None:
        """Finds out whether the process is being recorded from outside."""
        self._outer = outer_run()
        if self._outer:
            self._once.log(
                logging.INFO,
                f"stepscope record is recording this process into {self._outer}: {name} joins it, "
                "its windows are noted there, and no run directory of its own is made",
            )

    def step(self, number: int) -> None:
        """Marks the beginning of a step, also outside of windows where something else records."""
        if self.window:
            self.window.step(number)
        elif self._outer:
            _record().step(number)

    def await_first_step(self) -> None:
        if self.window:
            self.window.await_first_step()

    def end_step(self) -> None:
        """Ends the step that is open outside of windows; a window ends its own."""
        if self._outer:
            _record().end_step()

    def leave(self) -> None:
        """The profiler has been stopped."""
        self.end_step()
        self._complete_last()

    def _complete_last(self) -> None:
        """Steps that were not recorded may have come behind the last window only."""
        last, self._last = self._last, None
        if last:
            last.add_step_times(self._times.figures())

    def prepare(self) -> None:
        import stepscope.profiler.window  # noqa: F401, START is quicker then

        if not self._outer:
            sources = devices.sources(self._parameters, devices.present())
            _record().prepare(json.dumps({**self._parameters.budget, "sources": sources}))
        self._prepared = Frameworks(self._parameters)
        self._prepared.prepare()

    def start(self) -> None:
        from stepscope.profiler.joined import JoinedWindow
        from stepscope.profiler.window import Window

        self.window = self._prepared = None
        self.is_idle = False
        self._complete_last()
        self._times.window_begins()
        if self._outer:
            self.window = JoinedWindow(self._outer, self._parameters, self.metadata)
        else:
            handler = self.handler
            worker = handler.worker if isinstance(handler, TraceHandler) else None
            self.window = Window(self._output, worker, self._parameters, self.metadata)
        self._say_problems()
        mstx.open(self._parameters)

    def stop(self) -> None:
        if not self.window:
            return
        open_ranges = mstx.close()
        with guarded("stop"):
            self.window.note_open_ranges(open_ranges)
            self.window.stop(self._times.figures())
        self._say_problems()
        if devices.records_nothing(self._parameters, devices.present()):
            self._once.log(
                logging.WARNING,
                f"activities={plain(self._parameters.activities)} records nothing on this machine "
                "but steps, marks and system counters; leave activities out to use default ones",
            )

    def _say_problems(self) -> None:
        if not self.window:
            return
        for name, reason in self.window.not_honoured.items():
            in_part = devices.has_effect_in_part(name, self._parameters, devices.present())
            effect = "has effect in part" if in_part else "has no effect"
            self._once.log(logging.WARNING, f"{name} {effect}: {reason}")
        for problem in self.window.problems:
            self._once.log(logging.WARNING, problem)

    def finalise(self) -> None:
        if not self.window:
            return
        if self.is_idle:
            self.window.discard()
            self.window = None
            return
        with guarded("finalise"):
            self.window.finalise()
            self._last = self.window
            self.last_path = self.window.path
            self.last_began_ns = self.window.began_ns
            self.windows.setdefault(self.window.path, self.window.began_ns)
            self.last_missing = self.window.missing
            self.has_recorded = True
            # The outer one is complete when the program ends.
            if not self._outer and not self.window.hangs:
                self.recorded.append(self.window.path)

    def deliver(self, profiler: Session) -> None:
        if self.window and self.handler:
            self.delivering = True
            try:
                call_trace_ready(self.handler, profiler)
            finally:
                self.delivering = False

    def clear(self) -> None:
        self.window = None
        prepared, self._prepared = self._prepared, None
        if prepared:  # for a window that did not come
            prepared.unprepare()
            _record().unprepare()

    def analyse(
        self, choices: Choices, in_background: bool, most_seconds: float | None = None
    ) -> None:
        if self.has_joined:
            text = f"{self._outer} is still being recorded: it is analysed when it is opened"
            self._once.log(logging.INFO, text)
        directories, self.recorded = self.recorded, []
        if not in_background:
            Analyses().run(directories, choices, most_seconds=most_seconds)
            return
        for directory in directories:
            background.start(directory, choices)

    def pass_on_metadata(self, key: str) -> None:
        """Tells the open window of a pair that was added to the metadata."""
        if self.window:
            self.window.add_metadata(key)
        elif self._last:
            self._last.has_late_metadata = True
        elif self.has_recorded:
            logger.warning("the run is complete: metadata %r will be in the next one only", key)


def _record() -> Any:
    from stepscope import _record

    return _record
