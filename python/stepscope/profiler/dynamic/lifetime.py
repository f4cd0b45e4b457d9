"""What forks and the end of the program do to monitors."""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Protocol


class Mortal(Protocol):
    def after_fork(self) -> None:
        """In the child."""

    def close(self) -> None:
        """At the end of the program."""


_monitors: weakref.WeakSet[Mortal] = weakref.WeakSet()


def look_after(monitor: Mortal) -> None:
    _monitors.add(monitor)


def _after_fork() -> None:
    for monitor in list(_monitors):
        monitor.after_fork()


def _end_of_program() -> None:
    for monitor in list(_monitors):
        monitor.close()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(_end_of_program)
