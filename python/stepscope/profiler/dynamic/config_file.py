"""The configuration file on disk: made where it is missing, read whenever it has changed."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import stat
import time
from pathlib import Path

from stepscope.profiler.dynamic.config import DEFAULTS, Config, ConfigError, read

_MODE = 0o640
_LARGEST_READ = (1 << 20) + 1
# An editor may be in the middle of writing; it gets this long before its file is called broken.
_SECOND_LOOK = 0.25


class ConfigFile:
    """Used by one thread at a time. Nothing here raises."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._version: object = None
        self._broken: object = None
        self._broken_at = 0.0
        self._is_gone = False
        #: seconds until it should be looked at again, whatever happens
        self.again: float | None = None

    def make(self) -> str:
        """Writes the defaults unless there is a file. Returns why that was not possible, or ""."""
        unfinished = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            if self.path.exists():
                return ""
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _MODE)
            with os.fdopen(handle, "w") as file:
                file.write(json.dumps(DEFAULTS, indent=4) + "\n")
            try:
                os.link(unfinished, self.path)  # unlike a rename, not over another's
            except OSError as error:
                if error.errno != errno.EEXIST and not self.path.exists():
                    unfinished.replace(self.path)  # no links here
        except OSError as error:
            return str(error)
        finally:
            with contextlib.suppress(OSError):
                unfinished.unlink()
        return ""

    def look(self) -> Config | ConfigError | None:
        """The configuration if there is a new one, or why it is not taken; each version once."""
        self.again = None
        try:
            version = self._read()
        except FileNotFoundError:
            if self._is_gone:
                return None
            self._is_gone = True
            self._version = None
            return ConfigError("it is gone; what was asked for last still holds")
        except OSError as error:
            version = (str(error), b"")
        self._is_gone = False
        if version == self._version:
            return None
        try:
            found = read(version[1]) if isinstance(version[0], tuple) else ConfigError(version[0])
        except ConfigError as error:
            found = error
        if isinstance(found, ConfigError):
            now = time.monotonic()
            if version != self._broken:
                self._broken, self._broken_at = version, now
            if now < self._broken_at + _SECOND_LOOK:
                self.again = _SECOND_LOOK
                return None
        self._version = version
        return found

    def _read(self) -> tuple[object, bytes]:
        # Opened rather than asked for its times: a network file system may know old ones.
        handle = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                return "it is not a file", b""
            pieces = []
            left = _LARGEST_READ
            while left > 0 and (piece := os.read(handle, left)):
                pieces.append(piece)
                left -= len(piece)
            return (found.st_ino, found.st_mtime_ns, found.st_size), b"".join(pieces)
        finally:
            os.close(handle)
