"""Makes recorded runs ready to be looked at.

It happens in a process of its own (stepscope._analyse), so that its memory, its threads and its
crashes are not those of the training program; at low priority where training does not wait for it.
CANN's msprof exports what an NPU left, then the run is imported and its ASCEND_PROFILER_OUTPUT
written.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from stepscope.profiler import outer
from stepscope.profiler._checks import boolean
from stepscope.profiler._log import logger

_PROGRAM = "from stepscope._analyse import main; main()"
_NICENESS = 10
#: The end of a program waits so long for what is being analysed. Then it goes on without the
#: program: the disk may hang, and a run may be large.
MOST_SECONDS_AT_EXIT = 60.0


@dataclass(frozen=True)
class Choices:
    """How to analyse."""

    pretty: bool = False
    step_list: tuple[int, ...] | None = None
    data_simplification: bool = True


def choose(
    pretty: object = False, step_list: object = None, data_simplification: object = True
) -> Choices:
    """Checks what a caller chose; wrong values are replaced, with a line in the log."""
    chosen = {"pretty": False, "data_simplification": True}
    for name, value in (("pretty", pretty), ("data_simplification", data_simplification)):
        try:
            chosen[name] = boolean(value)
        except TypeError as error:
            logger.warning("%s must be %s, not %r: reset to %r", name, error, value, chosen[name])
    steps: tuple[int, ...] | None = None
    if step_list is not None:
        try:
            steps = _consecutive(step_list)
        except ValueError as error:
            logger.error("step_list must be %s, not %r: reset to all steps", error, step_list)
    return Choices(chosen["pretty"], steps, chosen["data_simplification"])


def _consecutive(value: object) -> tuple[int, ...]:
    if isinstance(value, list) and value and all(type(item) is int for item in value):
        steps = sorted(value)
        if steps == list(range(steps[0], steps[0] + len(steps))):
            return tuple(steps)
    raise ValueError("a list of consecutive step numbers")


class Analyses:
    """Analysis processes, started one after the other."""

    def __init__(self, niceness: int = 0) -> None:
        self._niceness = niceness
        self._running: list[tuple[Path, subprocess.Popen[str]]] = []
        self._others: list[tuple[Path, subprocess.Popen[str]]] = []

    def start(self, directory: Path, choices: Choices) -> None:
        self._report([job for job in self._running if job[1].poll() is not None])
        if importlib.util.find_spec("stepscope._native") is None:
            logger.info("%s is recorded; this installation cannot analyse it", directory)
            return
        environment = {**os.environ, "PYTHONSAFEPATH": "1"}
        for name in ("STEPSCOPE_OPTIONS", "MS_PROFILER_OPTIONS", outer.VARIABLE):
            environment.pop(name, None)  # it must not record itself
        process = subprocess.Popen(
            [
                sys.executable, "-c", _PROGRAM,
                str(directory), json.dumps(asdict(choices)), str(self._niceness),
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        self._running.append((directory, process))

    def run(
        self,
        directories: Iterable[Path],
        choices: Choices,
        at_once: int = 1,
        most_seconds: float | None = None,
    ) -> None:
        """Analyses directories, several at a time, and waits for all of them."""
        until = _moment(most_seconds)
        for directory in directories:
            if len(self._running) >= at_once:
                self._report(self._running[:1], until)
            if time.monotonic() > until:
                logger.warning("%s is not analysed here; stepscope.open() does it", directory)
                continue
            self.start(directory, choices)
        self._report(list(self._running), until)

    def forget(self) -> None:
        """In a forked child: whoever started them waits for them. They are kept, as letting go of
        them would look after them."""
        self._others += self._running
        self._running = []

    def finish(self, most_seconds: float | None = None) -> None:
        self._report(list(self._running), _moment(most_seconds))

    def _report(
        self, jobs: Iterable[tuple[Path, subprocess.Popen[str]]], until: float = math.inf
    ) -> None:
        for job in jobs:
            self._running.remove(job)
            directory, process = job
            try:
                left = None if until == math.inf else max(until - time.monotonic(), 0.0)
                incomplete, message = process.communicate(timeout=left)
            except subprocess.TimeoutExpired:
                self._others.append(job)
                logger.warning(
                    "%s is still being analysed, by process %d, which goes on by itself: it is not "
                    "waited for any longer",
                    directory,
                    process.pid,
                )
                continue
            for line in incomplete.splitlines():
                logger.warning("%s: %s", directory, line)
            if process.returncode:
                logger.error(
                    "%s could not be analysed; its raw data are kept, and stepscope.open() "
                    "tries again. %s",
                    directory,
                    message.strip() or f"The process ended with {process.returncode}.",
                )
            else:
                logger.info("%s is ready: stepscope.open(%r)", directory, str(directory))


def _moment(most_seconds: float | None) -> float:
    return math.inf if most_seconds is None else time.monotonic() + most_seconds


#: Those that training does not wait for. They may outlive their profiler.
background = Analyses(_NICENESS)
os.register_at_fork(after_in_child=background.forget)
