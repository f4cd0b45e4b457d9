"""The types of Profiler's keyword arguments, for checkers and editors; nothing at run time.

``__init__`` itself takes anything: a wrong name or type must not stop a training program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from typing_extensions import TypedDict

    from stepscope.profiler.enums import (
        AicoreMetrics,
        ExportType,
        HostSystem,
        ProfilerActivity,
        ProfilerLevel,
    )
    from stepscope.profiler.parameters import ScheduleFunction

    class Options(TypedDict, total=False):
        start_profile: bool
        output_path: str
        profiler_level: ProfilerLevel
        activities: list[ProfilerActivity]
        schedule: ScheduleFunction | None
        on_trace_ready: Callable[..., object] | None
        profile_memory: bool
        aic_metrics: AicoreMetrics
        aicore_metrics: AicoreMetrics
        with_stack: bool
        data_simplification: bool
        l2_cache: bool
        hbm_ddr: bool
        pcie: bool
        sys_io: bool
        sys_interconnection: bool
        host_sys: list[HostSystem]
        data_process: bool
        parallel_strategy: bool
        sync_enable: bool
        record_shapes: bool
        export_type: list[ExportType] | ExportType | str
        mstx: bool
        mstx_domain_include: list[str]
        mstx_domain_exclude: list[str]
        max_host_mb: int
        max_disk_gb: float
        min_free_gb: float
        gpu_tier: str | None
        system_interval_ms: int | None
