"""Recording MindSpore programs.

``stepscope.profile`` and ``stepscope.Profiler`` use this by themselves in a program that has
imported MindSpore: operators and memory come from MindSpore's C++ profiler, the data pipeline from
minddata's own, steps from ``Model.train`` or from ``step()``. Here is what a program may name:

    from stepscope.mindspore import StopAtStep

    model.train(1, dataset, callbacks=[StopAtStep(start_step=10, stop_step=14)])
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.mindspore.callbacks import StopAtEpoch, StopAtStep
    from stepscope.mindspore.replace import replace_profiler

__all__ = ["StopAtEpoch", "StopAtStep", "replace_profiler"]

# `callbacks` imports MindSpore, which `replace` must be able to come before.
_HOME = {"StopAtEpoch": "callbacks", "StopAtStep": "callbacks", "replace_profiler": "replace"}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'stepscope.mindspore' has no attribute {name!r}")
    value: object = getattr(import_module(f"stepscope.mindspore.{_HOME[name]}"), name)
    globals()[name] = value
    return value
