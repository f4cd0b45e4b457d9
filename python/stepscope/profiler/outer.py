"""The recording around the program, where ``stepscope record`` started it.

It has begun before any profiler of the program does, and ends with the program. Profilers join it:
their steps, ranges and operators go there, and their windows are noted in it.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, Callable

from stepscope._imports import find_module

# Set by `stepscope record`; asked first, because the answer of the collector means loading it.
VARIABLE = "STEPSCOPE_OUTPUT"
#: level0, level1 or level2: also the NPU, all the time
NPU = "STEPSCOPE_NPU"


def outer_run() -> Path | None:
    """The run directory of that recording; None where there is none."""
    if not os.environ.get(VARIABLE):
        return None
    from stepscope import _record

    folder = _record.outer_folder()
    return Path(folder).parent if folder else None


_npu: list[Any] = []  # the part of the recording that has it, until the program ends


def find_torch_npu(path: Any, target: Any = None) -> ModuleSpec | None:
    """torch_npu, for an import under way; the NPU is recorded when that is done."""

    def import_it(run: Callable[[], None]) -> None:
        run()
        record_npu()

    return find_module("torch_npu", path, target, import_it)


# They import PyTorch to start the processes that train, or to compile for them.
_HELPERS = ("torchrun", "torch/distributed/run", "torch/distributed/launch", "torch/_inductor")


def find_torch(path: Any, target: Any = None) -> ModuleSpec | None:
    """PyTorch, for an import under way. In a program that knows nothing of it, what the environment
    asks for begins when that is done, a watch or a profiler; with MindSpore its import does it."""

    def import_it(run: Callable[[], None]) -> None:
        run()
        if _is_helper():
            return
        from stepscope.profiler.environment import EnvProfiler

        EnvProfiler.start()

    return find_module("torch", path, target, import_it)


def _is_helper() -> bool:
    words: list[str] = getattr(sys, "orig_argv", [])  # since Python 3.10
    program = _module(words[1:]).replace(".", "/") or "".join(sys.argv[:1])
    return any(helper in program for helper in _HELPERS)


def _module(words: list[str]) -> str:
    """What ``python -m`` runs; "" where it runs something else. A program may have an option -m of
    its own, as torchrun does."""
    rest = iter(words)
    for word in rest:
        if word in ("-W", "-X"):  # with a value
            next(rest, "")
        elif word.startswith("-") and not word.startswith(("--", "-W", "-X")):
            if word.endswith("m"):  # also behind others: -um
                return next(rest, "")
            if "c" in word:
                break
        elif not word.startswith("-"):
            break
    return ""


def record_npu() -> None:
    """From here on, where ``stepscope record --npu`` started the program. CANN has no moment of
    its own to tell us of, as CUDA has: this is called when a framework that uses it is there."""
    asked = os.environ.get(NPU)
    if not asked or _npu or not outer_run():
        return
    from stepscope import _record
    from stepscope.profiler import devices
    from stepscope.profiler._log import guarded, logger
    from stepscope.profiler.enums import AicoreMetrics, ProfilerActivity, ProfilerLevel
    from stepscope.profiler.parameters import Parameters
    from stepscope.profiler.ranks import find_place

    with guarded("stepscope record --npu"):
        level = ProfilerLevel(asked.capitalize())
        found = frozenset({ProfilerActivity.CPU, ProfilerActivity.NPU})
        metrics = AicoreMetrics.AiCoreNone
        if level is not ProfilerLevel.Level0:
            metrics = AicoreMetrics.PipeUtilization  # as Profiler has it
        parameters = Parameters(profiler_level=level, aic_metrics=metrics)
        sources = devices.sources(parameters, found, find_place().device)
        part = _record.Recording.join(json.dumps({"sources": {"npu": sources["npu"]}}))
        for why in json.loads(part.problems()):
            logger.warning("%s", why)
            left_out = {"source": "npu", "why": why}
            part.add_metadata("source_left_out", json.dumps(left_out))
        _npu.append(part)
