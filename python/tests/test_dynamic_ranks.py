"""Dynamic profiling of several ranks that share a folder, and ``stepscope capture``.

Ranks are processes that count steps of 20 ms; every window is compared rank by rank, step by step.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, Callable

import pytest
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
    def __init__(self, folder: pathlib.Path, cli: pathlib.Path, ranks: int) -> None:
        self.folder = folder
        self.cli = cli
        self.file = folder / "cfg" / "profiler_config.json"
        (folder / "run").mkdir(mode=0o700, exist_ok=True)
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")]),
            "XDG_RUNTIME_DIR": str(folder / "run"),
            "STEPSCOPE_JOB": "job-of-the-test",
        }
        self.ranks = [self.start(rank, ranks) for rank in range(ranks)]
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


@pytest.fixture
def job(tmp_path: pathlib.Path, cli: pathlib.Path) -> Iterator[Callable[[int], Job]]:
    made: list[Job] = []

    def make(ranks: int) -> Job:
        made.append(Job(tmp_path, cli, ranks))
        return made[-1]

    yield make
    for one in made:
        for rank in one.ranks:
            if rank.poll() is None:
                rank.kill()
                rank.communicate()


@pytest.mark.parametrize("ranks", [2, 16])
def test_all_ranks_record_the_same_steps(job: Callable[[int], Job], ranks: int) -> None:
    one = job(ranks)

    # By hand.
    first = one.ahead()
    one.edit(first, first + 2)
    until(lambda: one.all_are("finished"), f"{first} to {first + 2} are recorded")
    expected = [first, first + 1, first + 2]

    # By `capture`, which chooses the steps.
    done = json.loads(one.capture("--next", "3", "--wait", "--json").stdout)
    first, last = done["steps"]
    assert last == first + 2
    assert [rank["rank"] for rank in done["ranks"]] == list(range(ranks))
    assert {rank["state"] for rank in done["ranks"]} == {"finished"}
    for rank in done["ranks"]:
        assert f"rank{rank['rank']}_start{first}_stop{last}" in rank["output"]
        assert pathlib.Path(rank["output"]).is_dir()
    expected += range(first, last + 1)

    # By two at once: one gets its steps, the other is told to wait, or was late and gets its own.
    outcomes: list[subprocess.CompletedProcess[str]] = []
    writers = [
        threading.Thread(
            target=lambda: outcomes.append(
                one.capture("--next", "2", "--wait", "--json", expect=None)
            )
        )
        for _ in range(2)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(done.returncode for done in outcomes) in ([0, 1], [0, 0])
    for done in outcomes:
        if done.returncode == 0:
            first, last = json.loads(done.stdout)["steps"]
            expected += range(first, last + 1)
        else:
            assert "have been asked for and are not recorded yet" in done.stderr

    # By two editors at once, over and over: whoever saves last.
    first = one.ahead()
    editors = [
        threading.Thread(target=lambda start=start: [one.edit(start, start + 1) for _ in range(20)])
        for start in (first, first + 10)
    ]
    for editor in editors:
        editor.start()
    for editor in editors:
        editor.join()
    until(lambda: one.all_are("armed", "recording", "finished"), "somebody's steps are armed")
    final = json.loads(one.file.read_text())
    expected += [final["start_step"], final["stop_step"]]
    until(
        lambda: (
            all(rank["step"] > final["stop_step"] for rank in one.statuses())
            and one.all_are("finished", "watching")
        ),
        "the last ones are recorded",
    )

    said = one.end()
    assert "was over" not in said, said
    recorded = one.steps()
    assert sorted(recorded) == list(range(ranks))
    for rank, steps in recorded.items():
        assert steps == sorted(expected), f"rank {rank}"
    assert not list((one.folder / "run" / "stepscope").iterdir())


def test_capture_chooses_ranks_and_names_processes(job: Callable[[int], Job]) -> None:
    one = job(3)
    done = json.loads(
        one.capture("--next", "2", "--ranks", "0,2", "--with-stack", "--level", "1", "--wait",
                    "--json", target=str(one.ranks[1].pid)).stdout
    )  # fmt: skip
    assert [rank["rank"] for rank in done["ranks"]] == [0, 2]
    config = json.loads(one.file.read_text())
    assert (config["ranks"], config["with_stack"], config["profiler_level"]) == ([0, 2], True, 1)
    again = json.loads(
        one.capture("--next", "1", "--wait", "--json", target="job-of-the-test").stdout
    )
    assert len(again["ranks"]) == 3
    config = json.loads(one.file.read_text())
    assert "ranks" not in config and not config["with_stack"], "nothing is left of the one before"
    table = one.capture("--status").stdout.splitlines()
    assert table[1].split() == ["rank", "host", "process", "state", "step", "output"]
    assert len(table) == 2 + 3
    # A step that is over already is missed, and the exit code says so.
    late = one.capture("--steps", "1-2", expect=1)
    assert "3 matched, 3 missed" in late.stdout and "start_step 1 was over" in late.stdout
    one.end()
    first, last = done["steps"]
    only = again["steps"][0]
    assert one.steps() == {0: [first, last, only], 1: [only], 2: [first, last, only]}


def test_capture_says_why_nobody_matches(job: Callable[[int], Job]) -> None:
    one = job(2)
    (one.folder / "empty").mkdir()
    nobody = one.capture(target="empty", expect=1).stderr
    assert "0 ranks matched" in nobody and "no rank watches this folder" in nobody
    assert not list((one.folder / "empty").iterdir()), "and nothing was written"
    others = one.capture("--ranks", "7", expect=1).stderr
    assert "2 ranks watch it, from 0 to 1, but not 7" in others
    elsewhere = one.capture(target="no-such-job", expect=1).stderr
    assert "no process of this user on this machine" in elsewhere
    assert str(one.folder / "cfg") in elsewhere, "what there is"
    for wrong in ("3-", "0-2", "1,4", "x"):
        assert one.capture("--steps", wrong, expect=2).stderr
    one.ranks[1].kill()
    one.ranks[1].wait()
    left = json.loads(one.capture("--next", "1", "--wait", "--json").stdout)
    assert [rank["rank"] for rank in left["ranks"]] == [0], "the other one is gone"
    one.ranks[0].kill()
    one.ranks[0].wait()
    before = one.file.read_text()
    gone = one.capture(expect=1).stderr
    assert "2 ranks watched it and all are gone" in gone
    assert one.file.read_text() == before


def test_a_rank_that_is_killed_is_not_waited_for(job: Callable[[int], Job]) -> None:
    one = job(2)
    threading.Timer(0.3, one.ranks[1].kill).start()
    done = json.loads(one.capture("--next", "200", "--wait", "--json", expect=1).stdout)
    assert [rank["state"] for rank in done["ranks"]] == ["finished", "gone"]


def test_the_loop_of_the_page(captured: Callable[[str], list[int]]) -> None:
    steps = captured("A loop")
    assert steps == [steps[0], steps[0] + 1, steps[0] + 2]
