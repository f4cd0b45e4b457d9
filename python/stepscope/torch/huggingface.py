"""A callback for Hugging Face's ``Trainer``.

    from stepscope.torch import schedule
    from stepscope.torch.huggingface import StepscopeCallback

    recording = StepscopeCallback(schedule=schedule(wait=2, warmup=1, active=3, repeat=1))
    trainer = Trainer(..., callbacks=[recording])

Steps are the trainer's, 1 is the first. Recordings lie in ``stepscope`` in the trainer's
``output_dir``, unless ``output_path`` says otherwise.
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from stepscope.torch._trainer import TrainerProfile


class StepscopeCallback(TrainerCallback):  # type: ignore[misc]  # no types are followed
    """Records some steps of a training: ranges "forward and backward", "optimizer", "evaluation"
    and "save", and everything that ``stepscope.torch.profile`` records. The options are those of
    ``profile``; by default five steps are recorded, after three others."""

    def __init__(self, **options: Any) -> None:
        self._profile = TrainerProfile(options)
        self._evaluating = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.start(args.output_dir, state.global_step)

    def on_step_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.begin_phase("forward and backward")

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.begin_phase("optimizer")

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.end_phase()

    def on_step_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.steps_done(state.global_step)

    # The trainer says when these are over, not when they begin: that is after what came before.
    def on_log(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if not self._evaluating:
            self._profile.look_at_clock()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._evaluating = True

    def on_evaluate(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._evaluating = False
        self._profile.phase_is_over("evaluation")

    def on_save(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.phase_is_over("save")

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        self._profile.stop()
