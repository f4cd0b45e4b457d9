"""``profile``, the profiler of MindSpore 2.6 and later."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable

from stepscope.profiler._log import explained, guarded, logger
from stepscope.profiler.analysis import choose
from stepscope.profiler.devices import default_parameters, present
from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)
from stepscope.profiler.parameters import ScheduleFunction, resolve
from stepscope.profiler.session import Session


@dataclass
class _ExperimentalConfig:
    """Parameters of ``profile`` that may change. Checked when a ``profile`` is made."""

    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    l2_cache: bool = False
    mstx: bool = False
    data_simplification: bool = True
    export_type: list[ExportType] | None = None
    mstx_domain_include: list[str] | None = None
    mstx_domain_exclude: list[str] | None = None
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: list[HostSystem] | None = None


class profile(Session):  # noqa: N801, MindSpore's and torch's name
    """Records a training program, or the steps of a schedule.

        handler = tensorboard_trace_handler("profiler_data")
        with profile(schedule=schedule(wait=1, warmup=1, active=3), on_trace_ready=handler) as prof:
            for batch in batches:
                train(batch)
                prof.step()

    Every window that is complete goes to ``on_trace_ready``, also where there is no schedule and
    ``stop`` ends the only one. Parameters mean what they mean to ``Profiler``; run directories go
    to the handler's folder, or to ./data.
    """

    @explained
    def __init__(
        self,
        activities: list[ProfilerActivity] | None = None,
        with_stack: bool = False,
        profile_memory: bool = False,
        data_process: bool = False,
        parallel_strategy: bool = False,
        start_profile: bool = True,
        hbm_ddr: bool = False,
        pcie: bool = False,
        sync_enable: bool = True,
        record_shapes: bool = False,
        schedule: ScheduleFunction | None = None,
        on_trace_ready: Callable[..., object] | None = None,
        experimental_config: _ExperimentalConfig | None = None,
        *,
        gpu_tier: str | None = None,
        system_interval_ms: int | None = None,
        max_host_mb: int | None = None,
        max_disk_gb: float | None = None,
        min_free_gb: float | None = None,
    ) -> None:
        given = {
            name: value
            for name, value in locals().items()
            if name not in ("self", "experimental_config", "__class__")
        }
        if isinstance(experimental_config, _ExperimentalConfig):
            given.update(vars(experimental_config))
        elif experimental_config is not None:
            logger.warning(
                "experimental_config must be an _ExperimentalConfig, not %r: reset to its defaults",
                experimental_config,
            )
        super().__init__(resolve(given, default_parameters(present())))

    def analyse(
        self, pretty: bool = False, step_list: list[int] | None = None, async_mode: bool = False
    ) -> None:
        """Makes complete windows ready to be looked at; for functions given as on_trace_ready."""
        with guarded("profile.analyse"):
            choices = choose(pretty, step_list, self._parameters.data_simplification)
            self.analyse_windows(choices, in_background=bool(async_mode))
