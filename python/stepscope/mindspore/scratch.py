"""Where MindSpore's text files are between its stop and their reading: a second or so."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_MEMORY = Path("/dev/shm")
_LEAST_FREE = 256 << 20
_NAME = re.compile(r"stepscope-mindspore-(\d+)-")


def make_scratch() -> Path:
    """A folder of this process's own, in memory where there is room: training waits while MindSpore
    writes, and the disk may be a network's."""
    parent = Path(tempfile.gettempdir())
    try:
        if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free >= _LEAST_FREE:
            parent = _MEMORY
    except OSError:
        pass
    sweep(parent)
    return Path(tempfile.mkdtemp(prefix=f"stepscope-mindspore-{os.getpid()}-", dir=parent))


def sweep(parent: Path) -> None:
    """Removes what killed programs of this user have left behind."""
    for folder in parent.glob("stepscope-mindspore-*"):
        match = _NAME.match(folder.name)
        try:
            mine = folder.stat().st_uid == os.getuid()
        except OSError:
            continue
        if match and mine and not Path(f"/proc/{match[1]}").exists():
            shutil.rmtree(folder, ignore_errors=True)
