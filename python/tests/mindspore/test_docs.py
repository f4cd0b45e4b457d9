"""The programs of docs/mindspore.md as they are written."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest
import stepscope

pytestmark = pytest.mark.mindspore
Examples = Callable[[str, str], list[str]]


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


@pytest.mark.parametrize(
    ("heading", "steps"),
    [
        ("A loop, in PyNative mode", [2, 3, 4]),
        ("The same in graph mode", [2, 3, 4]),
        ("Model.train: some of its steps", [10, 11, 12, 13, 14]),
        ("Model.train: some of its epochs", list(range(17, 33))),
    ],
)
def test_a_program(
    examples: Examples,
    in_environment: Callable[..., dict[str, str]],
    tmp_path: pathlib.Path,
    heading: str,
    steps: list[int],
) -> None:
    (text,) = examples("mindspore.md", heading)
    program = tmp_path / "program.py"
    program.write_text(text)
    done = subprocess.run(
        [sys.executable, str(program)], cwd=tmp_path, env=in_environment(), text=True,
        capture_output=True, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with stepscope.open(tmp_path / "runs") as run:
        assert rows(run, "select step from steps order by step") == [(step,) for step in steps]
        by_step = rows(run, "select step, count(*) from ops where step is not null"
                            " group by step order by step")  # fmt: skip
        assert [step for step, _ in by_step] == steps
        assert len({count for _, count in by_step}) == 1, "every step has the same operators"
        if "loop" in heading or "same" in heading:
            assert "operators" in done.stdout
