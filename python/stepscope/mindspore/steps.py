"""Steps of ``Model.train``, with and without data sinking, for programs that mark none.

``Model.train`` puts a callback of its own in front of all others; its two methods are the steps'
ends. With data sinking one call is ``sink_size`` steps, and its number is the last one's.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any, Callable

from stepscope import _record
from stepscope.mindspore import framework
from stepscope.profiler._log import Once, guarded


def _step_being_begun() -> int | None:
    """The step whose beginning a callback of the program is being told, and has used to start the
    profiler: too late for the callback in front. None if the profiler marks it."""
    # Not our own: a frame whose variables were looked at and that is one of them lives on, and with
    # it whoever called us, the profiler above all.
    frame: FrameType | None = sys._getframe(1)
    while frame:
        is_callback = frame.f_code.co_name == "on_train_step_begin"
        # Only of these: whoever looks at a function's variables keeps their values alive.
        if is_callback or str(frame.f_globals.get("__name__")).startswith("stepscope."):
            variables = frame.f_locals
            if getattr(variables.get("self"), "marks_steps", None) is True:
                return None
            if is_callback and "run_context" in variables:
                return int(variables["run_context"].original_args().cur_step_num)
        frame = frame.f_back
    return None


class _Numbers:
    """Numbers that a recording has once. A program may train several times while it is recorded,
    and each training counts from 1: later ones are counted on."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._before = 0
        self._last = 0

    def enter(self, folder: Path) -> None:
        if folder != self._folder:
            self._folder, self._before, self._last = folder, 0, 0

    def of(self, number: int) -> int:
        # The same number once more is a window that began in the step in which one had ended.
        if self._before + number < self._last:
            self._before = self._last
        self._last = self._before + number
        return self._last


# Windows of `stepscope record` are one recording.
_numbers = _Numbers()


class ModelSteps:
    def __init__(self, on_step_end: Callable[[], None]) -> None:
        self._on_step_end = on_step_end
        self._once = Once()
        self._stop: Callable[[], None] | None = None
        #: the program marks its steps: ours would be a second kind
        self.marked_by_program = False
        self.has_marked_some = False

    def start(self, folder: Path) -> None:
        """``folder`` is that of the recording."""
        _numbers.enter(folder)
        self._stop = framework.follow_training_steps(self._step_begins, self._step_ends)
        number = _step_being_begun()
        if number:
            self._mark(number)

    def _step_begins(self, run_context: Any) -> None:
        if not self.marked_by_program:
            with guarded("a step of Model.train", self._once):
                self._mark(int(run_context.original_args().cur_step_num))

    def _step_ends(self, run_context: Any) -> None:
        if not self.marked_by_program:
            _record.end_step()
            self._on_step_end()

    def _mark(self, number: int) -> None:
        self.has_marked_some = True
        _record.step(_numbers.of(number))

    def stop(self) -> None:
        stop, self._stop = self._stop, None
        if stop:
            stop()
