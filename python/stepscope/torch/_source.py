"""PyTorch as a source of a recording: operators, shapes, memory, modules, loaders, steps."""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

from stepscope import _torch_worker
from stepscope.profiler._log import guarded
from stepscope.profiler.parameters import Parameters
from stepscope.torch import _itt, _nvtx
from stepscope.torch._build import BuildError
from stepscope.torch._compiled import CompiledRanges, is_compile_used
from stepscope.torch._give_way import GivesWay
from stepscope.torch._library import COMPILED, MEMORY, SHAPES, Library, load
from stepscope.torch._loader import LoaderQueues
from stepscope.torch._modules import ModuleRanges
from stepscope.torch._steps import OptimizerSteps

#: the process that attached the source, by the source: a forked child finds its parent's here
_attached: dict[TorchSource, int] = {}
#: of windows that ended on another thread than they began on, or within a backward pass, behind
#: which torch puts back what its thread had before: the place may still be taken
_still_give_way: list[GivesWay] = []


class TorchSource:
    """Attached while a window records. Used by the thread that trains."""

    #: parameters that torch's callbacks can honour
    honours = frozenset({"record_shapes", "profile_memory", "data_process"})

    def __init__(self, with_compiled: bool = True) -> None:
        #: ranges of torch.compile: torch needs microseconds for each of them
        self._with_compiled = with_compiled
        self._library: Library | None = None
        self._ranges: _itt.Ranges | _nvtx.Ranges | None = None
        self._modules: ModuleRanges | None = None
        self._steps: OptimizerSteps | None = None
        self._loaders: LoaderQueues | None = None
        self._gives_way: GivesWay | None = None
        self._compiled: CompiledRanges | None = None

    def expect(self) -> None:
        """A DataLoader can be joined at any batch."""

    def begin(self) -> None:
        """Workers of a DataLoader usually start before the first window does."""
        _torch_worker.install()

    def end(self) -> None:
        _torch_worker.remove()

    def costs(self, parameters: Parameters) -> str:
        rich = parameters.record_shapes or parameters.profile_memory
        return f"{'0.3 to 0.8' if rich else '0.2 to 0.4'} µs for each operator of PyTorch"

    def prepare(self, parameters: Parameters) -> None:
        """Builds or loads the library and lets it learn the names and shapes of the steps to come,
        so that the first recorded step does not wait for it."""
        try:
            load().warm_up(SHAPES * parameters.record_shapes)
        except BuildError:
            _itt.wake()  # start() says what is missing then

    def unprepare(self) -> None:
        with contextlib.suppress(BuildError):
            load().end_warm_up()

    def start(self, parameters: Parameters, folder: Path) -> dict[str, str]:
        """Begins; returns what was asked for and will be missing, with the reason."""
        for source, process in list(_attached.items()):
            if process != os.getpid():
                source._leave_to_parent()
        _attached[self] = os.getpid()
        with guarded("the DataLoader's queues"):
            self._loaders = LoaderQueues()
            self._loaders.start()
        try:
            self._library = load()
        except BuildError as error:
            return self._start_without(str(error), parameters)
        wishes = SHAPES * parameters.record_shapes | MEMORY * parameters.profile_memory
        with_compiled = self._with_compiled and is_compile_used()
        wishes |= COMPILED * with_compiled
        granted = self._library.start(wishes)
        if granted < 0:
            self._library = None
            return {"torch": "its callbacks are in use already, or nothing records"}
        if parameters.with_stack or getattr(parameters, "with_modules", False):
            self._modules = ModuleRanges()
            self._modules.start()
        self._steps = OptimizerSteps(self._library)
        self._steps.start()
        while _still_give_way:
            _still_give_way.pop().stop()
        self._gives_way = GivesWay(self._library)
        self._gives_way.start()
        if with_compiled:
            self._compiled = CompiledRanges()
            self._compiled.start()
        if wishes & MEMORY and not granted & MEMORY:
            why = "torch.profiler runs on this thread and has the reports until it ends"
            return {"profile_memory": why}
        return {}

    def about(self, parameters: Parameters) -> dict[str, Any]:
        groups = _process_groups()
        return {"parallel": groups} if groups else {}

    @property
    def has_marked_steps(self) -> bool:
        return self._steps is not None and self._steps.has_marked_some

    def program_marks_steps(self) -> None:
        """The program says where steps begin: the optimizer's are not needed."""
        if self._steps:
            self._steps.stop()
            self._steps = None

    def stop(self) -> dict[str, str]:
        _attached.pop(self, None)
        self.program_marks_steps()
        if self._loaders:
            self._loaders.stop()
            self._loaders = None
        if self._modules:
            self._modules.stop()
            self._modules = None
        if self._ranges:
            self._ranges.stop()
            self._ranges = None
        if self._compiled:
            self._compiled.stop()
            self._compiled = None
        library, self._library = self._library, None
        place_is_free = (library is None or library.stop() == 0) and not _within_backward()
        gives_way, self._gives_way = self._gives_way, None
        if gives_way and place_is_free:
            gives_way.stop()
        elif gives_way:
            _still_give_way.append(gives_way)  # or torch.profiler would raise on that thread
        return {}

    def _leave_to_parent(self) -> None:
        """In a forked child that records for itself: with its parent's wrappers around its own, it
        would record modules and batches twice. The library sees to its callbacks."""
        _attached.pop(self, None)
        self.program_marks_steps()
        if self._loaders:
            self._loaders.detach()
        if self._modules:
            self._modules.stop()
        if self._gives_way:
            self._gives_way.stop()
        if self._compiled:
            self._compiled.stop()
        self._loaders = self._modules = self._gives_way = self._compiled = self._library = None

    def _start_without(self, why: str, parameters: Parameters) -> dict[str, str]:
        rest = "links to backward operators, allocator events, modules and steps"
        self._ranges = _itt.start()
        if self._ranges:
            return {"torch": f"{why}. Operators come by ITT instead, without shapes, {rest}"}
        self._ranges = _nvtx.start(parameters.record_shapes)
        if self._ranges:
            return {"torch": f"{why}. Operators come by NVTX instead, without {rest}"}
        return {"torch": f"{why}. No operators are recorded: {_itt.HOW}"}


def _within_backward() -> bool:
    import torch

    task = getattr(torch._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


def _process_groups() -> dict[str, Any]:
    """Which ranks communicate with each other, in the words of torch.profiler's traces."""
    import torch.distributed as distributed

    if not distributed.is_available() or not distributed.is_initialized():
        return {}
    groups = {
        "backend": distributed.get_backend(),
        "pg_count": distributed.get_pg_count(),
        "pg_config": distributed.distributed_c10d._get_all_pg_configs(),
    }
    plain: dict[str, Any] = json.loads(json.dumps(groups, default=str))
    return plain
