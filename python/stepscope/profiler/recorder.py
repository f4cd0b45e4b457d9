"""The windows of one profiler: what the transitions do, one after the other."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.profiler import devices
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.analysis import Analyses, Choices, background
from stepscope.profiler.frameworks import Frameworks
from stepscope.profiler.handlers import TraceHandler, call_trace_ready
from stepscope.profiler.metadata import Metadata
from stepscope.profiler.mstx import mstx
from stepscope.profiler.parameters import Parameters, plain
from stepscope.profiler.run_directory import check_path

if TYPE_CHECKING:
    from stepscope.profiler.session import Session
    from stepscope.profiler.window import Window


class Recorder:
    def __init__(self, parameters: Parameters, once: Once) -> None:
        self._parameters = parameters
        self._once = once
        self._output = check_path(parameters.output_path)
        self._handler = parameters.on_trace_ready
        self.metadata = Metadata()
        self.window: Window | None = None
        #: windows that are complete and have not been analysed
        self.recorded: list[Path] = []
        self.has_recorded = False
        self.delivering = False
        #: the window holds nothing, and is to be removed
        self.is_idle = False
        self._begun: Frameworks | None = None

    def begin(self) -> None:
        """The profiler has started: what must be there before the first window."""
        if self._parameters.data_process:
            self._begun = Frameworks(self._parameters)
            self._begun.begin()

    def end(self) -> None:
        begun, self._begun = self._begun, None
        if begun:
            begun.end()

    def prepare(self) -> None:
        import stepscope.profiler.window  # noqa: F401, the collector's library comes with it

        Frameworks(self._parameters).prepare()

    def start(self) -> None:
        from stepscope.profiler.window import Window

        self.window = None
        self.is_idle = False
        handler = self._handler
        worker = handler.worker if isinstance(handler, TraceHandler) else None
        self.window = Window(self._output, worker, self._parameters, self.metadata)
        for name, reason in self.window.not_honoured.items():
            self._once.log(logging.WARNING, f"{name} has no effect: {reason}")
        mstx.open(self._parameters)

    def stop(self) -> None:
        if not self.window:
            return
        mstx.close()
        with guarded("stop"):
            self.window.stop()
        if devices.records_nothing(self._parameters, devices.present()):
            self._once.log(
                logging.WARNING,
                f"activities={plain(self._parameters.activities)} records nothing on this machine "
                "but steps, marks and system counters; leave activities out to use default ones",
            )

    def finalise(self) -> None:
        if not self.window:
            return
        if self.is_idle:
            logger.info("%s is removed: the loop ended as it was opened", self.window.path)
            self.window.discard()
            self.window = None
            return
        with guarded("finalise"):
            self.window.finalise()
            self.recorded.append(self.window.path)
            self.has_recorded = True

    def deliver(self, profiler: Session) -> None:
        if self.window and self._handler:
            self.delivering = True
            try:
                call_trace_ready(self._handler, profiler)
            finally:
                self.delivering = False

    def clear(self) -> None:
        self.window = None

    def analyse(self, choices: Choices, in_background: bool) -> None:
        directories, self.recorded = self.recorded, []
        if not in_background:
            Analyses().run(directories, choices)
            return
        for directory in directories:
            background.start(directory, choices)

    def pass_on_metadata(self, key: str) -> None:
        """Tells the open window of a pair that was added to the metadata."""
        if self.window:
            self.window.add_metadata(key)
        elif self.has_recorded:
            logger.warning("the run is complete: metadata %r will be in the next one only", key)
