"""Ranks that watch a folder: processes that count steps of 20 ms."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any, Callable

import stepscope

PROGRAM = """
import pathlib, time
import stepscope
monitor = stepscope.DynamicProfilerMonitor("cfg", "out", poll_interval=1)
over, end = pathlib.Path("over"), time.monotonic() + 240
while not over.exists() and time.monotonic() < end:
    time.sleep(0.02)
    monitor.step()
"""
PACKAGE = pathlib.Path(stepscope.__file__).parent.parent


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.05)


class Job:
    """``ranks`` processes, the first of them rank ``first`` of ``world``."""

    def __init__(
        self,
        folder: pathlib.Path,
        cli: pathlib.Path,
        ranks: int,
        first: int = 0,
        world: int | None = None,
        **more: str,
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.cli = cli
        self.file = folder / "cfg" / "profiler_config.json"
        (folder / "run").mkdir(mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "STEPSCOPE_JOB": "job-of-the-test",
            **more,
        }
        self.ranks = [self.start(first + rank, world or ranks) for rank in range(ranks)]
        until(lambda: self.least_step() > 5, "all ranks train")

    def start(self, rank: int, ranks: int) -> subprocess.Popen[str]:
        numbers = {"RANK": str(rank), "WORLD_SIZE": str(ranks)}
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            cwd=self.folder,
            env={**self.environment, **numbers},
            stderr=subprocess.PIPE,
            text=True,
        )

    def statuses(self) -> list[dict[str, Any]]:
        found = (self.folder / "cfg" / ".stepscope").glob("rank_*.json")
        return [json.loads(path.read_text()) for path in found]

    def least_step(self) -> int:
        told = self.statuses()
        return min(one["step"] for one in told) if len(told) == len(self.ranks) else 0

    def all_are(self, *states: str) -> bool:
        told = self.statuses()
        return len(told) == len(self.ranks) and all(one["state"] in states for one in told)

    def ahead(self) -> int:
        """A step that all ranks have before them for some seconds."""
        until(lambda: all(one["steps_per_second"] for one in self.statuses()), "speeds are told")
        return max(
            one["step"] + int((time.time() - one["updated"] + 4) * one["steps_per_second"])
            for one in self.statuses()
        )

    def edit(self, start: int, stop: int) -> None:
        self.file.write_text(json.dumps({"start_step": start, "stop_step": stop}))

    def capture(
        self, *arguments: str, target: str = "cfg", expect: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.cli, "capture", target, *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        assert expect is None or done.returncode == expect, done.stdout + done.stderr
        return done

    def end(self) -> str:
        """Returns what the ranks said."""
        (self.folder / "over").touch()
        said = [one.communicate(timeout=60)[1] for one in self.ranks]
        assert all(one.returncode in (0, -signal.SIGKILL) for one in self.ranks), said
        return "".join(said)

    def steps(self) -> dict[int, list[int]]:
        """What each rank has recorded."""
        with stepscope.open(self.folder / "out") as run:
            table = run.query("select rank, step from steps order by rank, step")
        found: dict[int, list[int]] = {}
        for rank, step in zip(table["rank"].tolist(), table["step"].tolist()):
            found.setdefault(rank, []).append(step)
        return found
