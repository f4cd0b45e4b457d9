from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest
from stepscope.profiler import (
    AicoreMetrics,
    ProfilerActivity,
    ProfilerLevel,
    tensorboard_trace_handler,
)
from stepscope.profiler.environment import EnvProfiler, translated

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


def test_the_end_of_mindspore_comes_behind_ours(import_with: Import) -> None:
    """MindSpore's exit handler, which was there first, runs last and calls ``analyse``."""
    program = (
        "import atexit\n"
        "from stepscope.profiler import session\n"
        "from stepscope.profiler.environment import EnvProfiler\n"
        "atexit.unregister(session._end_of_program)\n"
        "atexit.register(EnvProfiler.analyse)\n"
        "atexit.register(session._end_of_program)\n"
    )
    ended = import_with('{"start": true, "output_path": "o"}', program=program)
    assert ended.returncode == 0
    assert "nothing to stop" not in ended.stderr


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


NO_NPU = "only an Ascend NPU has these counters"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"profile_communication": 1}, ["profile_communication must be true or false, not 1"]),
        ({"op_time": "no"}, ["op_time must be true or false, not 'no'"]),
        ({"op_time": None, "profile_communication": None, "profile_framework": None}, []),
        ({"profile_framework": "all"}, ["profile_framework has no effect"]),
        ({"profile_framework": 5}, ["profile_framework must be 'all', 'time', 'memory' or null"]),
        ({"profile_framework": ["all"]}, ["profile_framework must be"]),
        ({"timeline_limit": 500}, ["timeline_limit has no effect: max_disk_gb bounds"]),
        (
            {"timeline_limit": "500"},
            ["timeline_limit must be a whole number above 0", "timeline_limit has no effect"],
        ),
        ({"timeline_limit": 0}, ["timeline_limit must be", "timeline_limit has no effect"]),
        ({"l2_cache": True}, [f"l2_cache has no effect: {NO_NPU}"]),
        ({"l2_cache": 1}, ["l2_cache must be True or False, not 1: reset to False"]),
        ({"hbm_ddr": True}, ["hbm_ddr is deprecated", f"hbm_ddr has no effect: {NO_NPU}"]),
        ({"hbm_ddr": "on"}, ["hbm_ddr must be True or False, not 'on'"]),
        ({"pcie": True}, ["pcie is deprecated", f"pcie has no effect: {NO_NPU}"]),
        ({"pcie": 0}, ["pcie must be True or False, not 0"]),
        ({"host_sys": ["cpu", "mem"]}, []),
        ({"host_sys": ["osrt"]}, ["host_sys has no effect: its osrt needs CANN"]),
        ({"host_sys": ["gpu"]}, ["host_sys must be a list of members of HostSystem"]),
        ({"host_sys": "cpu"}, ["host_sys must be a list of members of HostSystem"]),
        ({"export_type": ["text"]}, []),
        ({"export_type": "db"}, ["export_type has no effect: msprof makes databases"]),
        ({"export_type": ["xml"]}, ["export_type must be a list of members of ExportType"]),
        ({"data_process": False}, []),
        ({"data_process": "yes"}, ["data_process must be True or False, not 'yes': reset to True"]),
        ({"sync_enable": True}, []),
        ({"sync_enable": False}, ["sync_enable has no effect: it chooses how GPU operators"]),
        ({"sync_enable": 0}, ["sync_enable must be True or False, not 0: reset to True"]),
        (
            {"parallel_strategy": True},
            ["parallel_strategy has no effect: no framework that tells it is imported"],
        ),
        ({"parallel_strategy": []}, ["parallel_strategy must be True or False, not []"]),
        ({"gpu_tier": "kernels"}, ["gpu_tier has no effect: it chooses what of a GPU"]),
        ({"gpu_tier": "most"}, ["gpu_tier must be 'pulse' or 'kernels' or 'full', not 'most'"]),
        ({"system_interval_ms": 10}, []),
        ({"system_interval_ms": "10"}, ["system_interval_ms must be a whole number"]),
    ],
)
def test_what_an_option_does_is_said_once(
    options: dict[str, Any],
    said: list[str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    recwarn: pytest.WarningsRecorder,
) -> None:
    monkeypatch.setenv("MS_PROFILER_OPTIONS", json.dumps({"start": True, **options}))
    monkeypatch.setattr(EnvProfiler, "_session", None)
    monkeypatch.setattr(
        "stepscope.profiler.environment.tensorboard_trace_handler",
        lambda: tensorboard_trace_handler(analyse_flag=False),
    )
    monkeypatch.setattr(EnvProfiler, "_keep_from_mindspore", classmethod(lambda cls: None))
    EnvProfiler.start()
    EnvProfiler.analyse()
    lines = [str(warning.message) for warning in recwarn]
    lines += [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    for text in said:
        assert len([line for line in lines if text in line]) == 1, (text, lines)
    assert len(lines) == len(said), lines
