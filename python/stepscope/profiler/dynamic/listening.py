"""Sees to it that one rank of a machine has the control socket, where the environment wants one."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stepscope.profiler.dynamic.control import Control

_AGAIN = 10.0  # seconds: the rank that has it may end


class Listening:
    """Used by the helper thread, but for ``close`` and ``forget``."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._control: Control | None = None
        self._next = 0.0
        self._said = ""

    def look(self) -> str:
        """Returns what is new, as a line for the log."""
        address, now = os.environ.get("STEPSCOPE_CONTROL"), time.monotonic()
        if not address or self._control or now < self._next:
            return ""
        self._next = now + _AGAIN
        from stepscope.profiler.dynamic.control import open_control  # ssl and more: not for all

        try:
            self._control = open_control(address, self._file)
            who = "this rank listens" if self._control else "another process listens, maybe a rank"
            text = f"control socket {address}: {who}"
        except (OSError, ValueError) as error:
            self._next = math.inf
            text = f"there is no control socket: {error}"
        is_new, self._said = text != self._said, text
        return text if is_new else ""

    def close(self) -> None:
        if self._control:
            self._control.close()

    def forget(self) -> None:
        """In a forked child."""
        if self._control:
            self._control.forget()
