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

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
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
        self._profile.stop()

    def on_exception(self, trainer: Any, *others: Any, **named: Any) -> None:
        self._profile.stop()
