"""Ranges of modules: each call of a layer, under its name in the model.

By torch's hooks for all modules, which are there only while recording. A call of a module then takes
about a microsecond longer.
"""

from __future__ import annotations

import weakref
from typing import Any

from stepscope.torch._library import Library


class ModuleRanges:
    def __init__(self, library: Library) -> None:
        self._library = library
        self._enter = library.enter_module
        self._leave = library.leave_module
        self._hooks: list[Any] = []
        #: by id(): modules may be unhashable, and the reference tells whether the id was reused
        self._names: dict[int, tuple[weakref.ref[Any], int]] = {}

    def start(self) -> None:
        from torch.compiler import is_compiling
        from torch.nn.modules.module import (
            register_module_forward_hook,
            register_module_forward_pre_hook,
        )

        # torch.compile follows hooks into what it compiles; there, they are to leave no trace.
        def before(module: Any, _input: Any) -> None:
            if not is_compiling():
                self._enter(self._name(module))

        def after(module: Any, _input: Any, _output: Any) -> None:
            if not is_compiling():
                self._leave(self._name(module))

        self._hooks = [
            register_module_forward_pre_hook(before),
            register_module_forward_hook(after, always_call=True),
        ]

    def stop(self) -> None:
        hooks, self._hooks = self._hooks, []
        for hook in hooks:
            hook.remove()

    def _name(self, module: Any) -> int:
        known = self._names.get(id(module))
        if known and known[0]() is module:
            return known[1]
        self._learn(module)
        return self._names[id(module)][1]

    def _learn(self, root: Any) -> None:
        """A module that is met first is the outermost one; its name is that of its class."""
        for path, module in root.named_modules():
            name = f"{path} ({type(module).__name__})" if path else type(module).__name__
            self._names[id(module)] = (weakref.ref(module), self._library.name(name))
