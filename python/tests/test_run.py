"""Opening, errors, interruption, threads."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import pickle
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import stepscope

INTERRUPTED = """
import os, signal, sys, threading, time
# Programs that a shell starts in the background ignore Ctrl-C, and so do their children.
signal.signal(signal.SIGINT, signal.default_int_handler)
import stepscope
stepscope.open  # brings in NumPy and the engine, which is not what is interrupted here

def interrupt():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

started = time.monotonic()
try:
    threading.Thread(target=interrupt).start()
    {work}
except KeyboardInterrupt:
    print("interrupted" if time.monotonic() - started < 60 else "too late")
"""


def copy_of(generated: pathlib.Path, to: pathlib.Path) -> pathlib.Path:
    """The input without its store."""
    shutil.copytree(generated, to, ignore=shutil.ignore_patterns("*.stepscope"))
    return to


def interrupted(work: str, argument: pathlib.Path) -> str:
    script = INTERRUPTED.format(work=work)
    command = [sys.executable, "-c", script, str(argument)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_first_import_then_reuse(generated: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = copy_of(generated, tmp_path / "run")
    calls: list[tuple[int, int]] = []
    with stepscope.open(folder, progress=lambda done, total: calls.append((done, total))) as run:
        store = pathlib.Path(run.store_path)
        assert store.parent == folder
        assert run.paths == (str(folder),)
        assert run.notes == ()
    size = sum(file.stat().st_size for file in folder.glob("rank_*/*.json"))
    assert calls[-1] == (size, size)
    written = store.stat().st_mtime_ns
    with stepscope.open([folder], jobs=1, memory_mb=64):
        assert store.stat().st_mtime_ns == written
    with stepscope.open(store) as run:
        assert run.store_path == str(store)
        assert len(run.ranks) == 2
    with stepscope.open(folder, force=True):
        assert store.stat().st_mtime_ns != written


def test_notes_are_warnings(generated: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = copy_of(generated, tmp_path / "run")
    stepscope.open(folder).close()
    trace = next((folder / "rank_1").glob("*.json"))
    trace.write_text(trace.read_text() + "\n")
    with pytest.warns(stepscope.StepscopeWarning, match="rebuilding .*: the input changed since"):
        run = stepscope.open(folder)
    assert len(run.notes) == 1


def test_closing(generated: pathlib.Path) -> None:
    with stepscope.open(generated) as run:
        assert not run.closed
        assert repr(run) == f"<stepscope.Run: {generated}, 2 ranks>"
        steps = run.steps
    assert run.closed
    assert repr(run).endswith(", closed>")
    assert steps["dur"].sum() > 0
    for use in (
        lambda: run.table("steps"),
        lambda: run.query("select 1"),
        lambda: run.ranks,
        lambda: run.tables,
        run.info,
    ):
        with pytest.raises(ValueError, match="the run is closed"):
            use()
    run.close()


def message_of_cli(cli: pathlib.Path, *arguments: object) -> str:
    command = [str(cli), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    return done.stderr.strip().removeprefix("stepscope: ")


def bad_inputs(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    (folder / "empty_folder").mkdir()
    (folder / "empty.json").touch()
    (folder / "not.json").write_text("this is no trace\n" * 100)
    (folder / "bad.stepscope").write_bytes(b"\x89STEPS\r\n" + bytes(4096))
    return {
        "not_found": folder / "missing.json",
        "empty_folder": folder / "empty_folder",
        "empty": folder / "empty.json",
        "no_json": folder / "not.json",
        "store": folder / "bad.stepscope",
    }


@pytest.mark.parametrize("which", ["not_found", "empty_folder", "empty", "no_json", "store"])
def test_errors_say_what_the_program_says(
    cli: pathlib.Path, tmp_path: pathlib.Path, which: str
) -> None:
    path = bad_inputs(tmp_path)[which]
    with pytest.raises(stepscope.StepscopeError) as caught:
        stepscope.open(path)
    error = caught.value
    assert str(error) == message_of_cli(cli, "info", path)
    assert error.what
    assert error.where in str(error)
    assert error.remedy in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.why) == (str(error), error.code, error.why)
    if which == "not_found":
        assert error.code == "not_found"


@pytest.mark.parametrize(
    "sql",
    [
        "select durr from kernels",
        "select * from kernelz",
        "select * from read_csv('/etc/passwd')",
        "drop table slices",
        "select 1; select 2",
        "",
        "select 'x'::integer",
    ],
)
def test_query_errors_say_what_the_program_says(
    run: stepscope.Run, cli: pathlib.Path, tmp_path: pathlib.Path, sql: str
) -> None:
    with pytest.raises(stepscope.StepscopeError) as caught:
        run.query(sql)
    if sql and sql.count(";") == 0:
        assert str(caught.value) == message_of_cli(cli, "query", run.store_path, sql)


def test_wrong_names_get_the_nearest(run: stepscope.Run) -> None:
    with pytest.raises(stepscope.StepscopeError, match=r"kernelz \(did you mean kernels\?\)"):
        run.table("kernelz")
    with pytest.raises(stepscope.StepscopeError, match=r"no column durr \(did you mean dur\?\)"):
        run.table("kernels", columns=["durr"])
    with pytest.raises(stepscope.StepscopeError, match="no such table"):
        run.describe("kernelz")
    assert run.describe("kernels")["dur"] == "length, ns"
    with pytest.raises(TypeError, match="list of names"):
        run.table("kernels", columns="dur")


@pytest.mark.parametrize(
    "arguments", [{"jobs": 0}, {"memory_mb": 0}, {"jobs": -1}, {"memory_mb": -5}]
)
def test_wrong_arguments(generated: pathlib.Path, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        stepscope.open(generated, **arguments)


def test_odd_paths(tmp_path: pathlib.Path, generated: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="zero byte"):
        stepscope.open("a\0b")
    with pytest.raises(stepscope.StepscopeError, match="no path was given"):
        stepscope.open([])
    odd = tmp_path / os.fsdecode(b"caf\xe9 \xc3\xa9")  # not all of it is UTF-8
    copy_of(generated, odd)
    with stepscope.open(odd) as run:
        assert pathlib.Path(run.store_path).parent == odd
    with pytest.raises(stepscope.StepscopeError, match="caf"):
        stepscope.open(odd / "missing")


def test_time_limit(run: stepscope.Run) -> None:
    with pytest.raises(stepscope.StepscopeError, match=r"time limit of 0\.2 s") as caught:
        run.query(
            "select sum(a.x * b.x) from range(10000000) a(x), range(100000) b(x)", timeout=0.2
        )
    assert caught.value.code == "limit"
    with pytest.raises(ValueError, match="timeout"):
        run.query("select 1", timeout=0)


def test_ctrl_c_ends_a_query(generated: pathlib.Path) -> None:
    work = (
        "stepscope.open(sys.argv[1]).query("
        "'select sum(a.x * b.x) from range(10000000) a(x), range(100000) b(x)')"
    )
    assert interrupted(work, generated) == "interrupted"


def test_ctrl_c_ends_an_import(tmp_path: pathlib.Path) -> None:
    # Compressed, because that takes longest for its size: some hundred MB of text.
    event = (
        '{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": %d, "dur": 1,'
        ' "args": {"text": "' + "x" * 200 + '"}},\n'
    )
    block = "".join(event % i for i in range(5000)).encode()
    folder = tmp_path / "run"
    folder.mkdir()
    with gzip.open(folder / "trace.json.gz", "wb", compresslevel=1) as file:
        file.write(b'{"schemaVersion": 1, "traceEvents": [\n')
        for _ in range(400):
            file.write(block)
        file.write(b"]}")
    assert interrupted("stepscope.open(sys.argv[1], jobs=1)", folder) == "interrupted"
    assert [entry.name for entry in folder.iterdir()] == ["trace.json.gz"]

    class StopError(Exception):
        pass

    def stop(done: int, total: int) -> None:
        assert 0 <= done <= total
        raise StopError

    with pytest.raises(StopError):
        stepscope.open(folder, progress=stop)
    assert [entry.name for entry in folder.iterdir()] == ["trace.json.gz"]


def test_two_runs_in_threads(generated: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folders = [copy_of(generated, tmp_path / str(number)) for number in range(2)]
    gate = threading.Barrier(8)

    def work(number: int) -> list[Any]:
        gate.wait()
        with stepscope.open(folders[number % 2]) as run:
            return [
                int(run.table("slices", columns=["dur"])["dur"].sum()),
                int(run.query("select sum(dur) as x from slices")["x"][0]),
            ]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(work, range(8)))
    assert answers == [answers[0]] * 8
    assert answers[0][0] == answers[0][1]


def test_one_run_in_threads(generated: pathlib.Path) -> None:
    with stepscope.open(generated) as run, ThreadPoolExecutor(8) as pool:
        queries = [
            pool.submit(run.query, f"select {i} + count(*) as n from ops") for i in range(40)
        ]
        tables = [pool.submit(run.table, name) for name in run.tables * 3]
        counts = [int(query.result()["n"][0]) for query in queries]
        assert [count - counts[0] for count in counts] == list(range(40))
        rows = [table.result().num_rows for table in tables]
        assert rows == rows[: len(rows) // 3] * 3


def test_info_is_that_of_the_program(run: stepscope.Run, cli: pathlib.Path) -> None:
    command = [str(cli), "info", run.store_path, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.info() == json.loads(done.stdout)
