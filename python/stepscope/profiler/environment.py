"""Profiling a program without touching it: MS_PROFILER_OPTIONS, or STEPSCOPE_OPTIONS.

Both hold a JSON object with the parameters of ``Profiler`` and ``start``, and are read when
stepscope is imported. Recording ends with the program. The options of all generations of MindSpore
are understood. With ``watch`` nothing is written until something happens (stepscope.triggers).
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum
from typing import Any, Callable

from stepscope._imports import around_import
from stepscope.profiler._log import guarded, logger
from stepscope.profiler.devices import default_parameters, present
from stepscope.profiler.enums import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    ProfilerActivity,
    ProfilerLevel,
)
from stepscope.profiler.handlers import tensorboard_trace_handler
from stepscope.profiler.parameters import resolve
from stepscope.profiler.session import Session

_THEIRS = "MS_PROFILER_OPTIONS"
_VARIABLES = ("STEPSCOPE_OPTIONS", _THEIRS)

# What the numbers of aicore_metrics meant before it was an enumeration; -1 was none.
METRICS_OF_OLD = (
    AicoreMetrics.ArithmeticUtilization,
    AicoreMetrics.PipeUtilization,
    AicoreMetrics.Memory,
    AicoreMetrics.MemoryL0,
    AicoreMetrics.ResourceConflictRatio,
    AicoreMetrics.MemoryUB,
    AicoreMetrics.L2Cache,
    AicoreMetrics.AiCoreNone,
)
_ENUMS: dict[str, type[Enum]] = {
    "activities": ProfilerActivity,
    "profiler_level": ProfilerLevel,
    "aic_metrics": AicoreMetrics,
    "aicore_metrics": AicoreMetrics,
    "host_sys": HostSystem,
    "export_type": ExportType,
}
# What profile_framework could be: which times of the host were recorded.
_FRAMEWORK_WORDS = ("all", "time", "memory", None)
_NOT_HERE = ("start", "schedule", "on_trace_ready", "watch")


class EnvProfiler:
    """The profiler that the environment asked for; there is at most one."""

    _session: _EnvironmentSession | None = None
    _kept = False

    @classmethod
    def start(cls) -> None:
        """Starts recording if the environment says so. Never raises."""
        with guarded("EnvProfiler.start"):
            cls._keep_from_mindspore()
            options = _read()
            if not options or not _says_start(options) or cls._session:
                return
            # parent_process() is not set yet while a spawned process imports its modules.
            if multiprocessing.current_process().name != "MainProcess":
                logger.info("helper processes are not recorded, only the one that made them")
                return
            if options.get("watch"):
                _watch(options)
                return
            defaults = default_parameters(present())
            # In the environment, unlike in a call, the documentation has these on.
            defaults = replace(defaults, data_process=True, parallel_strategy=True)
            given = {**translated(options), "on_trace_ready": tensorboard_trace_handler()}
            parameters = resolve(given, defaults)
            # What older options imply was not asked for by that name.
            asked = parameters.asked - (given.keys() - options.keys())
            cls._session = _EnvironmentSession(replace(parameters, asked=asked))

    @classmethod
    def _keep_from_mindspore(cls) -> None:
        """MindSpore reads the same variable when it is imported: it would record as well, and a
        value that is no object ends the program there."""
        if _THEIRS not in os.environ or "mindspore" in sys.modules or cls._kept:
            return
        cls._kept = True

        def around(run: Callable[[], None]) -> None:
            options = os.environ.pop(_THEIRS, None)
            try:
                run()
            finally:
                if options is not None:
                    os.environ[_THEIRS] = options

        around_import("mindspore", around)

    @classmethod
    def analyse(cls) -> None:
        """Ends the recording before the program does."""
        session, cls._session = cls._session, None
        if session:
            session.stop_if_started()


class _EnvironmentSession(Session):
    def stop_if_started(self) -> None:
        """MindSpore calls ``analyse`` at the end of the program, behind our own end of it."""
        if self._started:
            self.stop()

    @property
    def _name(self) -> str:
        return "EnvProfiler"

    @property
    def described(self) -> str:
        return f"what {' or '.join(_VARIABLES)} of the environment started"

    def stop_at_exit(self) -> None:
        self.stop()  # as intended, so nothing to warn of


def _watch(options: Mapping[str, Any]) -> None:
    """Only captures what happens, by the rules of ``watch``: true, or an object of them."""
    from stepscope import triggers
    from stepscope.triggers.watch import current

    if current():
        return  # of an earlier import
    given = options["watch"]
    rules: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    slow = rules.get("slow_step")
    if isinstance(slow, dict):
        rules["slow_step"] = triggers.SlowStep(**slow)
    triggers.watch(**{"output_path": "./data", **translated(options), **rules})


def _read() -> dict[str, Any]:
    name = next((name for name in _VARIABLES if os.environ.get(name)), None)
    if name is None:
        return {}
    try:
        options = json.loads(os.environ[name])
    except ValueError as error:
        logger.error("%s is not JSON, nothing is recorded: %s", name, error)
        return {}
    if isinstance(options, dict) and options:
        return options
    logger.error("%s must be a JSON object with options, nothing is recorded", name)
    return {}


def _says_start(options: Mapping[str, Any]) -> bool:
    for name, default in (("start", False), ("start_profile", True)):
        value = options.get(name, default)
        if not isinstance(value, bool):
            logger.warning("%s must be true or false, not %r: nothing is recorded", name, value)
        if value is not True:
            return False
    return True


def translated(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a caller of ``Profiler`` would give them; what is wrong is left as it is, for the
    checks to complain about."""
    given = {name: value for name, value in options.items() if name not in _NOT_HERE}
    metrics = given.get("aicore_metrics")
    if type(metrics) is int and -1 <= metrics < len(METRICS_OF_OLD) - 1:
        given["aicore_metrics"] = METRICS_OF_OLD[metrics]
        if metrics >= 0:  # there were no levels then; now counters need one
            given.setdefault("profiler_level", "Level1")
    if _take(given, "profile_communication", False) is True:
        given.setdefault("profiler_level", "Level1")
    if _take(given, "op_time", True) is False:
        given.setdefault("activities", ["CPU"])
    _say_without_effect(given)
    for name, kind in _ENUMS.items():
        if name in given:
            given[name] = _members(kind, given[name])
    return given


