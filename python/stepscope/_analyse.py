"""The analysis process, see profiler/analysis.py. Training may be waiting for it: it loads what
reads a run, and not NumPy or the profiler.
"""

from __future__ import annotations

import os
import sys

from stepscope import _native
from stepscope._errors import StepscopeError


def main() -> None:
    """Arguments are a run directory, its Choices as JSON, and how low the priority is to be."""
    directory, _, niceness = sys.argv[1:]
    os.nice(int(niceness))
    try:
        _native.open_run([os.fsencode(directory)], "", 0, 0, False, None)
    except StepscopeError as error:
        sys.exit(str(error))
