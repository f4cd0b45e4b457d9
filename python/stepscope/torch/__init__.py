"""Recording PyTorch programs, with the names of ``torch.profiler``.

    from stepscope.torch import ProfilerActivity, profile, schedule

    with profile(schedule=schedule(wait=1, warmup=1, active=3), record_shapes=True) as prof:
        for batch in batches:
            train(batch)
            prof.step()
    print(prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10))

What ``torch.profiler`` has and is not a profiler (``schedule``, ``record_function``, ...) is torch's
own, so changing the import line of a program is enough.
"""

from __future__ import annotations

from stepscope.torch import _itt

_itt.offer()

import torch.profiler as _torch_profiler  # noqa: E402, ITT is told of first
from torch.profiler import (  # noqa: E402
    ProfilerAction,
    ProfilerActivity,
    record_function,
    schedule,
    supported_activities,
)

from stepscope.torch._handler import tensorboard_trace_handler  # noqa: E402
from stepscope.torch._profile import profile  # noqa: E402

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]


def __getattr__(name: str) -> object:
    return getattr(_torch_profiler, name)