def _take(given: dict[str, Any], name: str, default: bool) -> bool:
    """An option that ``Profiler`` does not have any more."""
    value = given.pop(name, None)
    if value is None or isinstance(value, bool):
        return default if value is None else value
    logger.warning("%s must be true or false, not %r: reset to %r", name, value, default)
    return default


def _say_without_effect(given: dict[str, Any]) -> None:
    """Options that were checked and whose work is done in another way."""
    framework = given.pop("profile_framework", None)
    if framework not in _FRAMEWORK_WORDS:
        words = ", ".join(repr(word) for word in _FRAMEWORK_WORDS if word)
        logger.warning("profile_framework must be %s or null, not %r", words, framework)
    elif framework is not None:
        logger.warning(
            "profile_framework has no effect: all of the host is recorded, unless activities "
            "leaves the CPU out"
        )
    limit = given.pop("timeline_limit", None)
    if limit is None:
        return
    if type(limit) is not int or limit <= 0:
        logger.warning("timeline_limit must be a whole number above 0, not %r", limit)
    logger.warning("timeline_limit has no effect: max_disk_gb bounds the size of a recording")


def _members(kind: type[Enum], value: object) -> object:
    """The members that texts name, by value or by name."""
    if isinstance(value, list):
        return [_members(kind, item) for item in value]
    named = (item for item in kind if value in (item.value, item.name))
    return next(named, value)
