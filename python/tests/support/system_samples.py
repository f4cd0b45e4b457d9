"""Waits for the thread that samples processes, in programs of tests that need its samples."""

from __future__ import annotations

import pathlib
import time


def _naps() -> int:
    """How often the thread has gone to sleep: once behind each sample."""
    for task in pathlib.Path("/proc/self/task").iterdir():
        if (task / "comm").read_text().strip() == "stepscope-sys":
            lines = (task / "status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
    raise AssertionError("nobody samples")


def wait_for_samples(count: int = 5) -> None:
    """Returns when so many samples more have been taken: two are needed for a rate, and the thread
    may sleep for other reasons than being done."""
    until, end = _naps() + count, time.monotonic() + 60
    while _naps() < until:
        assert time.monotonic() < end, "there are no samples"
        time.sleep(0.02)
