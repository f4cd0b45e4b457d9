"""Module ranges of PyNative mode: every call of a Cell is a range.

The calls are wrapped rather than hooked: hooks have to be put on every Cell, and miss those that
are made later. A range is the time in which the host called the module; its operators run a little
later, on other threads. In graph mode Cells are not called by Python; the importer makes the ranges
from the paths in the operators' names. Costs a third of the call of a Cell that does nothing.
"""

from __future__ import annotations

import functools
from typing import Any, Callable

from stepscope import _record
from stepscope.mindspore import framework
from stepscope.profiler._log import Once, guarded

_MOST_NAMES = 10_000


class ModuleRanges:
    def __init__(self) -> None:
        self._original: Callable[..., Any] | None = None
        self._once = Once()
        # With the Cells themselves: an id is a Cell's only as long as it lives.
        self._names: dict[int, tuple[object, int]] = {}

    def start(self) -> None:
        cell_class = framework.cell_class()
        original = cell_class.__call__
        names, learn = self._names, self._learn
        now, end_range, kind = _record.now, _record.end_range, _record.MODULE

        @functools.wraps(original)
        def call(cell: Any, *inputs: Any, **options: Any) -> Any:
            # Before the call: the outermost Cell names those in it.
            known = names.get(id(cell)) or learn(cell)
            start = now()
            try:
                return original(cell, *inputs, **options)
            finally:
                end_range(start, kind, known[1])

        self._original = original
        cell_class.__call__ = call

    def stop(self) -> None:
        if self._original:
            framework.cell_class().__call__ = self._original
            self._original = None
            self._names.clear()

    def _learn(self, cell: Any) -> tuple[object, int]:
        """Names a Cell, and the Cells in it, as graph mode does: attribute, "-", class."""
        if len(self._names) > _MOST_NAMES:  # of a program that makes new ones in every step
            self._names.clear()
        with guarded("the names of Cells", self._once):
            for child_name, child in cell.cells_and_names():
                if child is not cell:
                    attribute = child_name.rpartition(".")[2]
                    text = f"{attribute}-{type(child).__name__}"
                    self._names.setdefault(id(child), (child, _record.name(text)))
        return self._names.setdefault(id(cell), (cell, _record.name(type(cell).__name__)))
