"""``profiler_config.json``: its keys, their codes, and what they mean to a recording.

Keys of all generations of MindSpore are understood. A file is taken as a whole or not at all: a
typing error must not start a recording that nobody asked for.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Callable

from stepscope.profiler._checks import above_zero, boolean, domains, text
from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)
from stepscope.profiler.environment import METRICS_OF_OLD

FILE_NAME = "profiler_config.json"

#: What a new file holds, in this order.
DEFAULTS: dict[str, Any] = {
    "start_step": -1,
    "stop_step": -1,
    "aicore_metrics": -1,
    "profiler_level": -1,
    "profile_framework": -1,
    "analyse_mode": -1,
    "profile_communication": False,
    "parallel_strategy": False,
    "with_stack": False,
    "data_simplification": True,
}

_LARGEST_FILE = 1 << 20
_LEVELS = (ProfilerLevel.Level0, ProfilerLevel.Level1, ProfilerLevel.Level2)
# The order of the codes of aic_metrics, which is not that of aicore_metrics.
_METRICS = (
    AicoreMetrics.PipeUtilization,
    AicoreMetrics.ArithmeticUtilization,
    AicoreMetrics.Memory,
    AicoreMetrics.MemoryL0,
    AicoreMetrics.MemoryUB,
    AicoreMetrics.ResourceConflictRatio,
    AicoreMetrics.L2Cache,
    AicoreMetrics.MemoryAccess,
)
_CPU, _NPU = ProfilerActivity.CPU, ProfilerActivity.NPU
_TEXT, _DB = ExportType.Text, ExportType.Db


class ConfigError(ValueError):
    """A file that is not taken, with the reason."""


@dataclass(frozen=True)
class Config:
    """One version of the file, checked."""

    #: steps to record, both included, 1 is the first; 0: none
    start: int
    stop: int
    #: None: all
    ranks: frozenset[int] | None = None
    analyse: bool = False
    in_background: bool = False
    #: "": the monitor's own
    folder: str = ""
    #: who asks, as `stepscope capture` names itself; "": somebody with an editor
    request: str = ""
    #: parameters of the profiler
    options: Mapping[str, Any] = field(default_factory=dict)

    def chooses(self, rank: int) -> bool:
        return self.ranks is None or rank in self.ranks


def read(content: bytes) -> Config:
    """Raises ConfigError with a sentence that says what is wrong."""
    if len(content) > _LARGEST_FILE:
        raise ConfigError(f"it has {len(content):,} bytes, more than any configuration needs")
    try:
        given = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"it is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise ConfigError(f"it must be a JSON object, not a {type(given).__name__}")
    unknown = [name for name in given if name not in _KEYS]
    if unknown:
        near = difflib.get_close_matches(unknown[0], _KEYS, 1)
        hint = f"; nearest: {near[0]}" if near else ""
        raise ConfigError(f"there is no key {', '.join(map(repr, unknown))}{hint}")
    values: dict[str, Any] = {}
    for name, value in given.items():
        try:
            values[name] = _KEYS[name](value)
        except (TypeError, ValueError) as error:
            raise ConfigError(f"{name} must be {error}, not {json.dumps(value)}") from None
    return _config(values)


def _config(values: dict[str, Any]) -> Config:
    for name in ("start_step", "stop_step"):
        if name not in values:
            raise ConfigError(f"{name} is missing")
    start, stop = values.pop("start_step"), values.pop("stop_step")
    if start > 0 and stop < start:
        raise ConfigError(f"stop_step {stop} comes before start_step {start}")
    mode = values.pop("analyse_mode", -1)
    analyse = values.pop("analyse", False) or mode >= 0
    return Config(
        start=max(start, 0),
        stop=stop if start > 0 else 0,
        ranks=values.pop("ranks", None),
        analyse=analyse,
        in_background=analyse and mode == 1,
        folder=values.pop("prof_path", ""),
        request=values.pop("request", ""),
        options=_options(values),
    )


def _options(values: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the profiler; what is None stays the profiler's default."""
    # How much of the host is recorded: here, all of it.
    values.pop("profile_framework", None)
    communication = values.pop("profile_communication", False)
    metrics = values.pop("aicore_metrics", None) or values.pop("aic_metrics", None)
    values.pop("aic_metrics", None)
    level = values.get("profiler_level")
    if level is None and (communication or metrics):
        level = ProfilerLevel.Level1  # there were no levels when these keys were made
    if metrics is None and level in (ProfilerLevel.Level1, ProfilerLevel.Level2):
        metrics = AicoreMetrics.PipeUtilization
    values.update(profiler_level=level, aic_metrics=metrics)
    return {name: value for name, value in values.items() if value is not None}


