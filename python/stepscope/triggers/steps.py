"""What the program's frameworks record while it is watched, steps above all."""

from __future__ import annotations

import os
import sys
import weakref
from pathlib import Path
from typing import Any, Callable, Protocol

from stepscope import _record
from stepscope._imports import when_imported
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.parameters import Parameters


class _Part(Protocol):
    def stop(self) -> object: ...


class WatchedFrameworks:
    """Of those that the program has imported, or imports later. None of them can do harm."""

    def __init__(self, parameters: Parameters, operators: bool) -> None:
        self._parts: list[_Part] = []
        self._steps: list[_Part] = []  # of which the program's own take the place
        self._torch: Any = None
        self._program_marks_steps = False
        self._waiting: list[Callable[[], None]] = []
        self._start("torch", lambda: self._start_torch(parameters, operators))
        self._start("mindspore", self._start_mindspore)

    def _start(self, name: str, start: Callable[[], None]) -> None:
        process = os.getpid()

        def begin() -> None:
            if process != os.getpid():
                return  # a forked child is not watched
            with guarded(f"the part of {name} in a watch"):
                start()
                if self._program_marks_steps:
                    self.program_marks_steps()

        if name in sys.modules:
            begin()
        else:
            self._waiting.append(when_imported(name, begin))

    def _start_torch(self, parameters: Parameters, operators: bool) -> None:
        if operators:
            from stepscope.torch._source import TorchSource

            source = TorchSource(with_compiled=False)
            missing = source.start(parameters, Path())
            self._parts.append(source)
            for name, reason in missing.items():
                logger.warning("%s: %s", name, reason)
            if "torch" not in missing:
                self._torch = source  # with steps
                return
        self._steps.append(OptimizerMarks())

    def _start_mindspore(self) -> None:
        self._steps.append(ModelMarks())

    def program_marks_steps(self) -> None:
        self._program_marks_steps = True
        steps, self._steps = self._steps, []
        for part in steps:
            with guarded("a framework's steps"):
                part.stop()
        torch, self._torch = self._torch, None
        if torch:
            with guarded("PyTorch's steps"):
                torch.program_marks_steps()

    def stop(self) -> None:
        for cancel in self._waiting:
            cancel()
        for part in (*self._steps, *self._parts):
            with guarded("a framework's part of a watch"):
                part.stop()
        self._steps, self._parts, self._torch, self._waiting = [], [], None, []


class OptimizerMarks:
    """A step ends with each step of the first optimizer that makes one; without operators."""

    def __init__(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._once = Once()
        self._optimizer: weakref.ref[Any] | None = None
        self._number = 0
        _record.step(0)
        self._hook: Any = register_optimizer_step_post_hook(self._stepped)

    def stop(self) -> None:
        hook, self._hook = self._hook, None
        if hook:
            hook.remove()
            _record.end_step()

    def _stepped(self, optimizer: Any, _arguments: Any, _options: Any) -> None:
        with guarded("an optimizer's step", self._once):
            if self._optimizer is None:
                self._optimizer = weakref.ref(optimizer)
            if self._optimizer() is optimizer:
                self._number += 1
                _record.step(self._number)


class ModelMarks:
    """A step begins with each of ``Model.train`` (with data sinking: with each call of the network)
    and ends with the next one: the time in which it waits for data is part of it."""

    def __init__(self) -> None:
        from stepscope.mindspore import framework

        self._once = Once()
        self._stop = framework.follow_training_steps(self._step_begins, lambda _: None)

    def _step_begins(self, run_context: Any) -> None:
        with guarded("a step of Model.train", self._once):
            _record.step(int(run_context.original_args().cur_step_num))

    def stop(self) -> None:
        self._stop()
        _record.end_step()
