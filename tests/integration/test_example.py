"""The example that ./run shows: four ranks train with NumPy, and the report names the slow one."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("STEPSCOPE_BINARY_DIR", ROOT / "build"))

pytest.importorskip("stepscope._record", reason="the example needs the Python package")


def report_of_the_example(folder: pathlib.Path) -> dict[str, Any]:
    folder.mkdir()
    runs = folder / "runs"
    example = ROOT / "examples" / "train_numpy.py"
    command = [sys.executable, example, "--output", runs, "--steps", "20", "--slow-rank", "1"]
    subprocess.run(command, check=True, cwd=folder, timeout=600)
    told = subprocess.run(
        [BUILD / "stepscope", "report", runs, "--json"], check=True, capture_output=True, text=True
    )
    report: dict[str, Any] = json.loads(told.stdout)
    return report


def test_the_report_names_the_slow_rank(tmp_path: pathlib.Path) -> None:
    for attempt in range(3):  # a busy machine may slow another rank down even more
        report = report_of_the_example(tmp_path / str(attempt))
        slow = [finding for finding in report["findings"] if finding["rule"] == "slow_rank"]
        if [finding["rank"] for finding in slow] == [1]:
            break
    assert {row["rank"] for row in report["ranks"]} == {0, 1, 2, 3}
    assert len([row for row in report["steps"] if row["rank"] == 0]) == 20
    assert [finding["rank"] for finding in slow] == [1]
    assert {row["type"] for row in report["operator_types"]} >= {"Conv2D", "MatMulGrad", "Momentum"}
    assert report["communication"]
    assert report["pipeline_stages"]
