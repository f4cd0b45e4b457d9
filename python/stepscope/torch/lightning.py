"""A callback for Lightning's ``Trainer``, of ``lightning`` or ``pytorch_lightning``.

    from stepscope.torch import schedule
    from stepscope.torch.lightning import StepscopeCallback

    recording = StepscopeCallback(schedule=schedule(wait=2, warmup=1, active=3, repeat=1))
    trainer = Trainer(..., callbacks=[recording])

Steps are the trainer's ``global_step``, 1 is the first. Recordings lie in ``stepscope`` in the
trainer's ``default_root_dir``, unless ``output_path`` says otherwise.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from stepscope import _record
from stepscope.torch._trainer import TrainerProfile

_PACKAGES = ("lightning.pytorch", "pytorch_lightning")


def _callback_class() -> Any:
    """That of the package which the program uses, as far as it can be told."""
    for name in sorted(_PACKAGES, key=lambda package: package not in sys.modules):
        try:
            return import_module(name).Callback
        except ModuleNotFoundError:
            continue
    raise ModuleNotFoundError(f"needs {' or '.join(_PACKAGES)}")


class StepscopeCallback(_callback_class()):  # type: ignore[misc]
    """Records some steps of a training: ranges "forward", "backward", "optimizer" and "validation",
    and everything that ``stepscope.torch.profile`` records. The options are those of ``profile``;
    by default five steps are recorded, after three others."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._profile = TrainerProfile(options)
        self._hooks: list[Any] = []
        self._calls_closure = True
        self._optimizer_began = 0

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        self._calls_closure = bool(getattr(pl_module, "automatic_optimization", True))
        self._remove_hooks()
        self._hooks = [
            register_optimizer_step_pre_hook(self._optimizer_begins),
            register_optimizer_step_post_hook(self._optimizer_ends),
        ]
        self._profile.start(trainer.default_root_dir, trainer.global_step)

    def on_train_batch_start(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.begin_phase("forward")

    def on_before_backward(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.begin_phase("backward")

    def on_after_backward(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.end_phase()

    def on_before_optimizer_step(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.begin_phase("optimizer")

    def on_train_batch_end(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.steps_done(trainer.global_step)

    def on_validation_start(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.begin_phase("validation")

    def on_validation_end(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.end_phase()

    def on_train_end(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._stop()

    def on_exception(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._stop()

    def _stop(self) -> None:
        self._remove_hooks()
        self._profile.stop()

    def _remove_hooks(self) -> None:
        hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook.remove()

    # The trainer gives both passes to the optimizer's step, which calls them inside of the range
    # that torch has around it; "optimizer" begins in there, too. Ranges have to lie in each other.
    def _optimizer_begins(self, *_: Any) -> None:
        self._optimizer_began = _record.now()
        if self._calls_closure:
            self._profile.restart_phase("forward")

    def _optimizer_ends(self, *_: Any) -> None:
        self._profile.end_phase_since(self._optimizer_began)
