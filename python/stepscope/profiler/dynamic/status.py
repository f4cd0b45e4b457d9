"""What a rank tells of itself: a small file in the watched folder, for ``stepscope capture``.

    <cfg_path>/.stepscope/rank_<N>.json

And a line for the user's machine, so that ``capture`` finds the folder by process or job:

    $XDG_RUNTIME_DIR/stepscope/<pid>.json, or /tmp/stepscope-<uid>/<pid>.json
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FOLDER = ".stepscope"
_FILE_MODE = 0o640
_JOB_VARIABLES = (
    "STEPSCOPE_JOB", "SLURM_JOB_ID", "TORCHELASTIC_RUN_ID", "MS_JOB_ID", "PBS_JOBID", "LSB_JOBID",
    "JOB_ID", "KUBERNETES_JOB",
)  # fmt: skip


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all: a reader may come at any time."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, _FILE_MODE)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(content, file, ensure_ascii=False)
    unfinished.replace(path)


def jobs() -> list[str]:
    """What the job is called by whoever started it."""
    return list(dict.fromkeys(filter(None, map(os.environ.get, _JOB_VARIABLES))))


def process() -> dict[str, Any]:
    """What tells this process from all others: numbers are used again, and containers have their
    own."""
    about = {"host": socket.gethostname(), "pid": os.getpid(), "pid_namespace": "", "started": ""}
    with contextlib.suppress(OSError, IndexError):
        about["pid_namespace"] = os.readlink("/proc/self/ns/pid")  # noqa: PTH115, no path
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
        about["started"] = fields[19]
    return about


class StatusFile:
    """Written by one thread. Never raises: a rank that cannot tell still records."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        self._path: Path | None = None
        self._rank = -1

    def write(self, rank: int, content: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._folder.mkdir(exist_ok=True)
            if self._path is None or rank != self._rank:
                self.remove()
                self._rank, self._path = rank, self._free_name(rank)
            write_json(self._path, content)

    def others(self) -> bool:
        """Whether other ranks watch the folder, or did."""
        with contextlib.suppress(OSError):
            return any(path != self._path for path in self._folder.glob("rank_*.json"))
        return False

    def remove(self) -> None:
        path, self._path = self._path, None
        if path:
            with contextlib.suppress(OSError):
                path.unlink()

    def _free_name(self, rank: int) -> Path:
        """Two jobs in one folder, or ranks that were not told their numbers, must not look like one
        that jumps to and fro."""
        path = self._folder / f"rank_{rank}.json"
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            found = json.loads(path.read_bytes())
            mine = found["host"] == socket.gethostname() and found["pid"] == os.getpid()
            if not mine and found["host"] == socket.gethostname() and _is_alive(found["pid"]):
                return self._folder / f"rank_{rank}_{os.getpid()}.json"
        return path


class Registration:
    """The process in the user's runtime folder."""

    def __init__(self, folder: Path) -> None:
        self._path: Path | None = None
        self._pid = os.getpid()
        with contextlib.suppress(OSError):
            place = _runtime_folder()
            content = {**process(), "cfg_path": str(folder), "jobs": jobs()}
            write_json(place / f"{self._pid}.json", content)
            self._path = place / f"{self._pid}.json"

    def remove(self) -> None:
        if self._path and self._pid == os.getpid():
            with contextlib.suppress(OSError):
                self._path.unlink()
        self._path = None


def _runtime_folder() -> Path:
    """Raises OSError where the folder is not ours alone: what lies in it tells others where to
    write."""
    own = os.environ.get("XDG_RUNTIME_DIR")
    if own and os.access(own, os.W_OK):
        folder = Path(own) / "stepscope"
    else:
        folder = Path(f"/tmp/stepscope-{os.getuid()}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(0o700)
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    if not private or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} is not a folder of this user alone")
    return folder


def _is_alive(pid: object) -> bool:
    return isinstance(pid, int) and Path(f"/proc/{pid}").exists()
