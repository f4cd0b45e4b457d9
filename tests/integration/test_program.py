"""The program on a generated run: files for data frames, the way there and back, Ctrl-C."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("STEPSCOPE_BINARY_DIR", Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "stepscope"
GENERATOR = BUILD / "stepscope-generate"

pytestmark = pytest.mark.skipif(
    not (PROGRAM.exists() and GENERATOR.exists()), reason="build/stepscope is not built"
)


def stepscope(*words: object) -> str:
    done = subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    subprocess.run(
        [GENERATOR, "--output", folder / "job", "--ranks", "2", "--steps", "3", "--seed", "1"],
        check=True,
        capture_output=True,
    )
    return folder / "job"


def table(folder: Path, name: str) -> list[list[str]]:
    csv.field_size_limit(1 << 30)
    with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_arrow_and_parquet_hold_the_same(run: Path, tmp_path: Path) -> None:
    ipc = pytest.importorskip("pyarrow.ipc")
    parquet = pytest.importorskip("pyarrow.parquet")
    sql = (
        "select id, ts, dur, name, cat, parent, args, dur > 1000 as long, dur / 3 as third "
        "from slices order by id"
    )
    stepscope("query", run, sql, "-o", tmp_path / "t.arrow")
    stepscope("query", run, sql, "-o", tmp_path / "t.parquet")
    arrow = ipc.open_file(tmp_path / "t.arrow").read_all()
    arrow.validate(full=True)
    assert arrow.num_rows == int(
        stepscope("query", run, "select count(*) as n from slices", "--format", "csv").split()[1]
    )
    assert arrow.column("parent").null_count > 0
    assert arrow.to_pydict() == parquet.read_table(tmp_path / "t.parquet").to_pydict()


def test_an_empty_result_is_a_good_file(run: Path, tmp_path: Path) -> None:
    ipc = pytest.importorskip("pyarrow.ipc")
    stepscope("query", run, "select name, dur from slices where false", "-o", tmp_path / "t.arrow")
    empty = ipc.open_file(tmp_path / "t.arrow").read_all()
    assert empty.num_rows == 0
    assert empty.column_names == ["name", "dur"]


def test_exported_chrome_json_imports_to_the_same_tables(run: Path, tmp_path: Path) -> None:
    stepscope("export", run, "-o", tmp_path / "chrome")
    stepscope("import", tmp_path / "chrome", "-o", tmp_path / "again.stepscope")
    stepscope("export", run, "--format", "csv", "-o", tmp_path / "a")
    stepscope("export", tmp_path / "again.stepscope", "--format", "csv", "-o", tmp_path / "b")
    for name in [
        "tracks",
        "slices",
        "kernels",
        "ops",
        "communications",
        "steps",
        "flows",
        "counters",
        "memory",
        "queues",
    ]:
        assert table(tmp_path / "a", name) == table(tmp_path / "b", name), name
    # Rows with equal totals are in no particular order.
    for name in ("totals_by_name", "totals_by_step"):
        assert sorted(table(tmp_path / "a", name)) == sorted(table(tmp_path / "b", name)), name


def test_ctrl_c_ends_a_query(run: Path) -> None:
    joined = ", ".join(f"slices s{i}" for i in range(6))
    total = " + ".join(f"s{i}.dur" for i in range(6))
    sql = f"select count(*) from {joined} where {total} = 1"
    stepscope("import", run)
    process = subprocess.Popen(
        [PROGRAM, "query", run, sql], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=20)
    assert process.returncode == 1
    assert message == "stepscope: the query was cancelled\n"
