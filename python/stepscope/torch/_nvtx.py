"""Operators by NVTX, NVIDIA's calls for ranges: where there is neither a C++ compiler nor ITT.

The library is one of Stepscope's, built with it. Its name has to be in the environment before the
program's first NVTX call; torch may be imported before.
"""

from __future__ import annotations

import os
from pathlib import Path

_VARIABLE = "NVTX_INJECTION64_PATH"
_LIBRARY = "libstepscope_nvtx.so"


class Ranges:
    """Operators of this thread, and of those that torch runs its work on, from here to ``stop``."""

    def __init__(self, record_shapes: bool) -> None:
        from torch._C._profiler import ProfilerConfig, ProfilerState, _ExperimentalConfig
        from torch.autograd import _enable_profiler

        # As emit_nvtx does, which waits for CUDA first and so needs a driver.
        config = ProfilerConfig(
            ProfilerState.NVTX, record_shapes, False, False, False, False, _ExperimentalConfig()
        )
        _enable_profiler(config, set())

    def stop(self) -> None:
        from torch.autograd import _disable_profiler

        _disable_profiler()


def start(record_shapes: bool) -> Ranges | None:
    """None where the program's NVTX calls go elsewhere, or nowhere."""
    import torch

    library = _find()
    if library is None or not hasattr(torch._C, "_nvtx"):
        return None
    os.environ.setdefault(_VARIABLE, str(library))
    if Path(os.environ[_VARIABLE]).name != _LIBRARY:
        return None  # another tool's
    torch.cuda.nvtx.mark("stepscope")  # the first call, which loads the library
    return Ranges(record_shapes) if _LIBRARY in Path("/proc/self/maps").read_text() else None


def _find() -> Path | None:
    from stepscope.torch._library import collector_library

    library = collector_library().parent / _LIBRARY
    return library if library.exists() else None
