"""One check for each parameter: returns the value in the form that is kept, or raises with the
words that complete "must be ...".
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Callable, TypeVar

from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)

_E = TypeVar("_E", bound=Enum)

#: what is recorded of NVIDIA's GPUs, see docs/recording.md
GPU_TIERS = ("pulse", "kernels", "full")

_LONGEST_INTERVAL_MS = 60_000
_LARGEST = 1 << 22  # gigabytes: 4 EB; megabytes: 4 TB

_BOOLS = (
    "with_stack profile_memory data_process parallel_strategy start_profile l2_cache hbm_ddr pcie "
    "sys_io sys_interconnection sync_enable data_simplification record_shapes mstx"
)


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("True or False")
    return value


def text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a string")
    return value


def function(value: object) -> Callable[..., Any]:
    if not callable(value):
        raise TypeError("a function")
    return value


def above_zero(value: object) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LARGEST:
        raise ValueError(f"a number above 0, and below {_LARGEST}")
    return value


def tier(value: object) -> str:
    if value not in GPU_TIERS:
        raise ValueError(" or ".join(repr(word) for word in GPU_TIERS))
    return str(value)


def interval_ms(value: object) -> int:
    if type(value) is not int or not 1 <= value <= _LONGEST_INTERVAL_MS:
        raise ValueError(f"a whole number of milliseconds from 1 to {_LONGEST_INTERVAL_MS}")
    return value


def domains(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise TypeError("a list of names")
    return tuple(dict.fromkeys(value))


def member(kind: type[_E]) -> Callable[[object], _E]:
    def check(value: object) -> _E:
        if not isinstance(value, kind):
            raise TypeError(f"a member of {kind.__name__}")
        return value

    return check


def members(kind: type[_E]) -> Callable[[object], tuple[_E, ...]]:
    def check(value: object) -> tuple[_E, ...]:
        if not isinstance(value, list) or not all(isinstance(item, kind) for item in value):
            raise TypeError(f"a list of members of {kind.__name__}")
        return tuple(dict.fromkeys(value))

    return check


def export_types(value: object) -> tuple[ExportType, ...]:
    if isinstance(value, ExportType):
        return (value,)
    if value in ("text", "db"):
        return (ExportType(value),)
    return members(ExportType)(value) or (ExportType.Text,)


CHECKS: dict[str, Callable[[object], Any]] = {
    **dict.fromkeys(_BOOLS.split(), boolean),
    "output_path": text,
    "profiler_level": member(ProfilerLevel),
    "activities": members(ProfilerActivity),
    "aic_metrics": member(AicoreMetrics),
    "host_sys": members(HostSystem),
    "export_type": export_types,
    "mstx_domain_include": domains,
    "mstx_domain_exclude": domains,
    "schedule": function,
    "on_trace_ready": function,
    "max_host_mb": above_zero,
    "max_disk_gb": above_zero,
    "min_free_gb": above_zero,
    "gpu_tier": tier,
    "system_interval_ms": interval_ms,
}
