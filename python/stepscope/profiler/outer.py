"""The recording around the program, where ``stepscope record`` started it.

It has begun before any profiler of the program does, and ends with the program. Profilers join it:
their steps, ranges and operators go there, and their windows are noted in it.
"""

from __future__ import annotations

import os
from pathlib import Path

# Set by `stepscope record`; asked first, because the answer of the collector means loading it.
VARIABLE = "STEPSCOPE_OUTPUT"


def outer_run() -> Path | None:
    """The run directory of that recording; None where there is none."""
    if not os.environ.get(VARIABLE):
        return None
    from stepscope import _record

    folder = _record.outer_folder()
    return Path(folder).parent if folder else None
