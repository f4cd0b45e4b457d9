"""What needs no MindSpore."""

from __future__ import annotations

import os
import pathlib

from stepscope.mindspore import scratch
from stepscope.mindspore.rotation import OPERATORS, SECONDS, Rotation


def test_windows_hold_about_ten_thousand_operators() -> None:
    rotation = Rotation()
    assert rotation.steps < 100
    assert rotation.seconds < SECONDS
    rotation.learn(16, 16 * 75, 0, 0.004)
    assert rotation.steps == OPERATORS // 75
    assert rotation.seconds == SECONDS
    rotation.learn(1, 50_000, 0, 0.2)
    assert rotation.steps == 1


def test_a_window_without_operators_teaches_nothing() -> None:
    rotation = Rotation()
    before = rotation.steps
    rotation.learn(16, 0, 0, 0.0)
    assert rotation.steps == before


def test_windows_grow_with_the_memory_records_that_are_written_again_and_again() -> None:
    rotation = Rotation()
    rotation.learn(100, 10_000, 1_000_000, 0.5)
    assert rotation.steps == 2_500
    assert rotation.seconds == 25


def test_what_killed_programs_leave_is_swept(tmp_path: pathlib.Path) -> None:
    dead, alive = "stepscope-mindspore-999999999-x", f"stepscope-mindspore-{os.getpid()}-x"
    for name in (dead, alive, "stepscope-mindspore-else"):
        (tmp_path / "shared" / name / "1").mkdir(parents=True)
    scratch.sweep(tmp_path / "shared")
    assert sorted(folder.name for folder in (tmp_path / "shared").iterdir()) == sorted(
        [alive, "stepscope-mindspore-else"]
    )
