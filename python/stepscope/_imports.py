"""Being there when a program imports a module."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
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


def around_import(name: str, around: Around) -> Callable[[], None]:
    """Runs ``around`` in the place of the program's next import of a module. Returns what ends the
    waiting for it."""
    arrival = _Arrival(name, around)
    sys.meta_path.insert(0, arrival)
    return arrival.cancel


def when_imported(name: str, then: Callable[[], None]) -> Callable[[], None]:
    """Calls ``then`` when the program has imported a module. Returns what ends the waiting."""

    def around(run: Callable[[], None]) -> None:
        run()
        then()

    return around_import(name, around)


class _Arrival(importlib.abc.MetaPathFinder):
    def __init__(self, name: str, around: Around) -> None:
        self._name = name
        self._around: Around | None = around

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        # Others may want to be there as well: those behind this one are asked.
        finders = list(sys.meta_path)
        behind = finders[finders.index(self) + 1 :] if self in finders else []
        for finder in behind:
            # Some of an older kind have none (copies of six do): Python passes over them, too.
            find = getattr(finder, "find_spec", None)
            spec: importlib.machinery.ModuleSpec | None = None
            if find:
                spec = find(name, path, target)
            if spec:
                if spec.loader:
                    spec.loader = _Loader(spec.loader, self._import)
                return spec
        return None

    def cancel(self) -> None:
        # The module keeps its loader, and that keeps this.
        self._around = None
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def _import(self, run: Callable[[], None]) -> None:
        if self._around:
            self._around(run)
            self.cancel()
        else:
            run()


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
