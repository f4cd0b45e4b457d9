"""Run by Python before a program that ``stepscope record`` starts. Never raises.

It only waits for an import of MindSpore: a program without one pays nothing.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).parent)
# Importing stepscope starts a recording when these are set: too early, MindSpore is not there yet.
_OPTIONS = ("MS_PROFILER_OPTIONS", "STEPSCOPE_OPTIONS")


class _Finder:
    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != "mindspore":
            return None
        sys.meta_path.remove(self)
        kept = {option: os.environ.pop(option) for option in _OPTIONS if option in os.environ}
        try:
            from stepscope.mindspore.replace import find_mindspore

            return find_mindspore(path, target)
        except Exception as error:
            print(
                f"stepscope: mindspore.profiler is not replaced: {error}. Install the package "
                f"stepscope for {sys.executable}",
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
