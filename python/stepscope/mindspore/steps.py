"""Steps of ``Model.train``, with and without data sinking, for programs that mark none.

``Model.train`` puts a callback of its own in front of all others; its two methods are the steps'
ends. With data sinking one call is ``sink_size`` steps, and its number is the last one's.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Callable

from stepscope import _record
from stepscope.mindspore import framework
from stepscope.profiler._log import Once, guarded


def _step_being_begun() -> int | None:
    """The step whose beginning a callback of the program is being told, and has used to start the
    profiler: too late for the callback in front. None if the profiler marks it."""
    frame: FrameType | None = sys._getframe()
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


class ModelSteps:
    def __init__(self, on_step_end: Callable[[], None]) -> None:
        self._on_step_end = on_step_end
        self._once = Once()
        self._kept: dict[str, Callable[..., Any]] = {}
        #: the program marks its steps: ours would be a second kind
        self.marked_by_program = False
        self.has_marked_some = False

    def start(self) -> None:
        theirs = framework.step_callback_class()
        begin, end = theirs.step_begin, theirs.step_end
        self._kept = {"step_begin": begin, "step_end": end}

        def step_begin(callback: Any, run_context: Any) -> None:
            begin(callback, run_context)
            if not self.marked_by_program:
                with guarded("a step of Model.train", self._once):
                    self._mark(int(run_context.original_args().cur_step_num))

        def step_end(callback: Any, run_context: Any) -> None:
            end(callback, run_context)
            if not self.marked_by_program:
                _record.end_step()
                self._on_step_end()

        theirs.step_begin = step_begin
        theirs.step_end = step_end
        number = _step_being_begun()
        if number:
            self._mark(number)

    def _mark(self, number: int) -> None:
        self.has_marked_some = True
        _record.step(number)

    def stop(self) -> None:
        for name, method in self._kept.items():
            setattr(framework.step_callback_class(), name, method)
        self._kept = {}
