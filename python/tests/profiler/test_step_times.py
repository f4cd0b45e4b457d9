"""Which steps count when a run says how long they took."""

from __future__ import annotations

from stepscope.profiler.step_times import StepTimes


def seen(*seconds: float) -> list[float]:
    times = StepTimes()
    for one in seconds:
        times.add(one, recorded=False)
    return list(times._others)


def test_the_first_step_is_left_out() -> None:
    assert seen(9.0, 0.1, 0.2) == [0.1, 0.2]


def test_a_step_in_which_nothing_happened_is_not_the_first() -> None:
    assert seen(0.00001, 9.0, 0.1, 0.2) == [0.1, 0.2]


def test_steps_that_are_all_short_count() -> None:
    assert seen(0.00001, 0.00002, 0.00003) == [0.00003]
