"""Callbacks of ``Model.train`` that record some of its steps or epochs.

Without data sinking, steps are chosen (StopAtStep). With it MindSpore calls back once per
``sink_size`` steps, and whole epochs are chosen (StopAtEpoch).
"""

from __future__ import annotations

from typing import Any, Protocol

from mindspore.train import Callback


class _Recorder(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...


def _own_profiler(options: dict[str, Any]) -> _Recorder:
    from stepscope.profiler import Profiler

    return Profiler(start_profile=False, **options)


class _Window(Callback):  # type: ignore[misc]  # MindSpore has no types
    """Records from one number to another, both included."""

    def __init__(self, first: int, last: int, profiler: _Recorder | None, options: Any) -> None:
        super().__init__()
        if profiler is not None and options:
            raise TypeError("give a profiler, or options for one, not both")
        self._first, self._last = first, last
        self.profiler = profiler or _own_profiler(options)
        self._recording = False
        self._done = False

    # With sinking a call may be past the first number: numbers are compared, not matched.
    def _begin(self, number: int) -> None:
        if not self._recording and not self._done and number >= self._first:
            self._recording = True
            self.profiler.start()

    def _end(self, number: int) -> None:
        if self._recording and number >= self._last:
            self._finish()

    def on_train_end(self, run_context: Any) -> None:
        if self._recording:
            self._finish()

    def _finish(self) -> None:
        self._recording, self._done = False, True
        self.profiler.stop()
        analyse = getattr(self.profiler, "analyse", None)
        if analyse:
            analyse()


class StopAtStep(_Window):
    """Records the steps ``start_step`` to ``stop_step`` of the training, 1 is the first.

    Other options are those of ``stepscope.Profiler``; ``profiler`` is one to use instead.
    """

    def __init__(
        self, start_step: int, stop_step: int, profiler: _Recorder | None = None, **options: Any
    ) -> None:
        super().__init__(start_step, stop_step, profiler, options)

    def on_train_step_begin(self, run_context: Any) -> None:
        self._begin(run_context.original_args().cur_step_num)

    def on_train_step_end(self, run_context: Any) -> None:
        self._end(run_context.original_args().cur_step_num)


class StopAtEpoch(_Window):
    """Records the epochs ``start_epoch`` to ``stop_epoch``, 1 is the first."""

    def __init__(
        self, start_epoch: int, stop_epoch: int, profiler: _Recorder | None = None, **options: Any
    ) -> None:
        super().__init__(start_epoch, stop_epoch, profiler, options)

    def on_train_epoch_begin(self, run_context: Any) -> None:
        self._begin(run_context.original_args().cur_epoch_num)

    def on_train_epoch_end(self, run_context: Any) -> None:
        self._end(run_context.original_args().cur_epoch_num)
