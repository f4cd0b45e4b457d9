"""Result tables: the methods, the critical path of any step, changes of a step, search."""

from __future__ import annotations

import pytest
import stepscope

METHODS = {
    "findings": "findings",
    "step_budget": "step_budget",
    "step_trace": "step_trace",
    "step_times": "step_times",
    "device_time": "device_time",
    "idle": "idle",
    "operators": "operators",
    "kernels": "kernels",
    "flops": "flops",
    "communication": "communication_operators",
    "late_ranks": "late_ranks",
    "rank_comparison": "rank_comparison",
    "memory": "memory",
    "pipeline": "pipeline",
    "cpu": "cpu",
    "critical_path": "critical_path",
    "critical_path_segments": "critical_path_segments",
}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_is_its_table(run: stepscope.Run, method: str) -> None:
    name = METHODS[method]
    table = getattr(run, method)()
    assert list(table) == list(run.describe_analysis(name))
    assert table.to_pylist() == run.analysis(name).to_pylist()
    assert table.num_rows > 0 or run.why_empty(name), "an empty table has a reason"


def test_critical_path_of_any_step(run: stepscope.Run) -> None:
    for step in run.analysis("steps").to_pylist():
        (path,) = run.critical_path(step["step"], rank=step["rank"]).to_pylist()
        assert (path["rank"], path["step"]) == (step["rank"], step["step"])
        assert path["dur_ns"] == step["work_dur_ns"]
        pieces = run.critical_path_segments(step["step"], rank=step["rank"])
        assert pieces["dur_ns"].sum() == step["work_dur_ns"]
    with pytest.raises(stepscope.StepscopeError, match="no such step"):
        run.critical_path(4711)
    with pytest.raises(stepscope.StepscopeError, match="no such rank"):
        run.critical_path(rank=4711)


def test_what_a_changed_step_takes(run: stepscope.Run) -> None:
    same = run.what_if("kernel", 1)
    assert same.num_rows == 2, "a row for each rank"
    assert same["gain_ns"].tolist() == [0, 0]
    none = run.what_if("kernel", 0, rank=1).to_pylist()
    assert len(none) == 1
    assert none[0]["rank"] == 1
    assert none[0]["events"] > 0
    assert none[0]["gain_ns"] > 0
    assert none[0]["after_ns"] == none[0]["before_ns"] - none[0]["gain_ns"]
    name = run.kernels()["name"][0]
    step = int(run.critical_path(rank=1)["step"][0])
    named = run.what_if(name.upper(), 2.0, step=step, rank=1).to_pylist()[0]
    assert named["step"] == step
    assert named["events"] > 0
    assert named["gain_ns"] <= 0
    with pytest.raises(stepscope.StepscopeError, match="no device work of the step"):
        run.what_if("no such kernel", 0.5)
    with pytest.raises(stepscope.StepscopeError, match="factor"):
        run.what_if("kernel", -1)


def test_search_of_operators(run: stepscope.Run) -> None:
    name = run.operators()["name"][0]
    found = run.operators(search=name.upper())
    assert found["name"][0] == name
    assert found.num_rows <= 20
    assert run.operators(search=name, limit=1).num_rows == 1
    assert run.operators(search="\u4e2d no such thing").num_rows == 0
    with pytest.raises(ValueError, match="limit"):
        run.operators(search=name, limit=0)
