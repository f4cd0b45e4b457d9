"""What this machine and this version can record of what was asked for."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from stepscope.profiler._checks import GPU_TIERS
from stepscope.profiler.enums import HostSystem, ProfilerActivity
from stepscope.profiler.parameters import Parameters

_SYSTEM_INTERVAL_MS = 1000
_WORKERS_INTERVAL_MS = 100  # as minddata samples the processor time of its stages
_STACK_INTERVAL_MS = 1

# Where no gpu_tier is given. Operators are linked to kernels by their calls, which only `full` has.
_TIERS_OF_LEVELS = {"LevelNone": "pulse", "Level0": "full", "Level1": "full", "Level2": "full"}

# LevelNone to Level2 in the collector's numbers, and CANN's numbers of the groups of counters.
_NPU_LEVELS = {"LevelNone": 1, "Level0": 2, "Level1": 3, "Level2": 4}
_NPU_METRICS = {
    "ArithmeticUtilization": 0,
    "PipeUtilization": 1,
    "Memory": 2,
    "MemoryL0": 3,
    "ResourceConflictRatio": 4,
    "MemoryUB": 5,
    "L2Cache": 6,
    "MemoryAccess": 8,
}
_NPU_SWITCHES = (
    "l2_cache", "profile_memory", "mstx", "hbm_ddr", "pcie", "sys_io", "sys_interconnection",
)  # fmt: skip
_NPU_ONLY = ("aic_metrics", "l2_cache", "hbm_ddr", "pcie", "sys_io", "sys_interconnection")
# These come with the hooks into the frameworks.
_OF_FRAMEWORKS = ("record_shapes", "parallel_strategy")


def present(devices: Path = Path("/dev")) -> frozenset[ProfilerActivity]:
    """The kinds of device that this process may use. Looks at file names only: no driver wakes."""
    found = {ProfilerActivity.CPU}
    if (devices / "nvidiactl").exists() and not _hidden("CUDA_VISIBLE_DEVICES"):
        found.add(ProfilerActivity.GPU)
    if any(devices.glob("davinci[0-9]*")) and not _hidden("ASCEND_RT_VISIBLE_DEVICES"):
        found.add(ProfilerActivity.NPU)
    return frozenset(found)


def _hidden(variable: str) -> bool:
    return os.environ.get(variable, "0").strip() in ("", "-1")


def default_parameters(found: frozenset[ProfilerActivity]) -> Parameters:
    """MindSpore's defaults, which name the NPU; on a machine with GPUs alone, the GPU."""
    if ProfilerActivity.GPU in found and ProfilerActivity.NPU not in found:
        return Parameters(activities=(ProfilerActivity.CPU, ProfilerActivity.GPU))
    return Parameters()


def sources(
    p: Parameters, found: frozenset[ProfilerActivity], device: int = 0
) -> dict[str, dict[str, Any]]:
    """What to switch on, in the collector's words. The device is for programs that choose none."""
    interval_ms = p.system_interval_ms
    if interval_ms is None:
        interval_ms = _WORKERS_INTERVAL_MS if p.data_process else _SYSTEM_INTERVAL_MS
    chosen: dict[str, dict[str, Any]] = {"system": {"interval_ms": interval_ms}}
    if p.with_stack and ProfilerActivity.CPU in p.activities:
        chosen["python_stacks"] = {"interval_ms": _STACK_INTERVAL_MS}
    level = p.profiler_level.value
    if _uses(ProfilerActivity.GPU, p, found):
        tier = p.gpu_tier or _TIERS_OF_LEVELS[level]
        chosen["gpu"] = {"tier": GPU_TIERS.index(tier) + 1}
    if _uses(ProfilerActivity.NPU, p, found):
        chosen["npu"] = {
            "level": _NPU_LEVELS[level],
            "metrics": _NPU_METRICS.get(p.aic_metrics.value, -1) + 1,
            "data": [
                *(name for name in _NPU_SWITCHES if getattr(p, name)),
                *(f"host_sys {group.value}" for group in p.host_sys),
            ],
            "device": device,
        }
    return chosen


def not_honoured(
    p: Parameters, found: frozenset[ProfilerActivity], by_frameworks: frozenset[str] = frozenset()
) -> dict[str, str]:
    """Parameters that the caller gave and that have no effect here, with the reason."""
    reasons: dict[str, str] = {}
    missing = [kind.value for kind in p.activities if kind not in found]
    if missing:
        reasons["activities"] = f"this machine has no {' and no '.join(missing)}"
        rest = [kind.value for kind in p.activities if kind in found]
        if rest:
            left_out = "it is left out" if len(missing) == 1 else "they are left out"
            reasons["activities"] += f", {left_out}; recorded: {' and '.join(rest)}"
    if not _uses(ProfilerActivity.NPU, p, found):
        reasons.update(dict.fromkeys(_NPU_ONLY, "only an Ascend NPU has these counters"))
        if not _uses(ProfilerActivity.GPU, p, found):
            reasons["profiler_level"] = "levels choose what a device records, and none is recorded"
    if _uses(ProfilerActivity.GPU, p, found):
        reasons["sync_enable"] = (
            "both times of an operator are recorded either way, on the host (ops.dur) and from "
            "its start there to its end on the GPU (its kernels.op), see docs/recording.md; "
            "nothing is synchronised for it"
        )
    else:
        reasons["sync_enable"] = "it chooses how GPU operators are timed, and no GPU is recorded"
        reasons["gpu_tier"] = "it chooses what of a GPU is recorded, and no GPU is recorded"
    if not _uses(ProfilerActivity.NPU, p, found):
        if HostSystem.OSRT in p.host_sys:
            reasons["host_sys"] = "its osrt needs CANN; the others are always recorded"
        reasons["export_type"] = (
            "msprof makes databases, of what an NPU left, and no NPU is recorded; what is written "
            "is text"
        )
    records_memory = _uses(ProfilerActivity.NPU, p, found) or _uses(ProfilerActivity.GPU, p, found)
    if not records_memory and "profile_memory" not in by_frameworks:
        reasons["profile_memory"] = "no device or framework with a memory of its own is recorded"
    if ProfilerActivity.CPU not in p.activities:
        reasons["with_stack"] = "stacks need ProfilerActivity.CPU"
    without_source = [name for name in _OF_FRAMEWORKS if name not in by_frameworks]
    reasons.update(dict.fromkeys(without_source, "no framework that tells it is imported"))
    usual = default_parameters(found)
    return {
        name: reason
        for name, reason in reasons.items()
        if name in p.asked and (name == "activities" or getattr(p, name) != getattr(usual, name))
    }


def has_effect_in_part(name: str, p: Parameters, found: frozenset[ProfilerActivity]) -> bool:
    """Of a parameter that ``not_honoured`` names."""
    return name == "activities" and not records_nothing(p, found)


def records_nothing(p: Parameters, found: frozenset[ProfilerActivity]) -> bool:
    return not any(_uses(kind, p, found) for kind in ProfilerActivity)


def _uses(kind: ProfilerActivity, p: Parameters, found: frozenset[ProfilerActivity]) -> bool:
    # LevelNone keeps the device's marks and drops its operators: still a use of the device.
    return kind in p.activities and kind in found
