"""Ascend NPUs: from Profiler's parameters to CANN's calls, and from its raw data to a store.

CANN and msprof are stand-ins of ours (tests/support), which keep a log of what they are asked for.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import stepscope
from fake_cann import FAKE_MSPROF, PROGRAM, calls_of
from stepscope.profiler import msprof


def run(program: str, environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM + program],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    assert not [line for line in lines if line.startswith("ERROR")], done.stderr
    return lines


PARAMETERS: list[tuple[str, str, list[str]]] = [
    ("", "metrics=255 types=0x801", []),
    ("profiler_level=ProfilerLevel.LevelNone, mstx=True", "metrics=255 types=0x80", []),
    ("profiler_level=ProfilerLevel.Level1", "metrics=1 types=0x27", []),
    ("profiler_level=ProfilerLevel.Level2", "metrics=1 types=0x12f", []),
    *(
        (
            f"profiler_level=ProfilerLevel.Level1, aic_metrics=AicoreMetrics.{name}",
            f"metrics={number} types=0x27",
            [],
        )
        for name, number in [
            ("ArithmeticUtilization", 0),
            ("PipeUtilization", 1),
            ("Memory", 2),
            ("MemoryL0", 3),
            ("ResourceConflictRatio", 4),
            ("MemoryUB", 5),
            ("L2Cache", 6),
            ("MemoryAccess", 8),
        ]
    ),
    ("l2_cache=True", "metrics=255 types=0x811", []),
    ("profile_memory=True", "metrics=255 types=0x1801", ["3 100"]),
    ("mstx=True", "metrics=255 types=0x881", []),
    ("hbm_ddr=True", "metrics=255 types=0x801", ["3 100"]),
    ("pcie=True", "metrics=255 types=0x801", ["6 50"]),
    ("sys_io=True", "metrics=255 types=0x801", ["5 100"]),
    ("sys_interconnection=True", "metrics=255 types=0x801", ["6 50"]),
    (
        "host_sys=[HostSystem.OSRT, HostSystem.CPU, HostSystem.MEM, HostSystem.DISK, "
        "HostSystem.NETWORK]",
        "metrics=255 types=0x801",
        ["8 cpu,mem,disk,network,osrt"],
    ),
]


def test_every_parameter_becomes_its_flag(cann: dict[str, str], tmp_path: Path) -> None:
    program = "".join(
        f"Profiler(activities=[CPU, NPU], {options}).stop()\n" for options, _, _ in PARAMETERS
    )
    lines = run(program, {**cann, "PYTHONWARNINGS": "ignore"})
    assert not [line for line in lines if "has no effect" in line]
    seen: list[tuple[str, list[str]]] = []
    settings: list[str] = []
    for call in calls_of(tmp_path):
        name, _, arguments = call.partition(" ")
        if name == "aclprofSetConfig":
            settings.append(arguments)
        elif name == "aclprofCreateConfig":
            seen.append((arguments.partition(" ")[2], settings))
        elif name == "aclprofFinalize":
            settings = []
    assert seen == [(config, expected) for _, config, expected in PARAMETERS]


def test_windows_of_a_schedule_and_the_device_of_the_rank(
    cann: dict[str, str], tmp_path: Path
) -> None:
    lines = run(
        "with profile(activities=[CPU, NPU], schedule=schedule(wait=0, active=1, repeat=3)) as p:\n"
        "    for _ in range(5): p.step()\n",
        {**cann, "RANK_ID": "3", "DEVICE_ID": "1"},
    )
    assert not [line for line in lines if "npu" in line and line.startswith("WARNING")]
    runs = sorted((tmp_path / "data").glob("*_ascend_ms"))
    assert [len(list(path.glob("PROF_*/device_1/data"))) for path in runs] == [1, 1, 1]
    assert calls_of(tmp_path).count("aclprofStart") == 3
    with stepscope.open(runs[0]) as opened:
        assert [rank.rank for rank in opened.ranks] == [3]
        found = {finding.code: finding.example or "" for finding in opened.quality}
        assert "msprof --export=on" in found["not_understood"]


def test_without_the_npu_among_the_activities_cann_is_left_alone(
    cann: dict[str, str], tmp_path: Path
) -> None:
    run("Profiler(activities=[CPU]).stop()", cann)
    assert not (tmp_path / "calls").exists()


def test_a_missing_cann_is_said_once_and_kept(cann: dict[str, str], tmp_path: Path) -> None:
    lines = run(
        "with profile(activities=[CPU, NPU], schedule=schedule(wait=0, active=1, repeat=3)) as p:\n"
        "    for _ in range(5): p.step()\n",
        {**cann, "LD_LIBRARY_PATH": ""},
    )
    assert [line for line in lines if "libascendcl.so" in line] == [
        "WARNING npu: cannot record the NPU: CANN's libascendcl.so was not found (install CANN "
        "and source its set_env.sh before the program starts)"
    ]
    with stepscope.open(min((tmp_path / "data").iterdir())) as opened:
        found = {finding.code: finding.example or "" for finding in opened.quality}
        assert "CANN's libascendcl.so was not found" in found["source_left_out"]


def test_a_failing_cann_does_not_stop_the_recording(cann: dict[str, str], tmp_path: Path) -> None:
    for failure in ("aclprofInit=507899", "aclprofStop=507899"):
        (tmp_path / "told").write_text(f"fail {failure}\n")
        lines = run(
            "Profiler(activities=[CPU, NPU]).stop()",
            {**cann, "FAKE_ASCENDCL_TOLD": str(tmp_path / "told")},
        )
        assert len([line for line in lines if "CANN code 507899" in line]) == 1
    for path in (tmp_path / "data").glob("*_ascend_ms"):
        with stepscope.open(path) as opened:
            codes = {finding.code for finding in opened.quality}
            assert codes & {"source_left_out", "not_honoured"}
            assert "ended_abnormally" not in codes


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """A run directory with CANN's raw data."""
    directory = tmp_path / "host_1_20240102030405006_ascend_ms"
    folder = directory / "PROF_000001_20240102030405006_ABCDEF"
    for name in ("host/data", "device_0/data"):
        (folder / name).mkdir(parents=True)
    return directory


