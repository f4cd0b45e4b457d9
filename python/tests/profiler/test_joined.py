"""A program's own profilers inside of ``stepscope record``: they join its recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

import fake_record
import pytest
import stepscope
from stepscope import _record
from stepscope.profiler import outer

pytestmark = pytest.mark.skipif(
    _record.Recording is fake_record.Recording, reason="needs the native recorder"
)
RecordProgram = Callable[..., str]

SCHEDULE = """
import logging, time
logging.basicConfig(level=logging.INFO)
import stepscope

seen = []
def ready(profiler):
    run = list(__import__("pathlib").Path("runs").glob("*_ascend_ms"))[0]
    with stepscope.open(str(run)) as opened:
        seen.append(opened.steps["step"].tolist())

with stepscope.profile(
    activities=[stepscope.ProfilerActivity.CPU],
    schedule=stepscope.schedule(wait=1, warmup=1, active=2, repeat=2),
    on_trace_ready=ready,
) as profiler:
    profiler.add_metadata("model", "small")
    for _ in range(10):
        with stepscope.record_function("work"):
            time.sleep(0.002)
        profiler.step()
    profiler.add_metadata("late", "behind the last window")
    time.sleep(0.01)
print("seen", seen)
"""


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


def the_run(folder: Path) -> Path:
    runs = list((folder / "runs").glob("*_ascend_ms"))
    assert len(runs) == 1
    return runs[0]


def test_steps_ranges_and_windows_are_in_the_outer_run(
    record_program: RecordProgram, tmp_path: Path
) -> None:
    said = record_program("-c", SCHEDULE)
    assert said.count("joins it") == 1
    assert not (tmp_path / "data").exists(), "no run of its own"
    with stepscope.open(tmp_path / "runs") as run:
        assert rows(run, "select step from steps order by step")[:10] == [(n,) for n in range(10)]
        assert rows(run, "select count(*) from slices where name = 'work'") == [(10,)]
        about = json.loads(run.query("select versions from ranks")["versions"][0])
    first, second = about["windows"]
    assert first["ended_ns"] <= second["began_ns"]
    assert first["step_times"]["with_recording"]["steps"] == 2
    assert second["step_times"]["without_recording"]["steps"] == 1
    assert about["metadata"]["model"] == "small"
    assert "the run is complete" not in said
    late = json.loads((the_run(tmp_path) / "profiler_metadata.json").read_text())["late"]
    assert late == "behind the last window"
    written = json.loads((the_run(tmp_path) / "profiler_info_0.json").read_text())
    assert written["profiler_parameters"]["schedule"]["active"] == 2


def test_a_handler_finds_its_window_in_the_file(record_program: RecordProgram) -> None:
    said = record_program("-c", SCHEDULE)
    assert "seen [[0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7]]" in said


def test_profiler_without_a_schedule(record_program: RecordProgram, tmp_path: Path) -> None:
    program = """
import stepscope, time
profiler = stepscope.Profiler(output_path="own", max_disk_gb=1, with_stack=True)
for _ in range(3):
    until = time.thread_time() + 0.05
    while time.thread_time() < until: pass
    profiler.step()
profiler.analyse()
stepscope.Profiler.offline_analyse("own")
second = stepscope.Profiler()
second.stop()
"""
    said = record_program("-c", program)
    assert "failed" not in said, "the program's own folder is not there, and need not be"
    assert "max_disk_gb has no effect" in said
    assert "has not been initialized" not in said
    assert not (tmp_path / "own").exists()
    with stepscope.open(tmp_path / "runs") as run:
        assert rows(run, "select step from steps order by step")[:3] == [(0,), (1,), (2,)]
        assert rows(run, "select count(*) > 0 from slices where cat = 'python_sample'") == [(True,)]
        about = json.loads(run.query("select versions from ranks")["versions"][0])
        assert len(about["windows"]) == 2


def test_a_forked_child_records_on_its_own(record_program: RecordProgram, tmp_path: Path) -> None:
    program = """
import os, stepscope
stepscope.Profiler(start_profile=False).start()
if os.fork() == 0:
    profiler = stepscope.Profiler(output_path="child")
    profiler.stop()
    os._exit(0)
os.wait()
"""
    record_program("-c", program)
    assert len(list((tmp_path / "child").glob("*_ascend_ms"))) == 1
    the_run(tmp_path)


def test_the_command_line_chooses_bounds_and_interval(
    record_program: RecordProgram, tmp_path: Path
) -> None:
    program = """
import stepscope, time
with stepscope.profile(gpu_tier="full", system_interval_ms=1):
    time.sleep(1.5)
"""
    options = ("--system-interval-ms", "20", "--max-disk-gb", "0.5", "--max-host-mb", "64")
    said = record_program("-c", program, options=options)
    for name in ("gpu_tier", "system_interval_ms"):
        assert f"{name} has no effect: the recording of `stepscope record` has its own" in said
    assert "had no effect" not in said
    with stepscope.open(tmp_path / "runs") as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])
        assert about["recording"]["max_disk_mb"] == 512
        assert about["recording"]["max_host_mb"] == 64
        sql = "select count(*) from counters c join tracks t using (rank, track) where "
        sql += "t.thread = 'machine cpu system %'"
        ((samples,),) = rows(run, sql)
    assert samples > 8, "one at a second each would be three"
    info = json.loads((the_run(tmp_path) / "profiler_info_0.json").read_text())
    assert "gpu" not in info["stepscope"]["sources"], "the outer recording's are its own"


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["-m", "torch.distributed.run", "train.py"], "torch.distributed.run"),
        (["-X", "importtime", "-Werror", "-um", "torch._inductor.compile_worker"],
         "torch._inductor.compile_worker"),
        (["/bin/torchrun", "-m", "package.train"], ""),
        (["-W", "error", "train.py", "-m", "medium"], ""),
        (["-c", "print(1)", "-m", "x"], ""),
        (["-m"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_which_module_python_runs(words: list[str], module: str) -> None:
    assert outer._module(words) == module


def test_a_run_without_a_profiler_has_its_info_too(
    record_program: RecordProgram, tmp_path: Path
) -> None:
    program = "import stepscope._record, os; stepscope._record.mark('here')"
    record_program("-c", program, RANK="3")
    info = json.loads((the_run(tmp_path) / "profiler_info_3.json").read_text())
    assert info["ms_profiler_info"] == {"rank_id": "3"}
    assert info["stepscope"]["complete"] is True
    assert info["stepscope"]["recorded"]["events"] == 1


def test_options_that_nobody_reads_are_named(record_program: RecordProgram) -> None:
    said = record_program("-c", "pass", STEPSCOPE_OPTIONS='{"start": true}')
    assert "nothing was recorded" in said
    assert "STEPSCOPE_OPTIONS had no effect: it is read when a Python program imports" in said
    said = record_program("-c", "pass", MS_PROFILER_OPTIONS='{"start": false}')
    assert "had no effect" not in said


def test_options_of_the_environment_join_too(record_program: RecordProgram, tmp_path: Path) -> None:
    said = record_program("-c", "import stepscope", STEPSCOPE_OPTIONS='{"start": true}')
    assert "joins" not in said, "said to the log only"
    assert "had no effect" not in said
    with stepscope.open(tmp_path / "runs") as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])
        assert len(about["windows"]) == 1
