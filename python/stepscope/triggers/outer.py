"""``stepscope record --watch``: a program that knows nothing of it is watched from the import of
PyTorch on; MindSpore's import starts what the environment asks for anyway."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from typing import Any, Callable

from stepscope._imports import find_module


def find_torch(path: Any, target: Any = None) -> ModuleSpec | None:
    """PyTorch, for an import under way."""
    return find_module("torch", path, target, _import)


def _import(run: Callable[[], None]) -> None:
    run()
    from stepscope.profiler.environment import EnvProfiler

    EnvProfiler.start()