def with_msprof(monkeypatch: pytest.MonkeyPatch, mode: str = "") -> None:
    monkeypatch.setenv("PATH", f"{FAKE_MSPROF}:{os.environ['PATH']}")
    monkeypatch.setenv("FAKE_MSPROF", mode)


def ask_for(directory: Path, **parameters: Any) -> None:
    asked = {"export_type": ["text"], "profiler_level": "Level0", **parameters}
    text = json.dumps({"profiler_parameters": asked})
    (directory / "profiler_info_0.json").write_text(text)


def log_of(directory: Path) -> str:
    return (directory / "logs/msprof.log").read_text()


def test_the_analysis_exports_what_was_recorded(cann: dict[str, str], tmp_path: Path) -> None:
    environment = {**cann, "PATH": f"{FAKE_MSPROF}:{os.environ['PATH']}"}
    lines = run(
        "p = Profiler(activities=[CPU, NPU], profiler_level=ProfilerLevel.Level1)\np.analyse()\n",
        environment,
    )
    assert not [line for line in lines if line.startswith("WARNING")]
    (directory,) = (tmp_path / "data").glob("*_ascend_ms")
    (folder,) = directory.glob("PROF_*")
    assert log_of(directory).splitlines() == [
        f"$ {FAKE_MSPROF}/msprof --export=on --output={folder}",
        f"exporting --export=on --output={folder}",
        f"$ {FAKE_MSPROF}/msprof --analyze=on --rule=communication,communication_matrix "
        f"--output={folder}",
        f"exporting --analyze=on --rule=communication,communication_matrix --output={folder}",
    ]
    assert not (folder / "host/sqlite").exists()
    assert not (folder / "host/data/all_file.complete").exists()
    with stepscope.open(directory) as opened:
        assert len(opened.ranks) == 1
        assert opened.ranks[0].device_kind == "Ascend NPU"
        kernels = opened.table("kernels", columns=["name", "dur"])
        assert kernels["name"].tolist() == ["MatMul_1"]
        assert kernels["dur"].tolist() == [10500]
        assert "not_understood" not in {finding.code for finding in opened.quality}


