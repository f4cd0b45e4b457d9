"""The analysis process, see profiler/analysis.py. Training may be waiting for it: it loads what
reads a run, and not NumPy or the profiler.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

from stepscope import _native
from stepscope._errors import StepscopeError


def main() -> None:
    """Arguments are a run directory, its Choices as JSON, and how low the priority is to be. Prints
    what will be missing, one a line."""
    directory, choices, niceness = sys.argv[1:]
    os.nice(int(niceness))
    os.umask(os.umask(0o027) | 0o027)  # what is made of a recording is as confidential as it is
    chosen = json.loads(choices)
    _export_npu(Path(directory), chosen)
    try:
        ranks = _native.analyse(
            [os.fsencode(directory)],
            b"",
            chosen["step_list"] or (),
            chosen["pretty"],
            chosen["data_simplification"],
            0,
        )
    except StepscopeError as error:
        sys.exit(str(error))
    failures = [why for *_, why in ranks if why]
    if failures:
        sys.exit("; ".join(failures))


def _export_npu(directory: Path, choices: dict[str, Any]) -> None:
    if not any(directory.glob("PROF_*")):
        return
    from stepscope.profiler import msprof

    try:
        for problem in msprof.export(
            directory, choices["step_list"], choices["data_simplification"]
        ):
            _say(problem)
    except OSError as error:  # a full disk, above all: what was recorded on the host is read still
        _say(f"the NPU's data are not exported: {error}")


def _say(problem: str) -> None:
    try:
        print(problem, flush=True)
    except OSError:  # whoever started us has ended; what is buffered would fail once more at exit
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
