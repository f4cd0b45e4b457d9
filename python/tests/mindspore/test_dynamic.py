"""Dynamic profiling of real training: Model.train with the monitor as a callback, and a loop."""

from __future__ import annotations

import pathlib
from typing import Any, Callable

import pytest
import stepscope

pytestmark = pytest.mark.mindspore
Started = Callable[..., dict[str, Any]]

# LeNet's operators in a step, in PyNative mode; Model.train's step is a graph of its own.
OPERATORS = 107
OF_MODEL_TRAIN = 46


def recorded_steps(folder: pathlib.Path) -> dict[str, list[tuple[int, int]]]:
    """The steps of each window, with their numbers of operators."""
    found = {}
    for window in sorted(folder.iterdir()):
        with stepscope.open(window) as run:
            table = run.query("select step, count(*) n from ops group by step order by step")
            found[window.name] = list(zip(table["step"].tolist(), table["n"].tolist()))
            steps = run.query("select step from steps order by step")["step"].tolist()
            assert steps == [step for step, _ in found[window.name]]
    return found


@pytest.mark.parametrize("how", ["callback", "drop-in"])
def test_model_train(train: Started, tmp_path: pathlib.Path, how: str) -> None:
    truth = train("dynamic.py", how, injected=how == "drop-in")
    assert truth["made"]["profile_framework"] == -1
    assert truth["monitor"] == "stepscope.profiler.dynamic.monitor"
    windows = recorded_steps(tmp_path / "runs")
    assert list(windows) == ["rank0_start14_stop14", "rank0_start5_stop7"]
    for window, numbers in (("rank0_start5_stop7", [5, 6, 7]), ("rank0_start14_stop14", [14])):
        assert windows[window] == [(number, OF_MODEL_TRAIN) for number in numbers]
    log = (tmp_path / "cfg" / "log" / "rank_0.log").read_text()
    assert log.count("start_step 7 was over") == 1, "and nothing else happened"
    analysed = list((tmp_path / "runs").glob("*/*/ASCEND_PROFILER_OUTPUT/trace_view.json"))
    assert [path.parts[-4] for path in analysed] == ["rank0_start14_stop14"]


def test_loop(train: Started, tmp_path: pathlib.Path) -> None:
    train("dynamic.py", "loop")
    windows = recorded_steps(tmp_path / "runs")
    assert windows["rank0_start5_stop7"] == [(number, OPERATORS) for number in (5, 6, 7)]
    assert windows["rank0_start14_stop14"] == [(14, OPERATORS)]
    # One rank, a loop: what is left of a window that came late is recorded, to its end.
    assert windows["rank0_start7_stop12"] == [(number, OPERATORS) for number in (9, 10, 11, 12)]


def test_the_program_of_the_page(
    captured: Callable[[str], list[int]], tmp_path: pathlib.Path
) -> None:
    steps = captured("MindSpore")
    assert steps == [steps[0], steps[0] + 1, steps[0] + 2]
    (window,) = recorded_steps(tmp_path / "dynprof_data").values()
    assert len({operators for _, operators in window}) == 1, "every step has the same operators"
