"""What needs no MindSpore."""

from __future__ import annotations

import os
import pathlib
import shutil
from unittest.mock import MagicMock

import pytest
from stepscope.mindspore import framework, operators, scratch
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


def test_a_window_that_is_read_at_once_takes_no_other_with_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the collector does: with the last window the folder of all windows goes."""

    def read_at_once(folder: str, *_: object) -> bool:
        window = pathlib.Path(folder)
        read.append(window.name)
        shutil.rmtree(window, ignore_errors=True)
        if not list(window.parent.iterdir()):
            window.parent.rmdir()
        return True

    read: list[str] = []
    made = tmp_path / "windows"
    monkeypatch.setattr(framework, "cpu_profiler", MagicMock)
    monkeypatch.setattr(framework, "wait_for_operators", lambda: None)
    monkeypatch.setattr(operators, "make_scratch", lambda: made.mkdir() or made)
    monkeypatch.setattr(operators._record, "import_mindspore_window", read_at_once)
    windows = operators.OperatorWindows(shapes=False, memory=False)
    windows.start()
    windows.rotate(1)
    windows.rotate(1)
    assert [folder.name for folder in made.iterdir()] == ["3"]
    shutil.rmtree(made)  # somebody tidies up
    windows.rotate(1)
    assert [folder.name for folder in made.iterdir()] == ["4"]
    windows.stop()
    assert read == ["1", "2", "3", "4"]
    assert not made.exists()


def test_a_full_window_is_not_lost_with_the_next(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_over: list[str] = []
    profiler = MagicMock()
    monkeypatch.setattr(framework, "cpu_profiler", lambda: profiler)
    monkeypatch.setattr(framework, "wait_for_operators", lambda: None)
    monkeypatch.setattr(operators, "make_scratch", lambda: tmp_path)
    monkeypatch.setattr(
        operators._record,
        "import_mindspore_window",
        lambda folder, *_: handed_over.append(pathlib.Path(folder).name) or True,
    )
    windows = operators.OperatorWindows(shapes=False, memory=False)
    windows.start()
    profiler.init.side_effect = RuntimeError("the disk is full")
    with pytest.raises(RuntimeError):
        windows.rotate(1)
    assert handed_over == ["1"]
