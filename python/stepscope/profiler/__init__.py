"""Recording a training program: the names of ``mindspore.profiler``, for every device.

    from stepscope.profiler import Profiler

    profiler = Profiler(output_path="profiler_data")
    train()
    profiler.analyse()

``profile`` is the newer class, for windows of steps. Everything here logs to the logger "stepscope"
and never raises into training code once a profiler is made.
"""

from __future__ import annotations

from stepscope.profiler._profile import _ExperimentalConfig, profile
from stepscope.profiler.dynamic.monitor import DynamicProfilerMonitor
from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerAction,
    ProfilerActivity,
    ProfilerLevel,
)
from stepscope.profiler.environment import EnvProfiler
from stepscope.profiler.handlers import tensor_board_trace_handler, tensorboard_trace_handler
from stepscope.profiler.mstx import mstx
from stepscope.profiler.profiler import Profiler, analyse
from stepscope.profiler.run_directory import ProfilerPathErrorException
from stepscope.profiler.schedule import Schedule
from stepscope.profiler.schedule import schedule_of_any_age as schedule

__all__ = [
    "AicoreMetrics",
    "DynamicProfilerMonitor",
    "EnvProfiler",
    "ExportType",
    "HostSystem",
    "Profiler",
    "ProfilerAction",
    "ProfilerActivity",
    "ProfilerLevel",
    "ProfilerPathErrorException",
    "Schedule",
    "_ExperimentalConfig",
    "analyse",
    "mstx",
    "profile",
    "schedule",
    "tensor_board_trace_handler",
    "tensorboard_trace_handler",
]
