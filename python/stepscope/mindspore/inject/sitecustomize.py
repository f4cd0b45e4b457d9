"""Run by Python before a program that ``stepscope record`` starts. Never raises.

It only waits for an import of MindSpore, of torch_npu with ``--npu``, or of PyTorch with
``--watch`` or options in the environment: a program without one pays nothing.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).parent)
# Importing stepscope starts a recording when these are set: too early, MindSpore is not there yet.
_OPTIONS = ("MS_PROFILER_OPTIONS", "STEPSCOPE_OPTIONS")


# What is waited for, and who takes part in its import.
_FINDERS = {"mindspore": ("stepscope.mindspore.replace", "find_mindspore")}
if os.environ.get("STEPSCOPE_NPU"):
    _FINDERS["torch_npu"] = ("stepscope.profiler.outer", "find_torch_npu")
if os.environ.get("STEPSCOPE_WATCH") or any(os.environ.get(name) for name in _OPTIONS):
    _FINDERS["torch"] = ("stepscope.profiler.outer", "find_torch")


class _Finder:
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        # Programs that only ask whether the module is there call this too: it stays.
        finder = _FINDERS.get(name)
        if not finder:
            return None
        kept = {option: os.environ.pop(option) for option in _OPTIONS if option in os.environ}
        try:
            spec: ModuleSpec | None = getattr(import_module(finder[0]), finder[1])(path, target)
            return spec
        except Exception as error:
            del _FINDERS[name]
            print(
                f"stepscope: cannot take part in the import of {name}: {error}. Install the "
                f"package stepscope for {sys.executable}",
                file=sys.stderr,
            )
            return None
        finally:
            os.environ.update(kept)


def _run_the_other_one() -> None:
    """A sitecustomize of the environment, which this one hides."""
    elsewhere = [path for path in sys.path if path != _HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


sys.meta_path.insert(0, _Finder())
_run_the_other_one()
