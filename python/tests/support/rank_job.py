"""Ranks that watch a folder: processes that count steps of 20 ms."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
from typing import Any, Callable

import stepscope

# Steps behind the number in `gate` wait until it is gone.
PROGRAM = """
import os, pathlib, time
import stepscope
monitor = stepscope.DynamicProfilerMonitor("cfg", "out", poll_interval=1)
over, end = pathlib.Path("over"), time.monotonic() + 1500
gate, waits_at = pathlib.Path("gate"), pathlib.Path("waits_at_" + os.environ["RANK"])
step = 0
while not over.exists() and time.monotonic() < end:
    time.sleep(0.02)
    try:
        if step >= int(gate.read_text()):
            waits_at.write_text(f"{step}.")
            continue
    except FileNotFoundError:
        pass
    step += 1
    monitor.step()
"""
PACKAGE = pathlib.Path(stepscope.__file__).parent.parent


def until(condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 300
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
        self.gate = folder / "gate"
        self.edits = itertools.count(1)
        #: steps of each rank, as `record_next` was told
        self.recorded: dict[int, list[int]] = {}
        (folder / "run").mkdir(mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "STEPSCOPE_JOB": "job-of-the-test",
            **more,
        }
        self.ranks = [self.start(first + rank, world or ranks) for rank in range(ranks)]
        try:
            until(lambda: self.least_step() > 5, "all ranks train")
        except BaseException:
            for rank in self.ranks:
                rank.kill()
                rank.communicate()
            raise

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
        """A step that all ranks have before them: a hundred steps away, and shortly before it they
        wait until `edit_is_taken`."""
        waiting = [self.folder / f"waits_at_{rank}" for rank in range(len(self.ranks))]
        for path in waiting:
            path.unlink(missing_ok=True)
        self._close_gate(0)
        told: list[str] = []

        def all_wait() -> bool:
            # Each is written over and over, and empty in between: only what was read here counts.
            told[:] = [path.read_text() for path in waiting if path.exists()]
            return len(told) == len(waiting) and all(text.endswith(".") for text in told)

        until(all_wait, "all ranks wait")
        first = max(int(text.rstrip(".")) for text in told) + 100
        self._close_gate(first - 5)
        return first

    def _close_gate(self, step: int) -> None:
        unfinished = self.folder / "gate.unfinished"
        unfinished.write_text(str(step))
        unfinished.replace(self.gate)

    def edit(self, start: int, stop: int) -> None:
        wish = {"start_step": start, "stop_step": stop, "request": f"edit {next(self.edits)}"}
        # Equally long, so that of two who write at once one has the whole file.
        self.file.write_text(json.dumps(wish).ljust(200))

    def edit_is_taken(self) -> dict[str, Any]:
        """Returns the last edit, when all ranks know of it. They go on then."""
        asked: dict[str, Any] = json.loads(self.file.read_text())
        until(
            lambda: all(one["taken"] == asked["request"] for one in self.statuses()),
            f"all ranks know of {asked}",
        )
        self.gate.unlink()
        return asked

    def capture(
        self, *arguments: str, target: str = "cfg", expect: int | None = 0
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [self.cli, "capture", target, *arguments],
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert expect is None or done.returncode == expect, done.stdout + done.stderr
        return done

    def record_next(self, steps: int, *arguments: str, target: str = "cfg") -> dict[str, Any]:
        """Captures the next steps; notes what each rank says of them. On a busy machine a rank may
        know of them too late, which it says; then others are asked for."""
        for _ in range(4):
            told = self.capture(
                "--next", str(steps), "--wait", "--json", *arguments, target=target, expect=None
            )
            if self.note(told):
                break
        assert told.returncode == 0, told.stdout + told.stderr
        done: dict[str, Any] = json.loads(told.stdout)
        return done

    def note(self, told: subprocess.CompletedProcess[str]) -> bool:
        """Whether all ranks have recorded."""
        assert told.stdout, told.stderr
        done = json.loads(told.stdout)
        for rank in done["ranks"]:
            assert rank["state"] in ("finished", "missed"), told.stdout
            if rank["state"] == "finished":
                first, last = done["steps"]
                self.recorded.setdefault(rank["rank"], []).extend(range(first, last + 1))
        all_have = all(rank["state"] == "finished" for rank in done["ranks"])
        assert all_have == (told.returncode == 0), told.stdout + told.stderr
        return all_have

    def end(self) -> str:
        """Returns what the ranks said."""
        (self.folder / "over").touch()
        said = [one.communicate(timeout=300)[1] for one in self.ranks]
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
