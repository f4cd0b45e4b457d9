"""on_trace_ready that writes trace files, as TensorBoard and others look for them."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class ExportHandler:
    """Also says where the recordings themselves are kept."""

    folder: str
    worker: str | None = None
    packed: bool = False

    def __call__(self, profiler: Any) -> None:
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        worker = self.worker or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json"
        profiler.export_chrome_trace(str(Path(self.folder) / (name + ".gz" * self.packed)))


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, **_others: Any
) -> ExportHandler:
    """Makes an ``on_trace_ready`` that writes ``<worker>.<time>.pt.trace.json`` into a folder.

    ``worker_name`` should differ between the ranks of a job; by default it is host and process.
    """
    # What an export needs, 18 ms: imported after Ctrl-C has ended the program, dataclasses would
    # make Python forget that it did, and leave with 1 instead of 130.
    import stepscope._run  # noqa: F401

    return ExportHandler(str(dir_name), worker_name, use_gzip)
