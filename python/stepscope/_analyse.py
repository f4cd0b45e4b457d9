"""The analysis process, see profiler/analysis.py. Training may be waiting for it: it loads what
reads a run, and not NumPy or the profiler.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from stepscope import _native
from stepscope._errors import StepscopeError

#: What `stepscope analyse --async` calls it, too.
LOG_NAME = "analyse.stepscope.log"
SECONDS_BETWEEN_LINES = 2.0


def main() -> None:
    """Arguments are a run directory, its Choices as JSON, and how low the priority is to be. Prints
    what will be missing, one a line."""
    directory, choices, niceness = sys.argv[1:]
    os.nice(int(niceness))
    os.umask(os.umask(0o027) | 0o027)  # what is made of a recording is as confidential as it is
    chosen = json.loads(choices)
    log = Log(Path(directory))
    if _export_npu(Path(directory), chosen, log):
        log.say("the NPU's data are exported")
    try:
        ranks = _native.analyse(
            [os.fsencode(directory)],
            b"",
            chosen["step_list"] or (),
            chosen["pretty"],
            chosen["data_simplification"],
            0,
            log.progress,
        )
    except StepscopeError as error:
        log.end(f"failed: {error}")
        sys.exit(str(error))
    failures = [why for *_, why in ranks if why]
    if failures:
        log.end("failed: " + "; ".join(failures))
        sys.exit("; ".join(failures))
    log.end("done")


class Log:
    """How far it is, in a file of the run that anybody can look at, and whoever waits reads. What
    takes but a moment leaves none."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / LOG_NAME
        self._said = False
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES
        with contextlib.suppress(OSError):  # the log is a courtesy
            self._path.unlink(missing_ok=True)

    def say(self, line: str) -> None:
        with contextlib.suppress(OSError), self._path.open("a", encoding="utf-8") as file:
            file.write(line.encode("utf-8", "replace").decode() + "\n")
            self._said = True

    def end(self, line: str) -> None:
        if self._said:
            self.say(line)

    def progress(self, done_bytes: int, all_bytes: int, done_ranks: int, all_ranks: int) -> None:
        """Called many times a second; says it every few seconds."""
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES
        if all_ranks:
            self.say(f"files of rank {done_ranks} of {all_ranks} are written")
        elif all_bytes:
            self.say(f"{min(100 * done_bytes // all_bytes, 100)} % imported")


def _export_npu(directory: Path, choices: dict[str, Any], log: Log) -> bool:
    if not any(directory.glob("PROF_*")):
        return False
    from stepscope.profiler import msprof

    log.say("exporting the NPU's data")
    try:
        for problem in msprof.export(
            directory, choices["step_list"], choices["data_simplification"]
        ):
            _say(problem)
    except OSError as error:  # a full disk, above all: what was recorded on the host is read still
        _say(f"the NPU's data are not exported: {error}")
        return False
    return True


def _say(problem: str) -> None:
    try:
        print(problem, flush=True)
    except OSError:  # whoever started us has ended; what is buffered would fail once more at exit
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
