"""The behaviour table with MindSpore at work; python/tests/profiler has it without."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
from typing import Any, Callable

import pytest
import stepscope

pytestmark = pytest.mark.mindspore


def test_the_whole_table(
    shared_data: pathlib.Path, tmp_path: pathlib.Path, own_environment: dict[str, str]
) -> None:
    table = shared_data / "mindspore_cpu"
    done = subprocess.run(
        [
            sys.executable, table / "conformance.py", "--api", "stepscope", "--jobs", "4",
            "--compare", table / "conformance.json",
        ],
        cwd=tmp_path,
        env=own_environment,
        text=True,
        capture_output=True,
        timeout=3000,
    )  # fmt: skip
    assert "150 scenarios, " in done.stdout, done.stdout + done.stderr
    assert "hangs 0, died 0" in done.stdout
    assert "\n0 scenarios differ" in done.stdout, done.stdout


def test_operators_of_two_segments_in_mindspores_own_text(
    train: Callable[..., dict[str, Any]], tmp_path: pathlib.Path
) -> None:
    train("segments.py")
    runs = sorted((tmp_path / "o").glob("*_ascend_ms"))
    assert len(runs) == 2
    for run in runs:
        with stepscope.open(run) as opened:
            recorded = opened.table("ops", columns=["name", "ts", "dur"])
        rows = sorted(zip(*(recorded[name].tolist() for name in ("name", "ts", "dur"))))
        assert len(rows) == 6, "three times two operators"
        text = (run / "ASCEND_PROFILER_OUTPUT" / "cpu_op_execute_timestamp_0.txt").read_text()
        written = []
        for line in text.splitlines():
            name, kind, calls = line.split(";")
            assert kind == "HostCpuOps"
            for call in calls.split():
                start, milliseconds, thread = call.split(",")
                assert thread == "0"
                written.append((name, int(start), int(milliseconds.replace(".", ""))))
        assert sorted(written) == rows


@pytest.mark.parametrize("mode", ["graph", "pynative"])
def test_op_analyse(train: Callable[..., dict[str, Any]], mode: str) -> None:
    truth = train("op_analyse.py", mode)
    answer = json.loads(truth["two"])
    assert sorted(answer) == ["BiasAdd", "ReLU", "device_id"]
    assert sum(row["op_occurrences"] for row in answer["BiasAdd"]) == 3 * 3
    shapes = [row["input_shape"] for row in answer["BiasAdd"]]
    assert any(shape.startswith("input_0:(16,128),input_1:(128)") for shape in shapes)
    for row in answer["ReLU"]:
        average = row["op_total_time(us)"] / row["op_occurrences"]
        assert row["op_avg_time(us)"] == pytest.approx(average, abs=1e-3)
    assert truth["none"] == [None] * 4
