"""The log of one rank in the watched folder: ``log/rank_<N>.log``, a line for each event.

One file for each rank, as ranks on several machines cannot append to one. The folder may be on a
network that hangs, so lines wait here until the helper thread writes them.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from pathlib import Path

from stepscope.profiler._log import logger

_FOLDER = "log"
_MODE = 0o640
# A job may run for months, and a script may rewrite the configuration every second.
_MOST_LINES = 10_000


class RankLog:
    def __init__(self, folder: Path) -> None:
        self._folder = folder / _FOLDER
        self._lines = 0
        self._waiting: deque[tuple[int, str]] = deque()  # never more than there may be in all

    def say(self, rank: int, level: int, text: str) -> None:
        """Never raises, never waits. The program's own log gets the line too, from ``level`` on."""
        logger.log(level, "%s", text)
        self._lines += 1
        if self._lines > _MOST_LINES:
            return
        if self._lines == _MOST_LINES:
            text = f"more than {_MOST_LINES} lines: this is the last one"
        moment = time.strftime("%Y-%m-%d %H:%M:%S")
        self._waiting.append((rank, f"{moment} {text}\n"))

    def write(self) -> None:
        """Writes what waits. Never raises: a full disk, a folder that is gone."""
        with contextlib.suppress(IndexError):
            while True:
                rank, line = self._waiting.popleft()
                with contextlib.suppress(OSError):
                    self._append(rank, line)

    def forget(self) -> None:
        """In a forked child: these lines are its parent's."""
        self._waiting.clear()

    def _append(self, rank: int, line: str) -> None:
        self._folder.mkdir(exist_ok=True)
        path = self._folder / f"rank_{rank}.log"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, _MODE)
        try:
            os.write(handle, line.encode(errors="replace"))
        finally:
            os.close(handle)
