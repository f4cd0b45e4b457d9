"""Waits until a file may have changed.

inotify tells at once, of what this machine does to the file. What another machine does to it, on a
network file system, only looking tells: so the waiting also ends after a while, and whoever waits
looks at the file then.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
from pathlib import Path

_CLOSE_WRITE, _MOVED_TO, _DELETE, _MOVED_FROM = 0x8, 0x80, 0x200, 0x40
_EVENTS = _CLOSE_WRITE | _MOVED_TO | _MOVED_FROM | _DELETE
_EVENT_BYTES = 64 * 1024


class Watch:
    """Watches one folder. Used by one thread; ``wake`` may be called by any."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._inotify = -1
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._begin()

    @property
    def by_events(self) -> bool:
        """Whether changes made on this machine are seen at once."""
        return self._inotify >= 0

    def wait(self, seconds: float) -> None:
        """Returns when something happened in the folder, ``wake`` was called, or it is time."""
        poll = select.poll()
        for handle in (self._wake_read, self._inotify):
            if handle >= 0:
                poll.register(handle, select.POLLIN)
        for handle, _ in poll.poll(max(seconds, 0) * 1000):
            with contextlib.suppress(BlockingIOError):
                os.read(handle, _EVENT_BYTES)
        if self._inotify < 0 or not self._same_folder():
            self._end()
            self._begin()

    def wake(self) -> None:
        with contextlib.suppress(OSError):  # full: it will wake anyway
            os.write(self._wake_write, b"x")

    def close(self) -> None:
        self._end()
        # Nobody may write to a number that is another file's by then.
        handles = (self._wake_read, self._wake_write)
        self._wake_read = self._wake_write = -1
        for handle in handles:
            with contextlib.suppress(OSError):
                os.close(handle)

    def _begin(self) -> None:
        """Leaves ``_inotify`` at -1 where there is none: a limit of the system, a strange file
        system, no such folder."""
        with contextlib.suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None, use_errno=True)
            handle = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
            if handle < 0:
                return
            if libc.inotify_add_watch(handle, os.fsencode(self._folder), _EVENTS) < 0:
                os.close(handle)
                return
            self._inotify = handle
            self._identity = self._folder_identity()

    def _end(self) -> None:
        if self._inotify >= 0:
            with contextlib.suppress(OSError):
                os.close(self._inotify)
        self._inotify = -1

    def _same_folder(self) -> bool:
        return self._folder_identity() == self._identity

    def _folder_identity(self) -> tuple[int, int] | None:
        try:
            found = self._folder.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino
