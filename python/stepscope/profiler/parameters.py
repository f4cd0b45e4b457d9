"""The profiler's parameters: their defaults, what is accepted, and what excludes what.

A wrong value never stops a training program: it is replaced by the default, and the log says so.
None means "not given" everywhere.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any, Callable, Union

from stepscope.profiler._checks import CHECKS
from stepscope.profiler._log import advise, logger
from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerAction,
    ProfilerActivity,
    ProfilerLevel,
)
from stepscope.profiler.run_directory import check_path
from stepscope.profiler.schedule import Schedule, numbers_of

ScheduleFunction = Union[Schedule, Callable[[int], ProfilerAction]]

#: Stands in files and answers where no schedule was given.
_NO_SCHEDULE = Schedule(wait=0, active=1)


@dataclass(frozen=True)
class Parameters:
    """Checked parameters. The order of the fields is that of ``profiler_info_<rank>.json``."""

    output_path: str = "./data"
    profiler_level: ProfilerLevel = ProfilerLevel.Level0
    activities: tuple[ProfilerActivity, ...] = (ProfilerActivity.CPU, ProfilerActivity.NPU)
    aic_metrics: AicoreMetrics = AicoreMetrics.AiCoreNone
    with_stack: bool = False
    profile_memory: bool = False
    data_process: bool = False
    parallel_strategy: bool = False
    start_profile: bool = True
    l2_cache: bool = False
    hbm_ddr: bool = False
    pcie: bool = False
    sys_io: bool = False
    sys_interconnection: bool = False
    host_sys: tuple[HostSystem, ...] = ()
    sync_enable: bool = True
    data_simplification: bool = True
    record_shapes: bool = False
    export_type: tuple[ExportType, ...] = (ExportType.Text,)
    mstx: bool = False
    mstx_domain_include: tuple[str, ...] = ()
    mstx_domain_exclude: tuple[str, ...] = ()
    schedule: ScheduleFunction | None = None
    on_trace_ready: Callable[..., object] | None = None
    # Ours: bounds of what a recording may take from the training job.
    max_host_mb: int = 256
    max_disk_gb: float = 10.0
    min_free_gb: float = 1.0
    # And what else MindSpore has no word for; None: what the others imply.
    gpu_tier: str | None = None
    system_interval_ms: int | None = None
    #: names that the caller gave
    asked: frozenset[str] = field(default=frozenset(), compare=False)

    @property
    def budget(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in _BUDGET}

    @property
    def output_folder(self) -> Path:
        """Raises ProfilerPathErrorException: recordings may not be written there."""
        return check_path(self.output_path)

    def schedule_numbers(self) -> dict[str, int] | None:
        """A function that has none gets those of no schedule, as in MindSpore's files."""
        return numbers_of(self.schedule) or _NO_SCHEDULE.to_dict()

    def effective(self) -> dict[str, Any]:
        """As MindSpore's files write them: enums as their values, a schedule as its numbers."""
        written: dict[str, Any] = {"is_set_schedule": self.schedule is not None}
        for item in fields(self):
            if item.name not in _NOT_WRITTEN:
                written[item.name] = plain(getattr(self, item.name))
        written["schedule"] = self.schedule_numbers()
        return written


_BUDGET = ("max_host_mb", "max_disk_gb", "min_free_gb")
_OURS = {*_BUDGET, "gpu_tier", "system_interval_ms"}
_NOT_WRITTEN = {"schedule", "on_trace_ready", "asked", *_OURS}

# What None stands for, in words; devices.sources decides it.
_IMPLIED = {
    "gpu_tier": "'full' ('pulse' with ProfilerLevel.LevelNone)",
    "system_interval_ms": "1000 (100 with data_process)",
}

_OLD_NAMES = {"aicore_metrics": "aic_metrics"}
_RETIRED = {
    "profile_communication": "ask for ProfilerLevel.Level1 or Level2 instead",
    "op_time": "put ProfilerActivity.NPU into activities instead",
    "profile_framework": "put ProfilerActivity.CPU into activities instead",
    "host_stack": "use with_stack instead",
    "timeline_limit": "max_disk_gb bounds the size of a recording",
}
_RETIRING = {
    "hbm_ddr": "profile_memory shows the memory's use",
    "pcie": "use sys_interconnection instead",
}


def resolve(given: Mapping[str, object], defaults: Parameters | None = None) -> Parameters:
    """Makes parameters of what a caller gave."""
    defaults = defaults or Parameters()
    accepted: dict[str, Any] = {}
    for given_name, value in given.items():
        name = _OLD_NAMES.get(given_name, given_name)
        if value is None or (name != given_name and given.get(name) is not None):
            continue
        if name in _RETIRED:
            advise(f"{name} is deprecated and has no effect: {_RETIRED[name]}")
        elif name not in CHECKS:
            advise(_unknown(name))
        else:
            try:
                accepted[name] = CHECKS[name](value)
            except (TypeError, ValueError) as error:
                default = _IMPLIED.get(name) or repr(plain(getattr(defaults, name)))
                logger.warning(
                    "%s must be %s, not %r: reset to %s", given_name, error, value, default
                )
    for name, instead in _RETIRING.items():
        if accepted.get(name):
            advise(f"{name} is deprecated: {instead}")
    return _reconciled(replace(defaults, **accepted, asked=frozenset(accepted)))


def plain(value: object) -> Any:
    """Enums as their values, tuples as lists."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return value.value if isinstance(value, Enum) else value


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, CHECKS, 1)
    return f"there is no parameter {name}, it is ignored" + "".join(f"; nearest: {n}" for n in near)


def _reconciled(p: Parameters) -> Parameters:
    """Settles contradictions, in MindSpore's order: later rules see the results of earlier ones."""
    none = AicoreMetrics.AiCoreNone
    if p.schedule and p.data_process:
        advise("data_process cannot follow a schedule: reset to False")
        p = replace(p, data_process=False)
    if p.profiler_level is ProfilerLevel.LevelNone and not p.mstx:
        advise("ProfilerLevel.LevelNone without mstx records nothing: reset to Level0")
        p = replace(p, profiler_level=ProfilerLevel.Level0)
    counts = p.profiler_level in (ProfilerLevel.Level1, ProfilerLevel.Level2)
    if not counts and p.aic_metrics is not none:
        advise(f"aic_metrics needs Level1 or Level2, not {p.profiler_level.value}: reset to none")
        p = replace(p, aic_metrics=none)
    elif counts and p.aic_metrics is none:
        advise(f"aic_metrics will be set to PipeUtilization: {p.profiler_level.value} wants one")
        p = replace(p, aic_metrics=AicoreMetrics.PipeUtilization)
    if p.record_shapes and ProfilerActivity.CPU not in p.activities:
        advise("record_shapes needs ProfilerActivity.CPU: reset to False")
        p = replace(p, record_shapes=False)
    if not p.mstx and (p.mstx_domain_include or p.mstx_domain_exclude):
        advise("mstx_domain_include and mstx_domain_exclude need mstx: reset to empty lists")
        p = replace(p, mstx_domain_include=(), mstx_domain_exclude=())
    if p.mstx_domain_include and p.mstx_domain_exclude:
        advise("mstx_domain_include already chooses the domains: mstx_domain_exclude is reset")
        p = replace(p, mstx_domain_exclude=())
    return p
