"""Operators and memory, from MindSpore's C++ profiler in short windows.

The text that it writes goes to the collector, which reads it on its own thread and removes it.
"""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from stepscope import _record
from stepscope.mindspore import framework
from stepscope.mindspore.rotation import Rotation
from stepscope.mindspore.scratch import make_scratch

# Of one entry of the files, within a tenth: enough to tell how many there are.
_OPERATOR_BYTES = 31
_MEMORY_RECORD_BYTES = 58


@dataclass(frozen=True)
class _Window:
    folder: Path
    from_ns: int


class OperatorWindows:
    def __init__(self, shapes: bool, memory: bool) -> None:
        self._shapes = shapes
        self._memory = memory
        self.rotation = Rotation()
        self._profiler = framework.cpu_profiler()
        self._scratch: Path | None = None
        self._window = _Window(Path(), 0)
        self._count = 0

    def start(self) -> None:
        self._scratch = make_scratch()
        self._open()

    def rotate(self, steps: int) -> None:
        """The window has had so many steps, and ends with them."""
        _record.end_step()  # our own time is no part of a step
        ended_ns = self._close(steps)
        full = self._window
        try:
            # Before the full one is given away: the collector removes the last folder's parent too.
            self._open()
        finally:
            self._hand_over(full, ended_ns)

    def stop(self) -> None:
        if self._scratch:
            self._hand_over(self._window, self._close(0))
            self._scratch = None

    def _open(self) -> None:
        assert self._scratch
        self._count += 1
        if not self._scratch.is_dir():  # somebody tidied up
            self._scratch = make_scratch()
        folder = self._scratch / str(self._count)
        folder.mkdir()
        self._window = _Window(folder, time.time_ns())
        self._profiler.init(str(folder))
        self._profiler.step_profiling_enable(True)
        self._profiler.enable_op_time()
        if self._memory:
            self._profiler.enable_profile_memory()

    def _close(self, steps: int) -> int:
        """Returns when, by the calendar clock."""
        framework.wait_for_operators()
        started = time.monotonic()
        self._profiler.stop()
        stopped = time.monotonic()
        self.rotation.learn(
            steps,
            self._size("cpu_op_execute_timestamp_") // _OPERATOR_BYTES,
            self._size("cpu_ms_memory_record_") // _MEMORY_RECORD_BYTES,
            stopped - started,
        )
        return time.time_ns()

    def _hand_over(self, window: _Window, ended_ns: int) -> None:
        taken = _record.import_mindspore_window(
            str(window.folder), window.from_ns, ended_ns, self._shapes, self._memory
        )
        if not taken:
            shutil.rmtree(window.folder, ignore_errors=True)

    def _size(self, beginning: str) -> int:
        return sum(file.stat().st_size for file in self._window.folder.glob(f"{beginning}*"))
