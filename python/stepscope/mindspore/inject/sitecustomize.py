"""Run by Python before a program that ``stepscope record`` starts. Never raises."""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from pathlib import Path

_HERE = str(Path(__file__).parent)


def _replace_profiler() -> None:
    # Importing stepscope starts a recording when these are set: too early, MindSpore comes later.
    names = ("MS_PROFILER_OPTIONS", "STEPSCOPE_OPTIONS")
    kept = {name: os.environ.pop(name) for name in names if name in os.environ}
    try:
        from stepscope.mindspore.replace import replace_profiler

        replace_profiler()
    except Exception as error:
        # Programs without MindSpore have nothing to replace.
        if PathFinder.find_spec("mindspore"):
            print(
                f"stepscope: mindspore.profiler is not replaced: {error}. Install the package "
                f"stepscope for {sys.executable}",
                file=sys.stderr,
            )
    finally:
        os.environ.update(kept)


def _run_the_other_one() -> None:
    """A sitecustomize of the environment, which this one hides."""
    elsewhere = [path for path in sys.path if path != _HERE]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec and spec.loader:
        spec.loader.exec_module(module_from_spec(spec))


_replace_profiler()
_run_the_other_one()