def _step(value: object) -> int:
    if type(value) is not int or not -1 <= value < 1 << 53:
        raise TypeError("a step's number, 1 is the first, or -1 for none")
    return value


def _code(name: str, meanings: Mapping[int, Any]) -> Callable[[object], Any]:
    codes = ", ".join(map(str, meanings))

    def check(value: object) -> Any:
        if type(value) is int and value in meanings:
            return meanings[value]
        raise TypeError(f"one of {codes}" + name)

    return check


def _code_or_name(kind: type[Enum], meanings: Mapping[int, Any]) -> Callable[[object], Any]:
    names = [item.name for item in kind]
    code = _code(f", or one of {', '.join(names)}", meanings)

    def check(value: object) -> Any:
        if not isinstance(value, str):
            return code(value)
        named = [item for item in kind if value in (item.name, item.value)]
        return named[0] if named else code(value)

    return check


def _code_or_list(kind: type[Enum], meanings: Mapping[int, Any]) -> Callable[[object], Any]:
    texts = [item.value for item in kind]

    def check(value: object) -> Any:
        if type(value) is int and value in meanings:
            return meanings[value]
        if isinstance(value, list) and all(item in texts for item in value):
            return [kind(item) for item in value] or None
        code = f"one of {', '.join(map(str, meanings))}, or " if meanings else ""
        raise TypeError(f"{code}a list of {', '.join(texts)}")

    return check


def _activities(value: object) -> list[ProfilerActivity] | None:
    chosen: list[ProfilerActivity] | None = _code_or_list(
        ProfilerActivity, {0: None, 1: [_CPU], 2: [_NPU]}
    )(value)
    # The host and the device: what the device is, the machine decides.
    return None if chosen and set(chosen) == {_CPU, _NPU} else chosen


def _export_types(value: object) -> list[ExportType] | None:
    if isinstance(value, str):
        value = [value]
    chosen: list[ExportType] | None = _code_or_list(
        ExportType, {0: [_TEXT], 1: [_DB], 2: [_TEXT, _DB]}
    )(value)
    return None if chosen == [_TEXT] else chosen


def _metrics(value: object) -> AicoreMetrics | None:
    codes = {-1: None, **dict(enumerate(_METRICS))}
    chosen: AicoreMetrics | None = _code_or_name(AicoreMetrics, codes)(value)
    return None if chosen is AicoreMetrics.AiCoreNone else chosen


def _old_metrics(value: object) -> AicoreMetrics | None:
    codes: dict[int, Any] = {-1: None, **dict(enumerate(METRICS_OF_OLD))}
    chosen: AicoreMetrics | None = _code_or_name(AicoreMetrics, codes)(value)
    return None if chosen is AicoreMetrics.AiCoreNone else chosen


def _path(value: object) -> str:
    path = text(value)
    return "" if path in (".", "./") else path


def _domains(value: object) -> list[str] | None:
    return list(domains(value)) or None


def _ranks(value: object) -> frozenset[int] | None:
    if value is None or value == -1 or value == [-1]:
        return None
    if isinstance(value, list) and all(type(item) is int and item >= 0 for item in value):
        return frozenset(value)
    raise TypeError("a list of ranks, or -1 for all")


_SWITCHES = (
    "analyse profile_communication parallel_strategy with_stack data_simplification profile_memory "
    "mstx l2_cache record_shapes sys_io sys_interconnection hbm_ddr pcie data_process"
)

_KEYS: dict[str, Callable[[object], Any]] = {
    "start_step": _step,
    "stop_step": _step,
    "aicore_metrics": _old_metrics,
    "aic_metrics": _metrics,
    "profiler_level": _code_or_name(ProfilerLevel, {-1: None, **dict(enumerate(_LEVELS))}),
    "profile_framework": _code(" (0 all, 1 time, -1 not)", {-1: None, 0: "all", 1: "time"}),
    "analyse_mode": _code(" (0 sync, 1 async, -1 not)", {-1: -1, 0: 0, 1: 1}),
    "activities": _activities,
    "export_type": _export_types,
    "prof_path": _path,
    "host_sys": _code_or_list(HostSystem, {}),
    "mstx_domain_include": _domains,
    "mstx_domain_exclude": _domains,
    **dict.fromkeys(_SWITCHES.split(), boolean),
    # Ours. MindSpore's monitor does not know them and leaves them alone.
    "ranks": _ranks,
    "request": text,
    **dict.fromkeys(("max_host_mb", "max_disk_gb", "min_free_gb"), above_zero),
}
