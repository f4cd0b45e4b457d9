"""Watching real training: steps are those of the optimizer, nobody marks any."""

from __future__ import annotations

import json
import pathlib
import time
from typing import Any, Callable

import pytest
import stepscope
import torch
from stepscope import triggers

# Of steps of 20 ms: a step is slow when it takes 1.2 s, which a busy machine alone does not do. The
# one that is planted takes more than twice as long, as such a machine's other steps may.
FACTOR, PLANTED = 60, 3.0


class Slow(torch.nn.Module):
    """A layer that is slow when it is told to be."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        with stepscope.record_function("planted"):
            time.sleep(self.seconds)
        return values


class Training:
    def __init__(self) -> None:
        self.slow = Slow()
        self.model = torch.nn.Sequential(torch.nn.Linear(64, 64), self.slow, torch.nn.Linear(64, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)

    def step(self, seconds: float = 0.02) -> None:
        self.slow.seconds = seconds
        self.optimizer.zero_grad()
        self.model(torch.ones(8, 64)).sum().backward()
        self.optimizer.step()


def the_trigger(run: stepscope.Run) -> dict[str, Any]:
    versions = json.loads(run.query("select versions from ranks")["versions"].tolist()[0])
    (trigger,) = versions["triggers"]
    return dict(trigger)


UNCHANGED = f"""
import time
import torch
model = torch.nn.Linear(64, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for number in range(1, 41):
    optimizer.zero_grad()
    model(torch.ones(8, 64)).sum().backward()
    time.sleep({PLANTED} if number == 30 else 0.02)
    optimizer.step()
"""


def test_a_program_that_knows_nothing_of_it_is_watched(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    rules = ("--watch", "--slow-factor", str(FACTOR), "--slow-steps", "1", "--no-progress", "0")
    record_program("-c", UNCHANGED, options=rules)
    (folder,) = (tmp_path / "runs").glob("*_ascend_ms")
    with stepscope.open(folder) as run:
        assert the_trigger(run)["kind"] == "slow_step"
        names = run.query("select distinct name from slices where name like 'aten::%'")
        assert "aten::linear" in names["name"].tolist()


@pytest.mark.parametrize("operators", [True, False], ids=["operators", "steps alone"])
def test_a_planted_slow_step_is_named_with_the_seconds_before(
    tmp_path: pathlib.Path, operators: bool
) -> None:
    training = Training()
    training.step()  # what is made once is made
    with triggers.watch(
        tmp_path / "captures",
        operators=operators,
        slow_step=triggers.SlowStep(factor=FACTOR, steps=1),
        capture_steps=3,
        no_progress_s=None,
    ) as watch:
        for number in range(60):
            training.step(PLANTED if number == 40 else 0.02)
        end = time.monotonic() + 60
        while not any(capture.complete for capture in watch.captures):
            assert time.monotonic() < end, "it is never complete"
            training.step()
    (capture,) = watch.captures
    with stepscope.open(capture.path) as run:
        trigger = the_trigger(run)
        assert trigger["kind"] == "slow_step"
        assert trigger["step"] == 40
        assert trigger["seconds"] >= PLANTED
        steps = run.table("steps")["step"].tolist()
        assert steps[0] == 0, "the seconds before are in it"
        assert {40, 41, 42} <= set(steps)
        # The slow step holds the slow layer, and the others the fast one.
        longest = run.query(
            "select s.step from slices x join steps s on x.ts >= s.ts and x.ts < s.ts + s.dur "
            "where x.name = 'planted' order by x.dur desc limit 1"
        )
        assert longest["step"].tolist() == [40]
        (count,) = run.query("select count(*) as n from ops where name = 'aten::linear'")["n"]
        assert bool(count > 40) is operators


def test_a_failed_allocation_of_torch_is_a_cause(tmp_path: pathlib.Path) -> None:
    training = Training()
    with (
        pytest.raises(RuntimeError),
        triggers.watch(tmp_path / "captures", slow_step=None) as watch,
    ):
        for _ in range(5):
            training.step(0)
        torch.empty(1 << 60, dtype=torch.uint8)
    (capture,) = watch.captures
    assert capture.kind == "allocation_failure"
    assert capture.complete


def test_the_programs_own_steps_take_the_place_of_the_optimizers(tmp_path: pathlib.Path) -> None:
    training = Training()
    with triggers.watch(tmp_path / "captures", slow_step=None, no_progress_s=None) as watch:
        for number in range(100, 110):
            watch.step(number)
            training.step(0)
        watch.trigger("to see the steps")
    (capture,) = watch.captures
    with stepscope.open(capture.path) as run:
        assert run.table("steps")["step"].tolist() == list(range(100, 110))
