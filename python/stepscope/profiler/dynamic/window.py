"""The recording of one window of steps that the configuration asked for."""

from __future__ import annotations

import json
from pathlib import Path

from stepscope.profiler.devices import default_parameters, present
from stepscope.profiler.dynamic.config import Config
from stepscope.profiler.handlers import TraceHandler
from stepscope.profiler.parameters import resolve
from stepscope.profiler.session import Session


class DynamicWindow(Session):
    """Records from ``begin`` to ``stop``; the monitor says where steps end."""

    def __init__(self, config: Config, folder: Path) -> None:
        given = {
            **config.options,
            "output_path": str(folder),
            "start_profile": False,
            "on_trace_ready": TraceHandler(
                analyses=config.analyse, in_background=config.in_background
            ),
        }
        super().__init__(resolve(given, default_parameters(present())))
        self.config = config
        #: the last step that has ended
        self.ended = 0
        asked = {"start_step": config.start, "stop_step": config.stop, "request": config.request}
        self.add_metadata_json("dynamic_profiling", json.dumps(asked))

    def begin(self, number: int) -> None:
        """Starts with a step, or raises: the monitor tells why."""
        self._enter()
        self._recorder.step(number)
        self.ended = number - 1

    def go_on(self, ended: int) -> None:
        """A step has ended, the next one begins: in a loop."""
        self.ended = ended
        self.first_step = ended - self.step_num
        self.step()

    def begin_step(self, number: int) -> None:
        """For callbacks, which are told of both ends."""
        self._recorder.step(number)
        self._idle.step_begins(opened_window=False)

    def end_step(self, number: int) -> None:
        self.ended = number
        if self._recorder.window:
            self._recorder.window.end_step()
        self._times.add(self._idle.step_ends(), recorded=True, warm_up=False)

    @property
    def path(self) -> str:
        """The run directory; known from the beginning on."""
        window = self._recorder.window
        found = window.path if window else self._recorder.last_path
        return str(found) if found else ""

    @property
    def missing(self) -> str:
        """What the recording lacks, in words; empty if nothing."""
        return self._recorder.last_missing

    @property
    def marks_steps(self) -> bool:
        return True

    @property
    def _name(self) -> str:
        return "DynamicProfilerMonitor"
