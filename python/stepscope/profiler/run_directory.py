"""Run directories: where a window of recording lies, and what lies in it beside the raw data.

    <output_path>/<host>_<pid>_<UTC, to the millisecond>_ascend_ms/
        profiler_info_<rank>.json
        profiler_metadata.json       what add_metadata was given, if anything
        FRAMEWORK/                   raw data
        PROF_*/                      CANN's raw data of the NPU
        logs/                        what programs said that the analysis called
        ASCEND_PROFILER_OUTPUT/      what the analysis makes of it

Training data may be confidential: folders get mode 0750 and files 0640, or less where the umask
says so.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

_FOLDER_MODE = 0o750
_FILE_MODE = 0o640
_LONGEST_PATH = 4096
_LONGEST_NAME = 255
_ALLOWED = re.compile(r"[./_\-\s~0-9a-zA-Z\u4e00-\u9fa5]*")

RAW_FOLDER = "FRAMEWORK"
OUTPUT_FOLDER = "ASCEND_PROFILER_OUTPUT"
_ASCEND_RAW = re.compile(r"PROF_\d+_\d+_[0-9a-zA-Z]+")


class ProfilerPathErrorException(Exception):  # noqa: N818, the name that scripts catch
    """A path that recordings may not be written to or read from."""


def check_path(path: str) -> Path:
    """The absolute form of a path, links in its parents followed.

    Raises:
        ProfilerPathErrorException: too long, odd characters, a link or a file.
    """
    given = absolute(path)
    if len(given) > _LONGEST_PATH:
        raise _path_error(path, f"it is longer than {_LONGEST_PATH} characters")
    if any(len(part) > _LONGEST_NAME for part in given.split("/")):
        raise _path_error(path, f"a part of it is longer than {_LONGEST_NAME} characters")
    if not _ALLOWED.fullmatch(path):  # as given: where the program was started is not its choice
        raise _path_error(path, "letters, digits, spaces and . _ - ~ are allowed")
    if os.path.islink(given):  # noqa: PTH114, before anything is resolved
        raise _path_error(path, "it is a symbolic link; name its target")
    if os.path.isfile(given):  # noqa: PTH113, Path's raises where one may not look
        raise _path_error(path, "it is a file, not a folder")
    return Path(os.path.realpath(given) if given.startswith("/") else given)


def absolute(path: str) -> str:
    """A path from the root, its links kept. Where the program's folder has been removed, the path
    as it is: whoever uses it is told that it does not exist."""
    path = os.path.expanduser(path)  # noqa: PTH111, Path's raises where there is no home
    try:
        return os.path.abspath(path)  # noqa: PTH100, resolve() would follow links
    except FileNotFoundError:
        return path


def _path_error(path: str, why: str) -> ProfilerPathErrorException:
    shown = path if len(path) <= 80 else path[:77] + "..."
    return ProfilerPathErrorException(f"invalid path {shown!r}: {why}")


class JoinedDirectory:
    """A run directory that another recording has made and fills."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, content: Mapping[str, Any], indent: int | None = None) -> None:
        """Writes JSON, whole or not at all: a reader may come at any time."""
        unfinished = self.path / f".{name}.{os.getpid()}"
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _FILE_MODE)
        # Half a surrogate, of a file's name for one, becomes what JSON has for it: \udc80.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            json.dump(content, file, ensure_ascii=False, indent=indent, allow_nan=False)
        unfinished.replace(self.path / name)

    def remove(self) -> None:
        """Not ours to remove."""


class RunDirectory(JoinedDirectory):
    """The directory of one window, made here."""

    def __init__(self, parent: Path, worker: str | None = None) -> None:
        make_folder(parent)
        moment = datetime.now(timezone.utc)
        while True:
            stamp = moment.strftime("%Y%m%d%H%M%S") + f"{moment.microsecond // 1000:03}"
            name = f"{worker or socket.gethostname()}_{os.getpid()}_{stamp}_ascend_ms"
            self.path = parent / name
            try:
                self.path.mkdir(_FOLDER_MODE)
                break
            except FileExistsError:  # two windows within a millisecond
                moment += timedelta(milliseconds=1)
        (self.path / RAW_FOLDER).mkdir(_FOLDER_MODE)
        (self.path / OUTPUT_FOLDER).mkdir(_FOLDER_MODE)

    def remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)


def make_folder(path: Path) -> None:
    # mkdir(parents=True) would give the parents the default mode.
    for folder in (*reversed(path.parents), path):
        folder.mkdir(_FOLDER_MODE, exist_ok=True)


def find_run_directories(path: Path) -> list[Path]:
    """The path itself or the folders in it, where they hold raw data; names do not matter."""
    if _holds_raw_data(path):
        return [path]
    return sorted(item for item in path.iterdir() if item.is_dir() and _holds_raw_data(item))


def find_prof_folders(path: Path) -> list[Path]:
    """CANN's raw data in a run directory."""
    found = path.glob("PROF_*")
    return sorted(item for item in found if _ASCEND_RAW.match(item.name) and item.is_dir())


def _holds_raw_data(path: Path) -> bool:
    return (path / RAW_FOLDER).is_dir() or bool(find_prof_folders(path))
