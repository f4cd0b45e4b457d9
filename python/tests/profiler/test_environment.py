from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest
from stepscope.profiler import AicoreMetrics, ProfilerActivity, ProfilerLevel
from stepscope.profiler.environment import translated

FAKE = pathlib.Path(__file__).parent / "fake"

Import = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def import_with() -> Import:
    """Imports stepscope in a process with options in its environment."""

    def start(options: str, variable: str = "MS_PROFILER_OPTIONS", program: str = "") -> Any:
        paths = [str(FAKE), *filter(None, [os.environ.get("PYTHONPATH")])]
        return subprocess.run(
            [sys.executable, "-c", f"import stepscope\n{program}"],
            env={**os.environ, variable: options, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
        )

    return start


@pytest.mark.parametrize("variable", ["MS_PROFILER_OPTIONS", "STEPSCOPE_OPTIONS"])
def test_records_the_program(
    variable: str, import_with: Import, runs: Callable[..., list[pathlib.Path]]
) -> None:
    ended = import_with('{"start": true, "output_path": "o", "with_stack": true}', variable)
    assert ended.returncode == 0
    (run,) = runs("o")
    info = json.loads((run / "profiler_info_0.json").read_text())
    assert info["profiler_parameters"]["with_stack"] is True
    assert info["stepscope"]["recorded"]
    assert "end of the program" not in ended.stderr


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("", ""),
        ('{"start": true, ', "MS_PROFILER_OPTIONS is not JSON, nothing is recorded"),
        ("[1]", "MS_PROFILER_OPTIONS must be a JSON object"),
        ('"x"', "MS_PROFILER_OPTIONS must be a JSON object"),
        ("{}", "MS_PROFILER_OPTIONS must be a JSON object"),
        ('{"start": false}', ""),
        ('{"output_path": "o"}', ""),
        ('{"start": "false"}', "start must be true or false, not 'false'"),
        ('{"start": true, "start_profile": false}', ""),
        ('{"start": true, "output_path": "a:b"}', "invalid path 'a:b'"),
    ],
)
def test_records_nothing(
    options: str, line: str, import_with: Import, tmp_path: pathlib.Path
) -> None:
    ended = import_with(options)
    assert ended.returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert line in ended.stderr
    assert ended.stderr.count("\n") == bool(line)


def test_wrong_values_are_replaced(
    import_with: Import, runs: Callable[..., list[pathlib.Path]]
) -> None:
    options = {"start": True, "output_path": 5, "activities": ["XPU"], "profiler_level": "Level9"}
    ended = import_with(json.dumps(options))
    for name in ("output_path", "activities", "profiler_level"):
        assert f"{name} must be" in ended.stderr
    assert len(runs()) == 1


def test_data_loader_workers_are_not_recorded(
    import_with: Import, runs: Callable[..., list[pathlib.Path]]
) -> None:
    program = (
        "import multiprocessing\n"
        "if __name__ == '__main__':\n"
        "    worker = multiprocessing.get_context('spawn').Process(target=stepscope.__dir__)\n"
        "    worker.start()\n"
        "    worker.join()\n"
    )
    assert import_with('{"start": true}', program=program).returncode == 0
    assert len(runs()) == 1


def test_import_is_cheap() -> None:
    program = "import sys; print('numpy' in sys.modules, 'stepscope.profiler' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", f"import stepscope\n{program}"], capture_output=True, text=True
    )
    assert ended.stdout == "False False\n"


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"activities": ["CPU", "GPU"]}, {"activities": list(ProfilerActivity)[::2]}),
        ({"activities": ["CPU", "XPU"]}, {"activities": [ProfilerActivity.CPU, "XPU"]}),
        ({"aic_metrics": "None"}, {"aic_metrics": AicoreMetrics.AiCoreNone}),
        ({"aic_metrics": "AiCoreNone"}, {"aic_metrics": AicoreMetrics.AiCoreNone}),
        ({"aicore_metrics": -1}, {"aicore_metrics": AicoreMetrics.AiCoreNone}),
        (
            {"aicore_metrics": 4},
            {
                "aicore_metrics": AicoreMetrics.ResourceConflictRatio,
                "profiler_level": ProfilerLevel.Level1,
            },
        ),
        ({"aicore_metrics": 7}, {"aicore_metrics": 7}),
        ({"profile_communication": True}, {"profiler_level": ProfilerLevel.Level1}),
        ({"op_time": False}, {"activities": [ProfilerActivity.CPU]}),
        ({"profile_framework": "all", "op_time": True, "schedule": 1}, {}),
    ],
)
def test_options_of_all_generations(options: dict[str, Any], given: dict[str, Any]) -> None:
    assert translated({"start": True, **options}) == given
