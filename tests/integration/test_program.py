"""The program on a generated run: files for data frames, the way there and back, Ctrl-C."""

from __future__ import annotations

import csv
import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from fractions import Fraction
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
        [PROGRAM, *map(str, words)], capture_output=True, text=True, check=False, timeout=600
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


def columns(folder: Path, name: str, wanted: list[str]) -> list[list[str]]:
    head, *rows = table(folder, name)
    at = [head.index(column) for column in wanted]
    return sorted([row[i] for i in at] for row in rows)


def ascend_recording(folder: Path) -> Path:
    output = folder / "host_1_20260101000000000_ascend_pt" / "ASCEND_PROFILER_OUTPUT"
    output.mkdir(parents=True)
    base = 1_700_000_000_000_000
    name = {"ph": "M", "name": "process_name", "tid": 0}
    events = [
        {**name, "pid": 1, "args": {"name": "Python"}},
        {**name, "pid": 2, "args": {"name": "CANN"}},
        {**name, "pid": 3, "args": {"name": "Ascend Hardware"}},
    ]
    for step in (4, 5):
        start = base + 100 * step
        slices = [
            (1, f"ProfilerStep#{step}", 0, 90, "", {}),
            (1, "aten::mm", 10, 20, "cpu_op", {"Sequence number": step}),
            (2, "AscendCL@launch", 12, 3, "", {"connection_id": step}),
            (3, "MatMul", 40, 7, "", {"Task Type": "AI_CORE", "connection_id": step}),
            (3, "MEMCPY_ASYNC", 60, 2, "", {"Task Type": "SDMA", "size(B)": 64}),
        ]
        for pid, label, ts, dur, cat, args in slices:
            event = {"ph": "X", "name": label, "pid": pid, "tid": 6, "ts": f"{start + ts}.125"}
            events.append({**event, "dur": dur, "args": args, **({"cat": cat} if cat else {})})
    (output / "trace_view.json").write_text(json.dumps(events))
    (output / "kernel_details.csv").write_text(
        "Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)\n"
        + "".join(
            f"{step},MatMul,MatMulV2,AI_CORE,{base + 100 * step + 40}.125\t,7,0\n"
            for step in (4, 5)
        )
    )
    return folder / "host_1_20260101000000000_ascend_pt"


def mindspore_recording(folder: Path) -> Path:
    window = folder / "node7_321_20261115040047485_ascend_ms"
    (window / "FRAMEWORK").mkdir(parents=True)
    start = 1_794_715_247_485_000_000
    (window / "FRAMEWORK" / "cpu_op_execute_timestamp_0.txt").write_text(
        f"Default/net/c1-Conv2d/Conv2D-op12;HostCpuOps;{start},0.002574,0 {start + 90000},0.5,0 \n"
        f"MatMul;HostCpuOps;{start + 5000},0.25,1 \n"
    )
    return window


@pytest.mark.parametrize("recording", [ascend_recording, mindspore_recording])
def test_other_recordings_keep_their_work_on_the_way_there_and_back(
    recording: Callable[[Path], Path], tmp_path: Path
) -> None:
    stepscope("import", recording(tmp_path), "-o", tmp_path / "first.stepscope")
    stepscope("export", tmp_path / "first.stepscope", "-o", tmp_path / "again.json")
    stepscope("import", tmp_path / "again.json", "-o", tmp_path / "again.stepscope")
    for store in ("first", "again"):
        stepscope(
            "export", tmp_path / f"{store}.stepscope", "--format", "csv", "-o", tmp_path / store
        )
    span = ["ts", "dur", "name", "cat"]
    wanted = {
        "slices": [*span, "step", "correlation", "flags"],
        "ops": [*span, "step"],
        "kernels": [*span, "class", "stream", "queue_delay"],
        "steps": ["step", "ts", "dur", "complete"],
    }
    rows = 0
    for name, names in wanted.items():
        first = columns(tmp_path / "first", name, names)
        assert first == columns(tmp_path / "again", name, names), name
        rows += len(first) if name in ("ops", "kernels") else 0
    assert rows >= 3


