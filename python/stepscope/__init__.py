"""Where the time and the memory of a training step go.

Record a training program:

    import stepscope

    with stepscope.profile(schedule=stepscope.schedule(wait=1, warmup=1, active=3)) as profiler:
        for batch in batches:
            train(batch)
            profiler.step()

Look at what was recorded, by stepscope or by others:

    with stepscope.open("trace.json.gz") as run:
        print(run.query("select name, sum(dur) as ns from kernels group by name order by ns desc"))
        kernels = run.table("kernels", columns=["name", "ts", "dur"])
        longest = kernels["dur"].max()

The tables and their columns are those of SQL, see docs/schema.md; times are integers in
nanoseconds. ``stepscope.profiler`` has the names of ``mindspore.profiler``.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope import profiler
    from stepscope._errors import StepscopeError, StepscopeWarning
    from stepscope._native import version as __version__
    from stepscope._record import counter, mark, record_function
    from stepscope._run import Finding, Rank, Run, open
    from stepscope._table import Table
    from stepscope.profiler import (
        AicoreMetrics,
        DynamicProfilerMonitor,
        ExportType,
        HostSystem,
        Profiler,
        ProfilerAction,
        ProfilerActivity,
        ProfilerLevel,
        _ExperimentalConfig,
        profile,
        tensor_board_trace_handler,
        tensorboard_trace_handler,
    )
    from stepscope.profiler.mstx import mstx
    from stepscope.profiler.schedule import schedule

__all__ = [
    "AicoreMetrics",
    "DynamicProfilerMonitor",
    "ExportType",
    "Finding",
    "HostSystem",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "Rank",
    "Run",
    "StepscopeError",
    "StepscopeWarning",
    "Table",
    "_ExperimentalConfig",
    "__version__",
    "counter",
    "mark",
    "mstx",
    "open",
    "profile",
    "profiler",
    "record_function",
    "schedule",
    "tensor_board_trace_handler",
    "tensorboard_trace_handler",
]

# Importing stepscope into a training program costs next to nothing: a name brings in its module
# (NumPy and the SQL engine behind `open`, the collector behind `profile`) when it is first used.
_MODULES = {
    "_errors": ("StepscopeError", "StepscopeWarning"),
    "_record": ("counter", "mark", "record_function"),
    "_run": ("Finding", "Rank", "Run", "open"),
    "_table": ("Table",),
    "profiler.schedule": ("schedule",),
}
_HOME = {name: f"stepscope.{module}" for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name == "__version__":
        value: object = import_module("stepscope._native").version
    elif name == "profiler":
        value = import_module("stepscope.profiler")
    elif name in __all__:
        value = getattr(import_module(_HOME.get(name, "stepscope.profiler")), name)
    else:
        raise AttributeError(f"module 'stepscope' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if "STEPSCOPE_OPTIONS" in os.environ or "MS_PROFILER_OPTIONS" in os.environ:
    from stepscope.profiler.environment import EnvProfiler

    EnvProfiler.start()
