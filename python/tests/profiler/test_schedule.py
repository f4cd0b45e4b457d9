from __future__ import annotations

from typing import Callable

import pytest
from stepscope.profiler import ProfilerAction, Schedule, schedule

LETTERS = {"NONE": "N", "WARM_UP": "W", "RECORD": "R", "RECORD_AND_SAVE": "S"}


def actions(plan: Schedule, steps: int) -> str:
    return "".join(LETTERS[plan(step).name] for step in range(steps))


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        (dict(skip_first=2, wait=1, warmup=1, active=2, repeat=1), "NNNWRSNNN"),
        (dict(skip_first=1, wait=1, warmup=1, active=2, repeat=2), "NNWRSNWRSNNN"),
        (dict(wait=0, active=1), "SSSS"),
        (dict(wait=0, active=3), "RRSRRS"),
        (
            dict(wait=2, warmup=2, active=2, repeat=3, skip_first=2),
            "NNNNWWRSNNWWRSNNWWRSNNNNNNNNNNN",
        ),
    ],
)
def test_actions(numbers: dict[str, int], expected: str) -> None:
    assert actions(schedule(**numbers), len(expected)) == expected


def test_long_schedule_records_the_steps_its_documentation_names() -> None:
    plan = schedule(skip_first=10, wait=10, warmup=5, active=5, repeat=2)
    recorded = [step for step in range(100) if plan(step).value >= ProfilerAction.RECORD.value]
    assert recorded == [*range(25, 30), *range(45, 50)]


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", None, True])
@pytest.mark.parametrize("name", ["wait", "active", "warmup", "repeat", "skip_first"])
def test_wrong_numbers_are_replaced(
    name: str, wrong: object, said: Callable[[], list[str]]
) -> None:
    numbers = dict(wait=1, active=2, warmup=1, repeat=1, skip_first=1)
    plan = schedule(**{**numbers, name: wrong})  # type: ignore[arg-type]
    assert plan.to_dict() == {**numbers, name: 1 if name == "active" else 0}
    assert f"{name} must be" in said()[0]


def test_both_spellings() -> None:
    older = schedule(wait=1, active=1, warm_up=2)
    assert older == schedule(wait=1, active=1, warmup=2)
    assert repr(older) == "Schedule(wait=1, active=1, warmup=2, repeat=0, skip_first=0)"


def test_steps_are_counted_from_zero() -> None:
    with pytest.raises(ValueError, match="no step -1"):
        schedule(wait=1, active=1)(-1)
