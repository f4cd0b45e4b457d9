"""Steps, when the program marks none: one ends with each step of the optimizer.

With several optimizers, the first one to make a step counts.
"""

from __future__ import annotations

import weakref
from typing import Any

from stepscope.torch._library import Library


class OptimizerSteps:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._hook: Any = None
        self._optimizer: weakref.ref[Any] | None = None
        self._number = 0

    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._number = 0
        self._optimizer = None
        # A step is put into the recording when it is complete: what comes behind the last one
        # (an evaluation, nothing at all) is not taken for another.
        self._library.begin_steps()
        self._hook = register_optimizer_step_post_hook(self._stepped)

    def stop(self) -> None:
        hook, self._hook = self._hook, None
        if hook:
            hook.remove()

    @property
    def has_marked_some(self) -> bool:
        return self._number > 0

    def _stepped(self, optimizer: Any, _arguments: Any, _options: Any) -> None:
        if self._optimizer is None:
            self._optimizer = weakref.ref(optimizer)
        if self._optimizer() is optimizer:
            self._library.complete_step(self._number)
            self._number += 1
