"""What frameworks ask of a callback."""

from __future__ import annotations

import sys
from typing import Any

_callbacks: dict[type, type] = {}


def as_callback(cls: type) -> type:
    """The class, as one of MindSpore's callbacks where a program has imported MindSpore:
    ``Model.train`` takes no others."""
    callback = getattr(sys.modules.get("mindspore.train.callback"), "Callback", None)
    if not isinstance(callback, type) or issubclass(cls, callback):
        return cls
    if cls not in _callbacks:
        # Without methods of its own: `Model.fit` refuses those of the older names.
        _callbacks[cls] = type(cls.__name__, (cls, callback), {"__module__": cls.__module__})
    return _callbacks[cls]


def step_number(run_context: Any) -> Any:
    """The number of a step, as a framework's callbacks are told; 1 is the first."""
    return run_context.original_args().cur_step_num
