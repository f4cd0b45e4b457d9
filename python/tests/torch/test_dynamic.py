"""Dynamic profiling of a PyTorch training: the program of docs/dynamic.md as it is written."""

from __future__ import annotations

import pathlib
from typing import Callable

import stepscope


def test_the_program_of_the_page(
    captured: Callable[[str], list[int]], tmp_path: pathlib.Path
) -> None:
    steps = captured("PyTorch")
    assert steps == [steps[0], steps[0] + 1, steps[0] + 2]
    with stepscope.open(tmp_path / "dynprof_data") as run:
        table = run.query(
            "select step, count(*) n from ops where name = 'aten::linear' "
            "group by step order by step"
        )
    assert table["step"].tolist() == steps
    assert table["n"].tolist() == [2, 2, 2], "two layers"
