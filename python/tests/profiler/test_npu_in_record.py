"""Ascend NPUs inside of ``stepscope record``, with a stand-in for CANN."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Callable

import pytest
import stepscope
from fake_cann import FAKE_MSPROF, PROGRAM, calls_of

RecordProgram = Callable[..., str]


def the_run(folder: Path) -> Path:
    (found,) = (folder / "runs").glob("*_ascend_ms")
    return found


def test_windows_inside_of_stepscope_record(
    cann: dict[str, str], tmp_path: Path, record_program: RecordProgram
) -> None:
    """The recording goes on around them, the NPU is recorded in them."""
    program = (
        "with profile(activities=[CPU, NPU], profile_memory=True,\n"
        "             schedule=schedule(wait=1, active=1, repeat=2)) as p:\n"
        "    for _ in range(6): p.step()\n"
    )
    said = record_program("-c", PROGRAM + program, **{**cann, "DEVICE_ID": "1"})
    assert "Ascend NPU 1" in said
    assert "ERROR" not in said
    calls = [call.split(" ")[0] for call in calls_of(tmp_path)]
    assert [call for call in calls if call in ("aclprofStart", "aclprofStop")] == [
        "aclprofStart", "aclprofStop", "aclprofStart", "aclprofStop",
    ]  # fmt: skip
    folders = sorted(the_run(tmp_path).glob("PROF_*"))
    assert [len(list(folder.glob("device_1/data"))) for folder in folders] == [1, 1]
    for folder in folders:
        subprocess.run([FAKE_MSPROF / "msprof", "--export=on", f"--output={folder}"], check=True)
    with stepscope.open(tmp_path / "runs") as opened:
        assert [rank.rank for rank in opened.ranks] == [0, 0], "windows of one rank"
        assert opened.table("kernels")["name"].tolist() == ["MatMul_1", "MatMul_1"]


def test_stepscope_record_without_a_profiler_in_the_program(
    cann: dict[str, str], tmp_path: Path, record_program: RecordProgram
) -> None:
    (tmp_path / "torch_npu.py").write_text("name = 'a stand-in'\n")
    program = (
        "import importlib.util\n"
        "assert importlib.util.find_spec('torch_npu')\n"  # as libraries ask before they import
        "import torch_npu\n"
        "assert torch_npu.name == 'a stand-in' and torch_npu.__loader__.get_source('torch_npu')\n"
        "import stepscope\n"
        "with stepscope.record_function('here'): pass\n"
    )
    said = record_program("-c", program, options=("--npu", "level1"), **cann)
    assert "Ascend NPU 0" in said
    config = [call for call in calls_of(tmp_path) if call.startswith("aclprofCreateConfig")]
    assert [call.partition("metrics=")[2] for call in config] == ["1 types=0x27"]
    assert calls_of(tmp_path)[-1] == "aclprofFinalize", "before the program's end"
    assert len(list(the_run(tmp_path).glob("PROF_*"))) == 1
    with stepscope.open(the_run(tmp_path)) as opened:
        assert "here" in opened.query("select name from slices")["name"].tolist()


def test_a_window_leaves_an_npu_alone_that_is_recorded_all_the_time(
    cann: dict[str, str], tmp_path: Path, record_program: RecordProgram
) -> None:
    (tmp_path / "torch_npu.py").touch()
    program = "import torch_npu\nProfiler(activities=[CPU, NPU]).stop()\n"
    said = record_program("-c", PROGRAM + program, options=("--npu", "level0"), **cann)
    assert "being recorded already" not in said
    assert calls_of(tmp_path).count("aclprofStart") == 1


@pytest.mark.parametrize("options", [(), ("--npu", "level0")])
def test_stepscope_record_without_cann(
    cann: dict[str, str],
    tmp_path: Path,
    record_program: RecordProgram,
    options: tuple[str, ...],
) -> None:
    (tmp_path / "torch_npu.py").touch()
    program = "import torch_npu\n"
    if not options:
        program += "Profiler(activities=[CPU, NPU]).stop()\n"
    variables = {**cann, "LD_LIBRARY_PATH": ""}
    said = record_program("-c", PROGRAM + program, options=options, **variables)
    assert "CANN's libascendcl.so was not found" in said
    with stepscope.open(the_run(tmp_path)) as opened:
        found = {finding.code: finding.example or "" for finding in opened.quality}
        assert "CANN's libascendcl.so was not found" in found["source_left_out"]
