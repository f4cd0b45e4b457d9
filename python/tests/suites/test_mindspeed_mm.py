"""The quick starts of docs/suites.md for MindSpeed-MM, and its configuration; without it."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any, Callable

import pytest
import stepscope
from stepscope.mindspeed_mm import Profiler

Blocks = Callable[[str, str, str], list[str]]
_HEADING = "MindSpeed-MM"


def steps_in(folder: pathlib.Path) -> list[int]:
    with stepscope.open(folder) as run:
        found: list[int] = run.query("select step from steps order by step")["step"].tolist()
        return found


def static(**parameters: Any) -> dict[str, Any]:
    usual = {"start_step": 2, "end_step": 4, "save_path": "out"}
    return {"enable": True, "profile_type": "static", "static_param": {**usual, **parameters}}


def train(profiler: Profiler, steps: int) -> None:
    profiler.start()
    for _ in range(steps):
        time.sleep(0.001)
        profiler.step()
    profiler.stop()


@pytest.fixture(autouse=True)
def own_folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("RANK", "RANK_ID", "WORLD_SIZE", "STEPSCOPE_OUTPUT"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def program(blocks: Blocks, tmp_path: pathlib.Path) -> pathlib.Path:
    (text,) = blocks("suites.md", _HEADING, "python")
    path = tmp_path / "train.py"
    path.write_text(text)
    return path


def run_it(program: pathlib.Path) -> str:
    packages = [str(pathlib.Path(stepscope.__file__).parent.parent)]
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(packages)},
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_static_quick_start(blocks: Blocks, program: pathlib.Path, tmp_path: pathlib.Path) -> None:
    tools, _ = blocks("suites.md", _HEADING, "json")
    (tmp_path / "tools.json").write_text(tools)
    run_it(program)
    assert steps_in(tmp_path / "npu_profiling") == [10, 11]
    (folder,) = (tmp_path / "npu_profiling").glob("*_ascend_ms")
    used = json.loads((folder / "profiler_info_0.json").read_text())["profiler_parameters"]
    assert used["profiler_level"] == "Level1"
    assert used["data_simplification"] is False
    assert any((folder / "ASCEND_PROFILER_OUTPUT").iterdir()), "analysed"


@pytest.mark.parametrize("names_the_file", [False, True])
def test_dynamic_quick_start(
    blocks: Blocks, program: pathlib.Path, tmp_path: pathlib.Path, names_the_file: bool
) -> None:
    """With a configuration that is there already, named by its folder or by itself."""
    text, wanted = blocks("suites.md", _HEADING, "json")
    tools = json.loads(text)
    tools["profile"]["profile_type"] = "dynamic"
    folder = tmp_path / "dyn_cfg"
    folder.mkdir()
    (folder / "profiler_config.json").write_text(wanted)
    if names_the_file:
        tools["profile"]["dynamic_param"]["config_path"] = "./dyn_cfg/profiler_config.json"
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    run_it(program)
    assert steps_in(tmp_path / "dyn_profile_data") == [10, 11]
    assert "steps 10 to 11 are recorded in" in (folder / "log" / "rank_0.log").read_text()
    assert (folder / "profiler_config.json").read_text() == wanted, "not ours to change"


def test_dynamic_from_an_empty_folder_and_edited_while_it_runs(tmp_path: pathlib.Path) -> None:
    config = {"enable": True, "profile_type": "dynamic", "dynamic_param": {"config_path": "cfg"}}
    profiler = Profiler(config)
    profiler.start()
    file = tmp_path / "cfg" / "profiler_config.json"
    keys = json.loads(file.read_text())
    assert (keys["start_step"], keys["stop_step"]) == (-1, -1)
    log = tmp_path / "cfg" / "log" / "rank_0.log"
    done = 0
    for first, last in ((100_000, 100_001), (200_000, 200_002)):
        wanted = {**keys, "start_step": first, "stop_step": last, "analyse_mode": 0}
        file.write_text(json.dumps(wanted))
        until = time.monotonic() + 300
        while not (log.exists() and f"steps {first} to {last} will be" in log.read_text()):
            assert time.monotonic() < until, "the change was not taken up"
            time.sleep(0.01)
            profiler.step()
            done += 1
        assert done < first
        for _ in range(done, last + 5):
            profiler.step()
        done = last + 5
    profiler.stop()
    output = tmp_path / "dyn_profile_data"
    assert steps_in(output / "rank0_start100000_stop100001") == [100_000, 100_001]
    assert steps_in(output / "rank0_start200000_stop200002") == [200_000, 200_001, 200_002]
    assert len(list(output.iterdir())) == 2


def test_a_configuration_with_attributes(tmp_path: pathlib.Path) -> None:
    given = static(with_cpu=True, level="level0")
    given["static_param"] = SimpleNamespace(**given["static_param"])
    train(Profiler(SimpleNamespace(**given)), 6)
    assert steps_in(tmp_path / "out") == [2, 3], "end_step is not recorded"


def test_a_loop_that_ends_in_the_window_keeps_what_there_is(tmp_path: pathlib.Path) -> None:
    train(Profiler(static(start_step=1, end_step=50)), 4)
    assert steps_in(tmp_path / "out")[:3] == [1, 2, 3]


@pytest.mark.parametrize(
    ("ranks", "rank", "records"),
    [
        ([-1], 5, True),
        (-1, 5, True),
        (None, 5, True),
        ([0, 5], 5, True),
        (5, 5, True),
        ([0, 1], 5, False),
        ([], 5, False),
        ([-1, 0], 5, False),  # exactly [-1] means all
        ("all", 5, True),
    ],
)
def test_ranks(
    ranks: object,
    rank: int,
    records: bool,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    profiler = Profiler({**static(), "ranks": ranks})
    monkeypatch.setenv("RANK", str(rank))  # known only when the process groups are made
    train(profiler, 5)
    assert (tmp_path / "out").exists() == records


@pytest.mark.parametrize("enable", [False, None, 0, "true"])
def test_not_enabled(enable: object, tmp_path: pathlib.Path) -> None:
    train(Profiler({**static(level="what"), "enable": enable, "profile_type": "?"}), 5)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({**static(), "profile_type": "both"}, "profile_type must be one of static, dynamic"),
        ({**static(), "profile_type": ["static"]}, "profile_type must be one of"),
        (static(level="Level1"), "level must be one of level0, level1, level2, not 'Level1'"),
        (static(aic_metrics_type="Memory"), "aic_metrics_type must be one of PipeUtilization"),
        ({"enable": True, "profile_type": "dynamic"}, "config_path must name a folder"),
        (
            {"enable": True, "profile_type": "dynamic", "dynamic_param": {"config_path": 5}},
            "config_path must name a folder",
        ),
    ],
)
def test_what_the_constructor_refuses(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        Profiler(given)


@pytest.mark.parametrize(
    ("parameters", "steps"),
    [
        ({"start_step": "2", "end_step": 12}, [10, 11]),
        ({"start_step": -1, "end_step": 12}, [10, 11]),
        ({"start_step": 3, "end_step": 3}, [3]),
        ({"with_stack": "yes"}, [2, 3]),
        ({"start_step": True, "end_step": 12}, [10, 11]),
    ],
)
def test_wrong_values_are_replaced_and_said(
    parameters: dict[str, Any],
    steps: list[int],
    tmp_path: pathlib.Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    profiler = Profiler(static(**parameters))
    assert "static_param" in caplog.text
    train(profiler, 15)
    assert steps_in(tmp_path / "out") == steps


def test_stop_and_step_without_a_start_do_nothing() -> None:
    profiler = Profiler(static())
    profiler.step()
    profiler.stop()
