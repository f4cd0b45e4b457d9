"""The example that ./run shows: four ranks train with NumPy, and the report names the slow one."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
BUILD = pathlib.Path(os.environ.get("STEPSCOPE_BINARY_DIR", ROOT / "build"))

pytest.importorskip("stepscope._record", reason="the example needs the Python package")


def test_the_report_names_the_slow_rank(tmp_path: pathlib.Path) -> None:
    runs = tmp_path / "runs"
    example = ROOT / "examples" / "train_numpy.py"
    command = [sys.executable, example, "--output", runs, "--steps", "20", "--slow-rank", "1"]
    subprocess.run(command, check=True, cwd=tmp_path, timeout=120)
    told = subprocess.run(
        [BUILD / "stepscope", "report", runs, "--json"], check=True, capture_output=True, text=True
    )
    report = json.loads(told.stdout)
    assert {row["rank"] for row in report["ranks"]} == {0, 1, 2, 3}
    assert len([row for row in report["steps"] if row["rank"] == 0]) == 20
    slow = [finding for finding in report["findings"] if finding["rule"] == "slow_rank"]
    assert [finding["rank"] for finding in slow] == [1]
    assert {row["type"] for row in report["operator_types"]} >= {"Conv2D", "MatMulGrad", "Momentum"}
    assert report["communication"]
    assert report["pipeline_stages"]
