"""``Profiler`` with the configuration of MindSpeed-MM's tool library, ``tools.json``.

    from stepscope.mindspeed_mm import Profiler  # in the place of mindspeed_mm.tools.profiler

    prof = Profiler(prof_config)
    prof.start()
    while train:
        train_one_step()
        prof.step()
    prof.stop()

``prof_config`` is the object ``profile`` of tools.json, as a dictionary or with attributes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Callable, Protocol

from stepscope._settings import value_of
from stepscope.profiler import (
    AicoreMetrics,
    DynamicProfilerMonitor,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from stepscope.profiler._log import guarded, logger
from stepscope.profiler.devices import default_parameters, present
from stepscope.profiler.ranks import find_place

_LEVELS = {
    "level0": ProfilerLevel.Level0,
    "level1": ProfilerLevel.Level1,
    "level2": ProfilerLevel.Level2,
}
_METRICS = {
    "PipeUtilization": AicoreMetrics.PipeUtilization,
    "ArithmeticUtilization": AicoreMetrics.ArithmeticUtilization,
}
_ALL = (-1,)


@dataclass(frozen=True)
class StaticParameters:
    """``static_param``, with the values that tools.json is shipped with."""

    level: str = "level1"
    with_stack: bool = False
    with_memory: bool = False
    record_shapes: bool = False
    with_cpu: bool = True
    save_path: str = "./npu_profiling"
    #: the first step that is recorded, 0 is the first of the loop
    start_step: int = 10
    #: the first one that is not
    end_step: int = 11
    data_simplification: bool = False
    aic_metrics_type: str = "PipeUtilization"
    analyse_flag: bool = True


class Profiler:
    """Records steps of a training loop: some that are named before (``static``), or those that
    ``profiler_config.json`` names while it runs (``dynamic``). Does nothing where ``enable`` is
    not true, and on ranks that are not in ``ranks``. Nothing is raised after the constructor.

    Raises:
        ValueError: an unknown ``profile_type``, ``level`` or ``aic_metrics_type``, or a dynamic
            one without ``config_path``, where ``enable`` is true.
    """

    def __init__(self, prof_config: Any) -> None:
        self._ranks = _ranks(value_of(prof_config, "ranks", _ALL))
        self._recording: _Recording | None = None
        self._is_on = False
        if value_of(prof_config, "enable") is True:
            kind = value_of(prof_config, "profile_type", "static")
            _check("profile_type", kind, _KINDS)
            self._recording = _KINDS[kind](value_of(prof_config, f"{kind}_param", {}))

    def start(self) -> None:
        """Before the first step."""
        if self._recording:
            rank = find_place().rank  # known by now, if ever: the process groups are made
            self._is_on = self._ranks == _ALL or rank in self._ranks
        if self._is_on and self._recording:
            with guarded("Profiler.start"):
                self._recording.start()

    def step(self) -> None:
        """At the end of each step."""
        if self._is_on and self._recording:
            self._recording.step()

    def stop(self) -> None:
        """Behind the loop. A window that is still open is completed."""
        if self._is_on and self._recording:
            self._is_on = False
            self._recording.stop()


class _Recording(Protocol):
    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...


class _Static:
    def __init__(self, given: Any) -> None:
        self._parameters = _static_parameters(given)
        self._profile: profile | None = None

    def start(self) -> None:
        p = self._parameters
        level = _LEVELS[p.level]
        counts = level is not ProfilerLevel.Level0
        self._profile = profile(
            activities=_activities(p.with_cpu),
            with_stack=p.with_stack,
            profile_memory=p.with_memory,
            record_shapes=p.record_shapes and p.with_cpu,
            schedule=schedule(
                wait=0, active=p.end_step - p.start_step, repeat=1, skip_first=p.start_step
            ),
            on_trace_ready=tensorboard_trace_handler(p.save_path, analyse_flag=p.analyse_flag),
            experimental_config=_ExperimentalConfig(
                profiler_level=level,
                aic_metrics=_METRICS[p.aic_metrics_type] if counts else AicoreMetrics.AiCoreNone,
                data_simplification=p.data_simplification,
            ),
            start_profile=False,
        )
        self._profile.start()

    def step(self) -> None:
        if self._profile:
            self._profile.step()

    def stop(self) -> None:
        recording, self._profile = self._profile, None
        if recording:
            recording.stop()


class _Dynamic:
    """``config_path`` is a folder, or the file in it. The log lies beside it, in ``log/``."""

    def __init__(self, given: Any) -> None:
        self._path = value_of(given, "config_path", "")
        if not isinstance(self._path, str) or not self._path:
            raise ValueError(
                "dynamic_param.config_path must name a folder for profiler_config.json, or that "
                f"file, not {self._path!r}"
            )
        self._monitor: DynamicProfilerMonitor | None = None

    def start(self) -> None:
        self._monitor = DynamicProfilerMonitor(cfg_path=self._path)
        self._monitor.start()

    def step(self) -> None:
        if self._monitor:
            self._monitor.step()

    def stop(self) -> None:
        monitor, self._monitor = self._monitor, None
        if monitor:
            monitor.close()


_KINDS: dict[Any, Callable[[Any], _Recording]] = {"static": _Static, "dynamic": _Dynamic}


def _static_parameters(given: Any) -> StaticParameters:
    usual = StaticParameters()
    values: dict[str, Any] = {}
    for item in fields(StaticParameters):
        default = getattr(usual, item.name)
        value = value_of(given, item.name, default)
        if type(value) is not type(default) or (type(value) is int and value < 0):
            logger.warning(
                "static_param.%s must be like %r, not %r: reset to it", item.name, default, value
            )
            value = default
        values[item.name] = value
    _check("level", values["level"], _LEVELS)
    _check("aic_metrics_type", values["aic_metrics_type"], _METRICS)
    if values["end_step"] <= values["start_step"]:
        logger.warning(
            "static_param: end_step %d is the first step that is not recorded, and must come "
            "behind start_step %d: one step is recorded",
            values["end_step"], values["start_step"],
        )  # fmt: skip
        values["end_step"] = values["start_step"] + 1
    return StaticParameters(**values)


def _check(name: str, value: object, known: dict[Any, Any]) -> None:
    if not isinstance(value, str) or value not in known:
        raise ValueError(f"{name} must be one of {', '.join(known)}, not {value!r}")


def _ranks(given: object) -> tuple[int, ...]:
    ranks = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    if all(type(rank) is int for rank in ranks):
        return ranks
    logger.warning("ranks must be a list of ranks, or -1 for all, not %r: reset to -1", given)
    return _ALL


def _activities(with_cpu: bool) -> list[ProfilerActivity]:
    # MindSpeed-MM means the NPU; on a machine with GPUs alone these are the device.
    device = [kind for kind in default_parameters(present()).activities if kind.value != "CPU"]
    return [ProfilerActivity.CPU, *device] if with_cpu else device
