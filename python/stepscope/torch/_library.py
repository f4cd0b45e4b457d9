"""The callback library as Python sees it: loaded once, called through ctypes."""

from __future__ import annotations

import ctypes
import functools
from pathlib import Path

from stepscope import _record  # with it comes the collector that the library joins
from stepscope.torch import _build

SHAPES = 1
MEMORY = 2
COMPILED = 4

_COLLECTOR = "libstepscope_collector.so"


class Library:
    """Starts and stops recording torch's operators. The calls hold the GIL: they take less time
    than it takes to give it away."""

    def __init__(self, path: Path) -> None:
        self._calls = ctypes.PyDLL(str(path))
        number = ctypes.c_uint32
        self.start = self._calls.stepscope_torch_start
        self.start.argtypes = [number]
        self.stop = self._calls.stepscope_torch_stop
        self.give_way = self._calls.stepscope_torch_give_way
        self.come_back = self._calls.stepscope_torch_come_back
        self.come_back.restype = None
        self.warm_up = self._calls.stepscope_torch_warm_up
        self.warm_up.argtypes = [number]
        self.warm_up.restype = None
        self.end_warm_up = self._calls.stepscope_torch_end_warm_up
        self.end_warm_up.restype = None
        self.begin_steps = self._calls.stepscope_torch_begin_steps
        self.complete_step = self._calls.stepscope_torch_complete_step
        self.begin_steps.restype = None
        self.complete_step.argtypes = [ctypes.c_int64]
        self.complete_step.restype = None


@functools.lru_cache(maxsize=1)
def load() -> Library:
    """Builds the library if need be. Raises BuildError, and costs a few seconds, the first time."""
    collector = collector_library()
    path = _build.build(_build.Torch.installed(), collector, header_folder())
    try:
        return Library(path)
    except OSError as error:
        raise _build.BuildError(f"{path} cannot be loaded: {error}") from error


def collector_library() -> Path:
    """The collector that this process uses: there must be one only, so it is looked for there."""
    assert _record
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith(_COLLECTOR):
            return Path(line[line.index("/") :])
    raise _build.BuildError(f"{_COLLECTOR} is not loaded; the installation is not complete")


def header_folder() -> Path:
    """Where <stepscope/record.h> lies: in the package, or in the repository around it."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "include", package.parent.parent / "include"):
        if (folder / "stepscope" / "record.h").exists():
            return folder
    raise _build.BuildError("stepscope/record.h is missing; the installation is not complete")
