"""Puts Stepscope's profiler in the place of ``mindspore.profiler``, for unchanged programs.

``stepscope record -- python train.py`` has the folder ``inject`` beside this file on PYTHONPATH;
its sitecustomize comes here when the program imports MindSpore. MindSpore's names then mean ours
wherever they are imported from, MindSpore's own modules included.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import os
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Callable

from stepscope._imports import find_module

_OPTIONS = "MS_PROFILER_OPTIONS"
_NPU = "STEPSCOPE_NPU"
# Of mindspore.profiler, and ours.
_NAMES = (
    "AicoreMetrics", "DynamicProfilerMonitor", "EnvProfiler", "ExportType", "HostSystem",
    "Profiler", "ProfilerActivity", "ProfilerLevel", "_ExperimentalConfig", "mstx", "profile",
    "schedule", "tensor_board_trace_handler", "tensorboard_trace_handler",
)  # fmt: skip
# Of modules below it, which mindspore.profiler itself does not show.
_ELSEWHERE = (
    ("mindspore.profiler.profiler", "analyse"),
    ("mindspore.profiler.schedule", "ProfilerAction"),
)
# Modules that hold the same objects, and others that only they use.
_HOLDERS = (
    "mindspore", "mindspore.profiler", "mindspore.profiler.profiler",
    "mindspore.profiler.dynamic_profiler", "mindspore.profiler.common.constant",
    "mindspore.profiler.schedule",
)  # fmt: skip
_HOLDERS_BELOW = "mindspore.profiler.dynamic_profile."


def replace_profiler() -> None:
    """Now if MindSpore is imported, else as soon as it is. Never raises. Imports neither MindSpore
    nor stepscope.profiler before."""
    if "mindspore" in sys.modules:
        _replace()
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def find_mindspore(
    path: Sequence[str] | None, target: ModuleType | None = None
) -> importlib.machinery.ModuleSpec | None:
    """MindSpore, for an import under way; its profiler is replaced when that is done."""
    return find_module("mindspore", path, target, _import)


def _import(run: Callable[[], None]) -> None:
    # What MindSpore would start from the environment while it is imported, ours does.
    options = os.environ.pop(_OPTIONS, None)
    try:
        run()
    finally:
        if options is not None:
            os.environ[_OPTIONS] = options
    _replace()
    if os.environ.get(_NPU):
        from stepscope.profiler.outer import record_npu

        record_npu()
    if any(os.environ.get(name) for name in ("STEPSCOPE_OPTIONS", _OPTIONS)):
        from stepscope.profiler import EnvProfiler

        EnvProfiler.start()


def _replace() -> None:
    from stepscope.profiler._log import guarded

    with guarded("replace_profiler"):
        _swap()


def _swap() -> None:
    import mindspore.profiler as theirs

    from stepscope import profiler as ours
    from stepscope.profiler._log import logger

    swaps: dict[int, object] = {}
    for name in _NAMES:
        if hasattr(theirs, name):
            swaps[id(getattr(theirs, name))] = getattr(ours, name)
    for holder, name in _ELSEWHERE:
        if hasattr(sys.modules.get(holder), name):
            swaps[id(getattr(sys.modules[holder], name))] = getattr(ours, name)
    for module_name, module in list(sys.modules.items()):
        if module_name in _HOLDERS or module_name.startswith(_HOLDERS_BELOW):
            for attribute, value in list(vars(module).items()):
                if id(value) in swaps:
                    setattr(module, attribute, swaps[id(value)])
    logger.info("mindspore.profiler is Stepscope's from here on")


class _Finder(importlib.abc.MetaPathFinder):
    """Sees the import of MindSpore, and whoever asks before whether it is there."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != "mindspore":
            return None
        return find_mindspore(path, target)
