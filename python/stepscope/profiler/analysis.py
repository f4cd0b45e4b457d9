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
from collections import deque
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from stepscope.profiler import outer
from stepscope.profiler._checks import boolean
from stepscope.profiler._log import logger

_PROGRAM = "from stepscope._analyse import main; main()"
_NICENESS = 10
# Of the log that the process writes into the directory; see stepscope._analyse, which is not
# imported here because it loads the reader.
_LOG_NAME = "analyse.stepscope.log"
_SECONDS_BETWEEN_LINES = 5.0
# A window may come every second, and an analysis take minutes.
_MOST_IN_BACKGROUND = 2
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
    """Analysis processes, ``most`` at a time; the others wait for one of these to be reported."""

    def __init__(self, niceness: int = 0, most: int = 1) -> None:
        self._niceness = niceness
        self._most = most
        self._waiting: deque[tuple[Path, Choices]] = deque()
        self._running: list[tuple[Path, subprocess.Popen[str]]] = []
        self._others: list[tuple[Path, subprocess.Popen[str]]] = []

    def start(self, directory: Path, choices: Choices) -> None:
        """As soon as there is a place, which is looked for here and at the end."""
        self._waiting.append((directory, choices))
        self._report([job for job in self._running if job[1].poll() is not None])
        self._start_waiting()

    def run(
        self,
        directories: Iterable[Path],
        choices: Choices,
        at_once: int = 1,
        most_seconds: float | None = None,
    ) -> None:
        """Analyses directories, several at a time, and waits for all of them."""
        self._most = at_once
        for directory in directories:
            self.start(directory, choices)
        self.finish(most_seconds)

    def forget(self) -> None:
        """In a forked child: whoever started them waits for them. They are kept, as letting go of
        them would look after them."""
        self._others += self._running
        self._running = []
        self._waiting.clear()

    def finish(self, most_seconds: float | None = None) -> None:
        """Waits for all of them; what is not done in time goes on by itself."""
        until = math.inf if most_seconds is None else time.monotonic() + most_seconds
        while self._running or self._waiting:
            if self._waiting and time.monotonic() > until:
                directory, _ = self._waiting.popleft()
                logger.warning("%s is not analysed here; stepscope.open() does it", directory)
                continue
            self._start_waiting()
            self._report(self._running[:1], until)

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) < self._most:
            self._launch(*self._waiting.popleft())

    def _launch(self, directory: Path, choices: Choices) -> None:
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
        logger.info(
            "%s is being analysed by process %d; how far it is when it takes long: %s",
            directory,
            process.pid,
            directory / _LOG_NAME,
        )

    def _report(
        self, jobs: Iterable[tuple[Path, subprocess.Popen[str]]], until: float = math.inf
    ) -> None:
        for job in jobs:
            self._running.remove(job)
            directory, process = job
            try:
                incomplete, message = self._wait(directory, process, until)
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

    @staticmethod
    def _wait(directory: Path, process: subprocess.Popen[str], until: float) -> tuple[str, str]:
        """What the process wrote; meanwhile says how far it is."""
        said = ""
        while True:
            left = max(until - time.monotonic(), 0.0)
            try:
                return process.communicate(timeout=min(left, _SECONDS_BETWEEN_LINES))
            except subprocess.TimeoutExpired:
                if left <= _SECONDS_BETWEEN_LINES:
                    raise
            progress = _last_line(directory / _LOG_NAME)
            if progress and progress != said:
                logger.info("%s: %s", directory, progress)
                said = progress


def _last_line(path: Path) -> str:
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""


#: Those that training does not wait for. They may outlive their profiler.
background = Analyses(_NICENESS, _MOST_IN_BACKGROUND)
os.register_at_fork(after_in_child=background.forget)
