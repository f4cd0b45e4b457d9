"""Dynamic profiling of several ranks that share a folder, and ``stepscope capture``.

Ranks are processes that count steps of 20 ms; every window is compared rank by rank, step by step.
"""

from __future__ import annotations

import json
import pathlib
import subprocess
import threading
from collections.abc import Iterator
from typing import Callable

import pytest
import stepscope
from rank_job import Job, until


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
    one.edit_is_taken()
    until(lambda: one.all_are("finished"), f"{first} to {first + 2} are recorded")
    by_hand = [first, first + 1, first + 2]

    # By `capture`, which chooses the steps.
    done = one.record_next(3)
    first, last = done["steps"]
    assert last == first + 2
    assert [rank["rank"] for rank in done["ranks"]] == list(range(ranks))
    assert {rank["state"] for rank in done["ranks"]} == {"finished"}
    for rank in done["ranks"]:
        assert f"rank{rank['rank']}_start{first}_stop{last}" in rank["output"]
        assert pathlib.Path(rank["output"]).is_dir()

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
    assert any(told.stdout for told in outcomes)
    for told in outcomes:
        if told.stdout:
            one.note(told)
        else:
            assert "what was asked for before is not recorded yet" in told.stderr

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
    final = one.edit_is_taken()
    by_hand += [final["start_step"], final["stop_step"]]
    until(
        lambda: (
            all(rank["step"] > final["stop_step"] for rank in one.statuses())
            and one.all_are("finished", "watching")
        ),
        "the last ones are recorded",
    )

    said = one.end()
    for step in (by_hand[0], first, first + 10):
        assert f"start_step {step} was over" not in said, said
    recorded = one.steps()
    assert sorted(recorded) == list(range(ranks))
    for rank, steps in recorded.items():
        assert steps == sorted(by_hand + one.recorded[rank]), f"rank {rank}"
    assert not list((one.folder / "run" / "stepscope").iterdir())


def test_capture_chooses_ranks_and_names_processes(job: Callable[[int], Job]) -> None:
    one = job(3)
    target = str(one.ranks[1].pid)
    done = one.record_next(2, "--ranks", "0,2", "--with-stack", "--level", "1", target=target)
    assert [rank["rank"] for rank in done["ranks"]] == [0, 2]
    config = json.loads(one.file.read_text())
    assert (config["ranks"], config["with_stack"], config["profiler_level"]) == ([0, 2], True, 1)
    again = one.record_next(1, target="job-of-the-test")
    assert len(again["ranks"]) == 3
    config = json.loads(one.file.read_text())
    assert "ranks" not in config and not config["with_stack"], "nothing is left of the one before"
    table = one.capture("--status").stdout.splitlines()
    assert table[1].split() == ["rank", "host", "process", "state", "step", "output"]
    assert len(table) == 2 + 3
    # What another asks of one rank is not taken away by asking another rank.
    one.capture("--steps", "1000000", "--ranks", "0")
    refused = one.capture("--next", "1", "--ranks", "1", expect=1).stderr
    assert "not recorded yet: step 1000000" in refused
    one.edit(-1, -1)
    until(lambda: one.all_are("watching"), "it is taken back")
    # A step that is over already is missed, and the exit code says so.
    late = one.capture("--steps", "1-2", expect=1)
    assert "3 matched, 3 missed" in late.stdout and "start_step 1 was over" in late.stdout
    one.end()
    assert one.steps() == one.recorded
    assert not set(done["steps"]) & set(one.recorded[1]), "it was not chosen"


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
    left = one.record_next(1)
    assert [rank["rank"] for rank in left["ranks"]] == [0], "the other one is gone"
    one.ranks[0].kill()
    one.ranks[0].wait()
    before = one.file.read_text()
    gone = one.capture(expect=1).stderr
    assert "2 ranks watched it and all are gone" in gone
    assert one.file.read_text() == before


def test_a_rank_that_is_killed_is_not_waited_for(job: Callable[[int], Job]) -> None:
    one = job(2)

    def kill_it() -> None:
        until(lambda: one.all_are("armed", "recording"), "both ranks know of the window")
        one.ranks[1].kill()

    threading.Thread(target=kill_it).start()
    done = json.loads(one.capture("--next", "200", "--wait", "--json", expect=1).stdout)
    assert [rank["state"] for rank in done["ranks"]] == ["finished", "gone"]


def test_the_loop_of_the_page(captured: Callable[[str], list[int]]) -> None:
    steps = captured("A loop")
    assert steps == [steps[0], steps[0] + 1, steps[0] + 2]


def test_a_window_inside_of_stepscope_record(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg" / "profiler_config.json").write_text('{"start_step": 3, "stop_step": 4}')
    program = (
        "import stepscope\n"
        "with stepscope.record_function('all of it'):\n"
        "    monitor = stepscope.DynamicProfilerMonitor('cfg', 'out')\n"
        "    for _ in range(6):\n"
        "        monitor.step()\n"
    )
    (tmp_path / "program.py").write_text(program)
    record_program(tmp_path / "program.py")
    assert not (tmp_path / "out").exists(), "it is a part of that run"
    with stepscope.open(tmp_path / "runs") as run:
        assert run.query("select step from steps order by step")["step"].tolist() == [3, 4]
    log = (tmp_path / "cfg" / "log" / "rank_0.log").read_text()
    assert f"recorded in {tmp_path}/runs/" in log
