"""PyTorch as a source of a recording: operators, shapes, allocator events, modules, steps."""

from __future__ import annotations

import contextlib
from pathlib import Path

from stepscope.profiler._log import logger
from stepscope.profiler.parameters import Parameters
from stepscope.torch import _itt
from stepscope.torch._build import BuildError
from stepscope.torch._library import MEMORY, SHAPES, Library, load
from stepscope.torch._modules import ModuleRanges
from stepscope.torch._steps import OptimizerSteps


class TorchSource:
    """Attached while a window records. Used by the thread that trains."""

    #: parameters that torch's callbacks can honour
    honours = frozenset({"record_shapes", "profile_memory"})

    def __init__(self) -> None:
        self._library: Library | None = None
        self._ranges: _itt.Ranges | None = None
        self._modules: ModuleRanges | None = None
        self._steps: OptimizerSteps | None = None

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
        try:
            self._library = load()
        except BuildError as error:
            return self._start_without(str(error))
        wishes = SHAPES * parameters.record_shapes | MEMORY * parameters.profile_memory
        granted = self._library.start(wishes)
        if granted < 0:
            self._library = None
            return {"torch": "its callbacks are in use already, or nothing records"}
        if parameters.with_stack or getattr(parameters, "with_modules", False):
            self._modules = ModuleRanges()
            self._modules.start()
        self._steps = OptimizerSteps(self._library)
        self._steps.start()
        if wishes & MEMORY and not granted & MEMORY:
            return {"profile_memory": "torch.profiler runs on this thread and has the reports"}
        return {}

    def program_marks_steps(self) -> None:
        """The program says where steps begin: the optimizer's are not needed."""
        if self._steps:
            self._steps.stop()
            self._steps = None

    def stop(self) -> None:
        self.program_marks_steps()
        if self._modules:
            self._modules.stop()
            self._modules = None
        if self._ranges:
            self._ranges.stop()
            self._ranges = None
        library, self._library = self._library, None
        if library and library.stop():
            logger.warning(
                "torch still has Stepscope's allocator reports on this thread, because something "
                "was put above them and not taken off; torch.profiler cannot start here"
            )

    def _start_without(self, why: str) -> dict[str, str]:
        self._ranges = _itt.start()
        rest = "shapes, links to backward operators, allocator events, modules and steps"
        if self._ranges:
            return {"torch": f"{why}. Operators come by ITT instead, without {rest}"}
        return {"torch": f"{why}. No operators are recorded: {_itt.HOW}"}
