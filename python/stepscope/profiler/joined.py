"""A window in the recording of ``stepscope record``, which goes on before and behind it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope import _record
from stepscope.profiler import cost, outer
from stepscope.profiler._log import logger
from stepscope.profiler.metadata import Metadata
from stepscope.profiler.parameters import Parameters
from stepscope.profiler.run_directory import JoinedDirectory
from stepscope.profiler.window import Window

# What the command line of `stepscope record` decides.
_OUTER = ("max_host_mb", "max_disk_gb", "min_free_gb", "gpu_tier", "system_interval_ms")


class JoinedWindow(Window):
    """Adds to the outer recording what the program's profiler asks for, until ``stop``."""

    def __init__(self, run: Path, parameters: Parameters, metadata: Metadata) -> None:
        sources = self._look(parameters, metadata)
        joining = {"python_stacks", "npu"}  # the others are the outer recording's
        if os.environ.get(outer.NPU):  # recorded from the beginning to the end
            joining.remove("npu")
        sources = self._sources = {name: sources[name] for name in joining & sources.keys()}
        for name in _OUTER:
            if name in parameters.asked:
                self.not_honoured[name] = "the recording of `stepscope record` has its own"
        self._directory = JoinedDirectory(run)
        self.path = run
        self.began_ns = time.time_ns()
        self._recording = _record.Recording.join(self._options(sources))
        # Those of other sources are told by who started them.
        self.problems: list[str] = json.loads(self._recording.problems())
        for why in self.problems:
            left_out = json.dumps({"source": "npu", "why": why})
            self._recording.add_metadata("source_left_out", left_out)
        self._start_frameworks()
        self._is_written = True

    def stop(self, step_times: Mapping[str, Any]) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._step_times = dict(step_times)
        _record.end_step()
        self._note_missing(self._frameworks.stop())
        self._note_frameworks()
        self._note_threads()
        self._note_end()
        self._recording.stop()
        logger.info("the window has ended, %s goes on%s", self.path, cost.steps(step_times))

    @property
    def missing(self) -> str:
        if self._is_written:
            return ""
        return "not all of the window is written: the disk is slow or full, or at its limit"

    def finalise(self) -> None:
        # A handler may want to look at it at once.
        self._is_written = _record.flush()
        super().finalise()
        if self.missing:
            logger.warning("%s is not complete: %s", self.path, self.missing)

    def _open_ranges(self) -> int:
        return 0  # the recording goes on, and has their ends

    def discard(self) -> None:
        """Nothing was in it, and nothing has to go."""

    def _note_end(self) -> None:
        about = {
            "began_ns": self.began_ns,
            "ended_ns": time.time_ns(),
            "asked_for": {
                name: value
                for name, value in self._parameters.effective().items()
                if name in self._parameters.asked
            },
            "step_times": self._step_times,
        }
        self._recording.add_metadata("profiler_window", json.dumps(about))
