"""MindSpeed-MM trains with PyTorch: its profiler, as ours, in such a loop."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
import stepscope
from stepscope.mindspeed_mm import Profiler


def operators_by_step(folder: pathlib.Path) -> list[tuple[int, int]]:
    with stepscope.open(folder) as run:
        table = run.query(
            "select step, count(*) as operators from ops where name = 'aten::addmm'"
            " group by step order by step"
        )
        return list(zip(table["step"].tolist(), table["operators"].tolist()))


@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_operators_of_the_steps_that_were_asked_for(
    trainer: Any, tmp_path: pathlib.Path, kind: str
) -> None:
    (tmp_path / "cfg").mkdir()
    wanted = '{"start_step": 3, "stop_step": 4, "analyse_mode": 0}'
    (tmp_path / "cfg" / "profiler_config.json").write_text(wanted)
    config = {
        "enable": True,
        "profile_type": kind,
        "static_param": {"start_step": 3, "end_step": 5, "save_path": "out", "record_shapes": True},
        "dynamic_param": {"config_path": "cfg"},
    }
    profiler = Profiler(config)
    profiler.start()
    for _ in range(8):
        trainer.step()
        profiler.step()
    profiler.stop()
    folder = tmp_path / ("out" if kind == "static" else "dyn_profile_data")
    assert operators_by_step(folder) == [(3, 2), (4, 2)]
