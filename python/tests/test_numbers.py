"""Tables, queries and summaries against the exact numbers of the generator."""

from __future__ import annotations

import pathlib
from collections import Counter
from typing import Any

import numpy as np
import stepscope

FLAG_INSTANT = 4


def test_version_is_that_of_the_project() -> None:
    text = (pathlib.Path(__file__).resolve().parents[2] / "CMakeLists.txt").read_text()
    assert f"VERSION {stepscope.__version__}\n" in text


def test_ranks(run: stepscope.Run, expected: dict[str, Any]) -> None:
    base = expected["base_time_ns"]
    assert [rank.rank for rank in run.ranks] == [0, 1]
    for rank, answer in zip(run.ranks, expected["ranks"]):
        assert rank.world_size == 2
        assert rank.device_name == "NVIDIA H200"
        assert rank.source_format == "kineto"
        assert rank.source_path is not None
        assert rank.source_path.endswith(answer["file"])
        assert rank.first_ns == base + answer["first_ts_ns"]
        assert rank.host is None
        assert rank.rank_inferred is False


def test_steps(run: stepscope.Run, expected: dict[str, Any]) -> None:
    steps = run.steps
    rows = list(zip(*(steps[name].tolist() for name in ("rank", "step", "ts", "dur"))))
    assert rows == [
        (
            answer["rank"],
            int(step["name"].split("#")[1]),
            expected["base_time_ns"] + step["ts_ns"],
            step["dur_ns"],
        )
        for answer in expected["ranks"]
        for step in answer["steps"]
    ]
    assert steps["complete"].dtype == np.bool_
    assert steps["complete"].all()


def test_counts_and_times_of_every_category(run: stepscope.Run, expected: dict[str, Any]) -> None:
    slices = run.table("slices", columns=["rank", "dur", "cat", "flags"])
    for answer in expected["ranks"]:
        for cat, total_ns in answer["duration_ns_by_cat"].items():
            code = slices.categories("cat").tolist().index(cat)
            rows = (slices["rank"] == answer["rank"]) & (slices.codes("cat") == code)
            assert np.count_nonzero(rows) == answer["counts"][f"X/{cat}"], cat
            assert slices["dur"][rows].sum() == total_ns, cat
        of_rank = (slices["rank"] == answer["rank"]) & (slices["flags"] & FLAG_INSTANT == 0)
        assert np.count_nonzero(of_rank) == answer["slices"]


def test_sql_gives_the_same_as_the_table(run: stepscope.Run, expected: dict[str, Any]) -> None:
    sums = run.query(
        "select rank, cat, count(*) as n, sum(dur) as ns from slices "
        "where cat = 'kernel' group by all order by rank"
    )
    assert sums.columns == ("rank", "cat", "n", "ns")
    assert sums["n"].tolist() == [answer["kernels"]["count"] for answer in expected["ranks"]]
    assert sums["ns"].tolist() == [answer["kernels"]["total_ns"] for answer in expected["ranks"]]
    assert sums["ns"].dtype == np.int64
    kernels = run.table("kernels")
    assert kernels.to_pylist() == run.query("select * from kernels order by id").to_pylist()


def test_every_table_is_what_sql_reads(run: stepscope.Run) -> None:
    for name in run.tables:
        table = run.table(name)
        quoted = ".".join(f'"{part}"' for part in name.split(".", 1))
        query = run.query(f"select * from {quoted}")
        assert table.num_rows == query.num_rows, name
        assert set(query.columns) - set(table.columns) <= {"args"}, name
        assert set(table.columns) <= set(run.describe(name)), name
        for column in table:
            ours, theirs = Counter(table[column].tolist()), Counter(query[column].tolist())
            assert ours == theirs, (name, column)


def test_args_come_only_when_named(run: stepscope.Run) -> None:
    assert "args" not in run.table("slices")
    args = run.table("slices", columns=["cat", "args"])
    kernel = args["args"][args["cat"] == "kernel"][0]
    assert '"grid"' in kernel
    queried = run.query("select args from slices where cat = 'kernel' order by id limit 1")
    assert queried["args"][0] == kernel


def test_quality_and_info(run: stepscope.Run) -> None:
    codes = {finding.code: finding for finding in run.quality if finding.rank == 0}
    assert codes["flow_end_without_start"].count == 24
    assert codes["flow_end_without_start"].severity == "note"
    info = run.info()
    assert len(info["ranks"]) == 2
    assert info["steps"]["count"] == 2
    assert info["tables"]["slices"] == run.table("slices", ["id"]).num_rows
    assert info["store"] == run.store_path


def test_kernels_of_a_real_trace_are_linked(
    shared_data: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    trace = tmp_path / "trace.json.gz"  # a link, so that the store is not written beside the data
    trace.symlink_to(shared_data / "h200" / "gpt2.pt.trace.json.gz")
    with stepscope.open(trace) as run:
        assert np.unique(run.steps["step"]).size == 4
        kernels = run.table("kernels", columns=["id", "op", "launch", "class"])
        compute = kernels["class"] == "compute"
        assert compute.sum() > 1000
        for link in ("op", "launch"):
            linked = ~np.ma.getmaskarray(np.ma.asarray(kernels[link])[compute])
            assert linked.mean() > 0.99
        assert run.table("memory", ["bytes"]).num_rows > 0
