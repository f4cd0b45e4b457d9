"""Being there when a program imports a module."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Callable

#: runs the module, which its argument does, and what belongs before and behind that
Around = Callable[[Callable[[], None]], None]


def find_module(
    name: str, path: Sequence[str] | None, target: ModuleType | None, around: Around
) -> importlib.machinery.ModuleSpec | None:
    """For a finder of sys.meta_path: the module where it is, for an import under way."""
    spec = importlib.machinery.PathFinder.find_spec(name, path, target)
    if spec and spec.loader:
        spec.loader = _Loader(spec.loader, around)
    return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, around: Around) -> None:
        self._loader = loader
        self._around = around

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        self._around(lambda: self._loader.exec_module(module))

    def __getattr__(self, name: str) -> Any:
        # Some ask a module's loader for its source or data.
        return getattr(self._loader, name)