def test_tables_of_some_steps_and_of_a_range(run: Path, tmp_path: Path) -> None:
    def exported(name: str, *choice: str) -> list[dict[str, str]]:
        stepscope("export", run, "--format", "csv", *choice, "-o", tmp_path / name)
        head, *rows = table(tmp_path / name, "kernels")
        return [dict(zip(head, row, strict=True)) for row in rows]

    every = exported("all")
    steps = sorted({row["step"] for row in every}, key=int)
    assert len(steps) == 3
    one = exported("one", "--steps", steps[1])
    assert one == [row for row in every if row["step"] == steps[1]]
    assert 0 < len(one) < len(every)
    head, *rows = table(tmp_path / "one", "steps")
    assert {row[head.index("step")] for row in rows} == {steps[1]}
    first, last = (sorted(int(row["ts"]) for row in every)[i] for i in (0, len(every) // 2))
    part = exported("part", "--range", f"{first}:{last}")
    assert part == [
        row for row in every if int(row["ts"]) <= last and int(row["ts"]) + int(row["dur"]) >= first
    ]
    assert 0 < len(part) < len(every)


def test_a_real_training_on_a_gpu(tmp_path: Path) -> None:
    shared = os.environ.get("STEPSCOPE_SHARED_DATA", "")
    trace = Path(shared) / "h200" / "gpt2.pt.trace.json.gz"
    if not shared or not trace.exists():
        pytest.skip("needs ../shared/data (STEPSCOPE_SHARED_DATA), which is not here")
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    store = tmp_path / "gpt2.stepscope"
    stepscope("import", trace, "-o", store)
    info = json.loads(stepscope("info", store, "--json"))
    assert [rank["steps"] for rank in info["ranks"]] == [4]
    sql = (
        "select count(*) as work, count(launch) as launched, count(op) as caused, "
        "(select count(*) from steps) as steps, (select count(*) from memory) as memory, "
        "sum(dur) as ns from kernels"
    )
    [row] = json.loads(stepscope("query", store, sql, "--format", "json"))
    assert row["work"] == len(work)
    assert row["ns"] == round(sum(Fraction(str(e["dur"])) for e in work) * 1000)
    assert row["steps"] == 4
    assert row["memory"] == sum(e.get("name") == "[memory]" for e in events)
    calls = {
        e["args"]["correlation"]
        for e in events
        if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})
    }
    assert row["launched"] == sum(e["args"]["correlation"] in calls for e in work) > 0
    ops = {e["args"].get("External id") for e in events if e.get("cat") == "cpu_op"} - {None}
    assert row["caused"] == sum(e["args"].get("External id") in ops for e in work) > 0


def processor_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_ctrl_c_ends_a_query(run: Path) -> None:
    joined = ", ".join(f"slices s{i}" for i in range(6))
    total = " + ".join(f"s{i}.dur" for i in range(6))
    sql = f"select count(*) from {joined} where {total} = 1"
    stepscope("import", run)
    process = subprocess.Popen(
        [PROGRAM, "query", run, sql], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    # It is in the middle of the query: all before it takes a small part of that.
    end = time.monotonic() + 120
    while processor_seconds(process.pid) < 1:
        assert process.poll() is None and time.monotonic() < end, "it never worked"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, message = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGINT
    assert message == "stepscope: the query was cancelled\n"


def test_whoever_builds_the_program_has_what_record_needs() -> None:
    """./run builds this target and no other."""
    inputs = subprocess.run(
        ["ninja", "-C", BUILD, "-t", "inputs", "stepscope"], capture_output=True, text=True
    ).stdout.splitlines()
    assert {"lib/libstepscope_injection.so", "lib/libstepscope_collector.so"} <= set(inputs)


def test_signals_reach_the_recorded_program(tmp_path: Path) -> None:
    """Supervisors and batch systems send them to the process that they started."""
    # Whoever runs the tests by nohup, or in the background of a script, has some of them ignored.
    heeded = ["env", "--default-signal"]
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
        words = [*heeded, PROGRAM, "record", "-o", tmp_path / "runs", "--", "sleep", "600"]
        with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
            # The line comes before the program does.
            assert process.stderr is not None
            process.stderr.readline()
            while not children_of(process.pid):
                time.sleep(0.01)
            os.kill(process.pid, number)
            try:
                assert process.wait(60) == 128 + number
            finally:
                process.kill()


def children_of(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
