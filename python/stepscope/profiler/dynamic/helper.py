"""The thread beside the training: it watches the file and tells how the rank does.

It is a daemon and keeps no process alive; it holds no reference that keeps its monitor alive; and
it shares no lock with the training, which could be held when the program forks.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from pathlib import Path
from typing import Protocol

from stepscope.profiler._bounded import PATIENCE
from stepscope.profiler._log import Once, guarded, logger
from stepscope.profiler.dynamic.watch import Watch

_AFTER_FAILURE = 2.0


class Watching(Protocol):
    def look_around(self) -> float:
        """Does what is to be done now; returns in how many seconds to come again."""

    def tell_the_end(self) -> None:
        """Does what is to be done last."""


class Helper:
    def __init__(self, monitor: Watching, folder: Path) -> None:
        self._monitor = weakref.ref(monitor)
        self._closing = False
        self._ends_well = False
        self._once = Once()
        self.watch = Watch(folder)
        self._thread = threading.Thread(target=self._run, name="stepscope-dynamic", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        self.watch.wake()

    def close(self) -> None:
        """Ends the thread; waits for it, unless it is the one that calls, but not for ever: its
        folder may be on a disk that hangs."""
        self._ends_well = True
        self._closing = True
        self.watch.wake()
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE)

    def forget(self) -> None:
        """In a forked child, where the thread is not: lets go of what it had."""
        self._closing = True
        self.watch.close()

    def _run(self) -> None:
        seconds = _AFTER_FAILURE
        try:
            while not self._closing:
                monitor = self._monitor()
                if monitor is None:
                    break
                with guarded("dynamic profiling", self._once):
                    seconds = monitor.look_around()
                del monitor
                if not self._closing:
                    self.watch.wait(seconds)
            monitor = self._monitor()
            if monitor and self._ends_well:
                with guarded("dynamic profiling", self._once):
                    monitor.tell_the_end()
        except Exception as error:  # at the end of an interpreter anything may be gone
            with contextlib.suppress(Exception):
                logger.error("dynamic profiling has ended: %s", error)
        finally:
            with contextlib.suppress(Exception):
                self.watch.close()