def test_without_msprof_the_command_is_said(cann: dict[str, str], tmp_path: Path) -> None:
    lines = run("p = Profiler(activities=[CPU, NPU])\np.analyse()\n", cann)
    (directory,) = (tmp_path / "data").glob("*_ascend_ms")
    (folder,) = directory.glob("PROF_*")
    said = [line for line in lines if "--export" in line]
    assert len(said) == 1
    assert said[0].startswith("WARNING")
    assert said[0].endswith(f"run: msprof --export=on --output={folder}")
    assert any("is ready" in line for line in lines)
    # Exported elsewhere, it is read as it is.
    subprocess.run([FAKE_MSPROF / "msprof", "--export=on", f"--output={folder}"], check=True)
    with pytest.warns(stepscope.StepscopeWarning, match="the input changed"):
        opened = stepscope.open(directory)
    with opened:
        assert opened.table("kernels")["name"].tolist() == ["MatMul_1"]


def test_exported_once(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_msprof(monkeypatch)
    assert list(msprof.export(raw)) == []
    before = log_of(raw)
    assert list(msprof.export(raw)) == []
    assert log_of(raw) == before


def test_forms_and_left_overs(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_msprof(monkeypatch)
    ask_for(raw, export_type=["text", "db"])
    assert list(msprof.export(raw, simplify=False)) == []
    (folder,) = raw.glob("PROF_*")
    assert (folder / "host/sqlite").is_dir()
    assert (folder / "mindstudio_profiler_log").is_dir()
    assert log_of(raw).count("--type=db") == 2  # the command, and what it says itself
    assert list(folder.glob("msprof_*.db"))


def test_a_failing_msprof_leaves_no_half_export(raw: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_msprof(monkeypatch, "fail")
    (said,) = msprof.export(raw)
    assert "msprof ended with 3" in said
    assert str(raw / "logs/msprof.log") in said
    assert "disk is full" in log_of(raw)
    (folder,) = raw.glob("PROF_*")
    assert not (folder / "mindstudio_profiler_output").exists()
    with_msprof(monkeypatch)
    assert list(msprof.export(raw)) == []
    # What follows the export may fail without taking it back.
    shutil.rmtree(folder / "mindstudio_profiler_output")
    ask_for(raw, profiler_level="Level2")
    with_msprof(monkeypatch, "no_collectives")
    (said,) = msprof.export(raw)
    assert "msprof ended with 4" in said
    assert (folder / "mindstudio_profiler_output").exists()


def test_a_hanging_msprof_is_ended_with_its_children(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_msprof(monkeypatch, "hang")
    monkeypatch.setenv("FAKE_MSPROF_CHILD", str(tmp_path / "child"))
    for seconds in (3, 15, 75):  # until it has come to hang, on a busy machine
        monkeypatch.setenv("STEPSCOPE_MSPROF_TIMEOUT_S", str(seconds))
        (said,) = msprof.export(raw)
        assert f"more than {seconds} s" in said
        if (tmp_path / "child").exists():
            break
    child = Path(f"/proc/{(tmp_path / 'child').read_text()}/stat")
    until = time.monotonic() + 60
    while child.exists() and child.read_text().split()[2] != "Z" and time.monotonic() < until:
        time.sleep(0.01)
    assert not child.exists() or child.read_text().split()[2] == "Z"


def test_steps_go_through_canns_script(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_msprof(monkeypatch)
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path))
    (said,) = msprof.export(raw, [2, 3])
    assert "step_list has no effect" in said
    script = tmp_path / "tools/profiler/profiler_tool/analysis/msprof/msprof.py"
    script.parent.mkdir(parents=True)
    script.write_text("import sys\nprint('script', *sys.argv[1:])\n")
    assert list(msprof.export(raw, [2, 3])) == []
    (folder,) = raw.glob("PROF_*")
    chosen = "--model-id 4294967295 --iteration-id 2 --iteration-count 2"
    assert log_of(raw).splitlines()[-3:] == [
        f"script export timeline -dir {folder} {chosen}",
        f"$ python3 {script} export summary -dir {folder} {chosen}",
        f"script export summary -dir {folder} {chosen}",
    ]
