"""Reports on generated runs: the planted cause is found first, and nothing on a healthy run."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(
    os.environ.get("STEPSCOPE_BINARY_DIR", pathlib.Path(__file__).parents[2] / "build")
)


def generated_report(folder: pathlib.Path, *options: str) -> dict:
    run = folder / "run"
    subprocess.run(
        [BUILD / "stepscope-generate", "--output", run, "--steps", "6", *options],
        check=True,
        capture_output=True,
    )
    told = subprocess.run(
        [BUILD / "stepscope", "report", run, "--json"], check=True, capture_output=True, text=True
    )
    return json.loads(told.stdout)


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["--ranks", "2", "--slow-data", "20"], "slow_input"),
        (["--ranks", "8", "--straggler", "5:1.4"], "slow_rank"),
        (["--ranks", "2", "--tiny-kernels"], "launch_bound"),
        (["--ranks", "2", "--sync-points"], "sync_points"),
        (["--ranks", "8", "--slow-link", "2-3:30"], "slow_link"),
        (["--ranks", "1", "--memory-leak"], "memory_leak"),
        (["--ranks", "2", "--low-mfu"], "low_mfu"),
    ],
    ids=[
        "slow data",
        "slow rank",
        "tiny kernels",
        "sync points",
        "slow link",
        "memory leak",
        "low mfu",
    ],
)
def test_the_planted_cause_is_found_first(
    tmp_path: pathlib.Path, options: list[str], rule: str
) -> None:
    findings = generated_report(tmp_path, *options)["findings"]
    assert [finding["rule"] for finding in findings][:1] == [rule], findings


def test_the_slow_rank_is_named(tmp_path: pathlib.Path) -> None:
    report = generated_report(tmp_path, "--ranks", "8", "--straggler", "5:1.4")
    assert report["findings"][0]["rank"] == 5


def test_the_slow_link_is_named(tmp_path: pathlib.Path) -> None:
    report = generated_report(tmp_path, "--ranks", "8", "--slow-link", "2-3:30")
    evidence = json.loads(report["findings"][0]["evidence"])
    assert (evidence["src_rank"], evidence["dst_rank"]) == (2, 3)


def test_nothing_is_found_on_a_healthy_run(tmp_path: pathlib.Path) -> None:
    report = generated_report(tmp_path, "--ranks", "4", "--healthy")
    assert report["findings"] == []
    assert report["reasons"]


def test_parts_of_a_step_add_up(tmp_path: pathlib.Path) -> None:
    for row in generated_report(tmp_path, "--ranks", "2")["step_budget"]:
        parts = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")
        causes = ("queued_ns", "input_ns", "sync_ns", "gc_ns", "host_ns", "other_ns")
        assert sum(row[part] for part in parts) == row["step_ns"]
        assert sum(row[cause] for cause in causes) == row["idle_ns"]


def test_a_step_has_one_length(tmp_path: pathlib.Path) -> None:
    report = generated_report(tmp_path, "--ranks", "2", "--slow-data", "3")
    lengths = {(row["rank"], row["step"]): row["work_dur_ns"] for row in report["steps"]}
    assert any(row["work_dur_ns"] != row["dur_ns"] for row in report["steps"]), (
        "nothing to tell apart"
    )
    for table, column in (("step_budget", "step_ns"), ("step_times", "dur_ns")):
        assert {(row["rank"], row["step"]): row[column] for row in report[table]} == lengths, table
    for rank in (0, 1):
        counted = [
            row["work_dur_ns"] for row in report["steps"] if row["rank"] == rank and row["averaged"]
        ]
        assert len(counted) == 5
        mean = sum(counted) / len(counted)
        assert report["ranks"][rank]["step_ns"] == pytest.approx(mean, rel=1e-12)
        (average,) = [
            row for row in report["step_trace"] if row["rank"] == rank and row["step"] is None
        ]
        assert average["dur_ns"] == pytest.approx(mean, abs=1)
        assert report["pipeline"][rank]["step_ns"] == sum(counted)


def test_waiting_for_data_is_the_same_in_the_budget_and_in_the_verdict(
    tmp_path: pathlib.Path,
) -> None:
    report = generated_report(tmp_path, "--ranks", "1", "--slow-data", "20")
    counted = [row for row in report["step_budget"] if row["averaged"]]
    share = sum(row["input_ns"] for row in counted) / sum(row["step_ns"] for row in counted)
    assert report["pipeline"][0]["wait_share"] == pytest.approx(share, rel=0.02)
    assert share > 0.5


def test_peak_rates_can_be_given(tmp_path: pathlib.Path) -> None:
    report = generated_report(tmp_path, "--ranks", "1")
    assert report["findings"] == []
    ask = [BUILD / "stepscope", "report", tmp_path / "run", "--json", "--peaks"]
    # A device that could do a hundred times as much would be used badly.
    told = subprocess.run([*ask, "bfloat16=1e17"], check=True, capture_output=True, text=True)
    assert [finding["rule"] for finding in json.loads(told.stdout)["findings"]] == ["low_mfu"]
    wrong = subprocess.run([*ask, "bf16=1e17"], capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "no such name" in wrong.stderr
