"""Recording with the real collector: what docs/recording.md shows, and what it promises."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest
import stepscope
import stepscope.pipeline
from stepscope.profiler.analysis import background

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "recording.md"
PACKAGE = pathlib.Path(stepscope.__file__).parent


def example(language: str, heading: str) -> str:
    section = PAGE.read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.search(rf"^```{language}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def build_and_run(source_text: str, folder: pathlib.Path) -> None:
    source = folder / "train.cc"
    source.write_text(source_text)
    library = PACKAGE / "lib"
    subprocess.run(
        [
            "g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{PACKAGE / 'include'}",
            str(source), "-o", str(folder / "train"), f"-L{library}", "-lstepscope_collector",
            f"-Wl,-rpath,{library}",
        ],
        check=True,
    )  # fmt: skip
    (folder / "first_run").mkdir()
    subprocess.run([str(folder / "train")], check=True, cwd=folder)


def busy(seconds: float) -> None:
    """Of processor time, however long a busy machine takes for them."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))


def test_the_python_example_runs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(example("python", "Python"), str(PAGE), "exec"), {})
    assert "step" in capsys.readouterr().out
    with stepscope.open(tmp_path / "data") as run:
        assert run.table("steps")["step"].tolist() == [1, 2, 3]
        forward = run.query("select count(*) as n from slices where name = 'forward'")
        assert forward["n"].tolist() == [3]


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_cpp_example_runs(tmp_path: pathlib.Path) -> None:
    build_and_run(example("cpp", "C and C++"), tmp_path)
    with stepscope.open(tmp_path / "first_run") as run:
        assert run.table("steps")["step"].tolist() == list(range(1, 101))
        scopes = run.query("select count(*) as n from slices where name = 'train step'")
        assert scopes["n"].tolist() == [100]


def test_the_pipelines_example_runs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(example("python", "Input pipelines"), str(PAGE), "exec"), {})
    assert "waited_ms" in capsys.readouterr().out
    with stepscope.open(tmp_path / "data") as run:
        stages = run.table("stages")
        assert stages["stage"].tolist() == ["read", "decode"]
        assert stages["capacity"].tolist() == [64, 16]
        items = run.query("select name, count(*) as n from slices where cat = 'pipeline'"
                          " group by name order by name")  # fmt: skip
        assert items["n"].tolist() == [100, 101]
        assert run.table("queues").num_rows == 4 * 100
    for stage in ("read", "decode"):
        stepscope.pipeline.Stage(stage).end()


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
def test_the_pipelines_cpp_example_runs(tmp_path: pathlib.Path) -> None:
    build_and_run(example("cpp", "Input pipelines"), tmp_path)
    with stepscope.open(tmp_path / "first_run") as run:
        assert run.table("stages")["workers"].tolist() == [1]
        taken = run.table("queues")
        assert taken["batch"].tolist() == list(range(1, 101))
        assert set(taken["size"].tolist()) == {3}
        assert set(taken["capacity"].tolist()) == {16}


def test_ranges_of_threads_and_decorators(tmp_path: pathlib.Path) -> None:
    @stepscope.record_function("decorated")
    def work(depth: int) -> int:
        return depth if depth == 0 else work(depth - 1)

    assert work.__name__ == "work"
    with stepscope.Profiler(output_path=str(tmp_path)):
        assert work(2) == 0
        thread = threading.Thread(target=work, args=(0,), name="loader")
        thread.start()
        thread.join()
        with (
            pytest.raises(ValueError, match="passes through"),
            stepscope.record_function("failing"),
        ):
            raise ValueError("passes through")
        stepscope.mark("checkpoint")
        stepscope.counter("loss", 0.5)
    with stepscope.open(tmp_path) as run:
        decorated = run.query(
            "select depth, count(*) as n from slices where name = 'decorated' group by depth"
            " order by depth"
        )
        assert decorated["n"].tolist() == [2, 1, 1]
        assert run.query("select value from counters")["value"].tolist().count(0.5) == 1
        names = run.table("slices")["name"].tolist()
        assert "failing" in names
        assert "checkpoint" in names


def test_lanes_have_the_names_that_python_gives_its_threads(tmp_path: pathlib.Path) -> None:
    marked, over = threading.Barrier(3), threading.Event()

    def work() -> None:
        stepscope.mark("here")
        marked.wait()
        over.wait()

    threads = [threading.Thread(target=work, name=name) for name in ("loader", "lone \udc80")]
    with stepscope.Profiler(output_path=str(tmp_path)):
        for thread in threads:
            thread.start()
        marked.wait()
        stepscope.mark("here")
    over.set()
    for thread in threads:
        thread.join()
    with stepscope.open(tmp_path) as run:
        lanes = run.query(
            "select tracks.thread from slices join tracks using (track)"
            " where slices.name = 'here' order by thread"
        )
        about = run.query("select info from runs")
    assert lanes["thread"].tolist() == ["MainThread", "loader", "lone ?"]
    assert "python_threads" not in about["info"].tolist()[0]


def test_a_thread_that_lives_within_the_recording_has_its_name_where_stacks_are_sampled(
    tmp_path: pathlib.Path,
) -> None:
    def work() -> None:
        for _ in range(100):
            stepscope.mark("here")
            time.sleep(0.002)

    with stepscope.Profiler(output_path=str(tmp_path), with_stack=True):
        thread = threading.Thread(target=work, name='short "lived"')
        thread.start()
        thread.join()
    with stepscope.open(tmp_path) as run:
        lanes = run.query(
            "select distinct tracks.kind, tracks.thread from slices join tracks using (track)"
            " where slices.name = 'here' or slices.name like '%work (%' order by kind"
        )
    assert lanes["thread"].tolist() == ['short "lived"'] * 2
    assert lanes["kind"].tolist() == ["host", "python"]


class Nameless:
    def __str__(self) -> str:
        raise RuntimeError


def test_a_name_is_no_reason_to_end_a_training(tmp_path: pathlib.Path) -> None:
    names: list[Any] = ["lone \udc80 surrogate", 5, None, b"bytes", "with \0 in it", Nameless()]
    with stepscope.Profiler(output_path=str(tmp_path)):
        for name in names:
            with stepscope.record_function(name):
                stepscope.mark(name)
                stepscope.counter(name, 1)
    with stepscope.open(tmp_path) as run:
        found = run.table("slices")["name"].tolist()
    for name in ["lone ? surrogate", "5", "None", "b'bytes'", "with \0 in it", "?"]:
        assert found.count(name) == 2, name


def test_decorated_coroutines_and_generators_are_timed_where_they_run(
    tmp_path: pathlib.Path,
) -> None:
    @stepscope.record_function("coroutine")
    async def wait(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    @stepscope.record_function("generator")
    def numbers(most: int) -> Generator[int, str, str]:
        said = []
        try:
            for number in range(most):
                time.sleep(0.01)
                said.append((yield number))
        except KeyError:
            said.append("thrown")
        return ",".join(map(str, said))

    @stepscope.record_function("async generator")
    async def batches() -> AsyncGenerator[int, None]:
        try:
            for number in range(1000):
                await asyncio.sleep(0.01)
                yield number
        finally:
            closed.append(True)

    @stepscope.record_function("old coroutine")
    @types.coroutine
    def old() -> Generator[Any, None, int]:
        yield from asyncio.sleep(0).__await__()
        return 7

    async def consume() -> None:
        assert await asyncio.gather(wait(0.1), wait(0.05)) == [0.1, 0.05]
        assert await old() == 7
        stream = batches()
        async for number in stream:
            stepscope.mark("between")
            if number == 1:
                break
        await stream.aclose()

    closed: list[bool] = []
    assert inspect.iscoroutinefunction(wait)
    assert inspect.isgeneratorfunction(numbers)
    assert inspect.isasyncgenfunction(batches)
    with stepscope.Profiler(output_path=str(tmp_path)):
        asyncio.run(consume())
        running = numbers(5)
        assert next(running) == 0
        stepscope.mark("between")
        assert running.send("a") == 1
        with pytest.raises(StopIteration, match="a,thrown"):
            running.throw(KeyError())
        for _ in numbers(2):
            pass
        numbers(1).close()
    assert closed == [True]
    with stepscope.open(tmp_path) as run:
        rows = run.query("select name, ts, dur from slices order by ts")
    found: dict[str, list[tuple[int, int]]] = {}
    for name, ts, dur in zip(*(rows[column].tolist() for column in ("name", "ts", "dur"))):
        found.setdefault(name, []).append((ts, ts + dur))
    assert len(found["coroutine"]) == 2
    assert max(end - start for start, end in found["coroutine"]) >= 0.1e9
    assert min(end - start for start, end in found["coroutine"]) >= 0.05e9
    # It runs until it gives, and to its end; what happens in between is not its time.
    assert len(found["generator"]) == 6
    assert sum(end - start >= 0.01e9 for start, end in found["generator"]) >= 4
    assert sum(end - start >= 0.01e9 for start, end in found["async generator"]) >= 2
    assert len(found["between"]) == 3
    for moment, _ in found["between"]:
        for start, end in found["generator"] + found["async generator"]:
            assert not start < moment < end
    assert found["old coroutine"]


def test_threads_that_share_a_range_keep_their_own_times(tmp_path: pathlib.Path) -> None:
    entered, leave = threading.Barrier(2), threading.Event()

    @stepscope.record_function("shared")
    def work(seconds: float) -> None:
        entered.wait()
        if seconds:
            time.sleep(seconds)
            leave.set()
        leave.wait()

    with stepscope.Profiler(output_path=str(tmp_path)):
        threads = [threading.Thread(target=work, args=(seconds,)) for seconds in (0.2, 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    with stepscope.open(tmp_path) as run:
        shared = run.query("select track, dur from slices where name = 'shared'")
        assert len(set(shared["track"].tolist())) == 2
        assert all(dur > 150e6 for dur in shared["dur"].tolist())


def test_stacks_are_sampled(tmp_path: pathlib.Path) -> None:
    began = time.monotonic()
    with stepscope.Profiler(output_path=str(tmp_path), with_stack=True):
        busy(0.4)
    took = time.monotonic() - began
    with stepscope.open(tmp_path) as run:
        sampled = run.query(
            "select sum(dur) / 1e9 as s from slices where cat = 'python_sample'"
            " and name like '%busy (%test_recording.py:%'"
        )
        assert 0.2 < sampled["s"][0] < took + 0.1
        # Who calls lies around whom it calls, also when both were seen equally long.
        around = run.query(
            "select min(depth) filter (name like 'test_stacks_are_sampled (%') as caller,"
            " min(depth) filter (name like '%busy (%test_recording.py:%') as called"
            " from slices where cat = 'python_sample'"
        )
        assert around["caller"][0] < around["called"][0]


def test_stacks_of_all_threads_are_sampled(tmp_path: pathlib.Path) -> None:
    """Also while the main thread waits: it answers nobody then."""

    def decode() -> None:
        busy(0.6)

    def idle(until: threading.Event) -> None:
        until.wait()

    done = threading.Event()
    threads = [
        threading.Thread(target=decode, name="decoder"),
        threading.Thread(target=idle, args=(done,), name="idler"),
    ]
    began = time.monotonic()
    with stepscope.Profiler(output_path=str(tmp_path), with_stack=True):
        for thread in threads:
            thread.start()
        threads[0].join()
        done.set()
        threads[1].join()
    took = time.monotonic() - began
    with stepscope.open(tmp_path) as run:
        sampled = run.query(
            "select thread, sum(dur) filter (name like '%busy (%') / 1e9 as busy,"
            " sum(dur) filter (name like '%idle (%test_recording%') / 1e9 as idle"
            " from slices join tracks using (rank, track) where cat = 'python_sample'"
            " group by thread"
        )
        found = {
            thread: (busy or 0, idle or 0)
            for thread, busy, idle in zip(
                sampled["thread"], sampled["busy"].filled(0), sampled["idle"].filled(0)
            )
        }
        assert set(found) == {"MainThread", "decoder", "idler"}
        assert 0.3 < found["decoder"][0] < took + 0.1
        assert 0.3 < found["idler"][1] < took + 0.1
        assert found["decoder"][1] == found["idler"][0] == 0


def test_a_forked_child_ends_while_its_parent_samples_stacks(tmp_path: pathlib.Path) -> None:
    with stepscope.Profiler(output_path=str(tmp_path), with_stack=True) as profiler:
        child = os.fork()
        if child == 0:
            profiler._recorder.window = None  # goes, and must not wait for its parent's threads
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_the_system_is_sampled(tmp_path: pathlib.Path) -> None:
    with stepscope.Profiler(output_path=str(tmp_path)):
        busy(1.2)
    with stepscope.open(tmp_path) as run:
        found = run.query(
            "select avg(value) as v from counters join tracks using (rank, track)"
            " where thread = 'process cpu %'"
        )
        assert found["v"][0] > 0


TRAIN_FOREVER = """
import stepscope, sys, time
profiler = stepscope.Profiler(
    output_path=sys.argv[1], schedule=stepscope.schedule(wait=0, active=100000))
for step in range(100000):
    with stepscope.record_function("forward"):
        time.sleep(0.01)
    profiler.step()
    if step == 100:
        print("running", flush=True)
"""


def wait_for_flush(folder: pathlib.Path) -> None:
    """Returns when all that was recorded before the call is in the file. It grows with each flush,
    and the first one that is seen may have begun before."""
    (raw,) = folder.glob("*/FRAMEWORK/stepscope.raw*")
    end = time.monotonic() + 60
    for _ in range(2):
        size = raw.stat().st_size
        while raw.stat().st_size == size:
            assert time.monotonic() < end, "nothing is written"
            time.sleep(0.01)


def test_a_killed_program_leaves_a_run_that_opens(tmp_path: pathlib.Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", TRAIN_FOREVER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline().strip() == "running"
    wait_for_flush(tmp_path)
    program.send_signal(signal.SIGKILL)
    program.wait()
    program.stdout.close()
    with stepscope.open(tmp_path) as run:
        assert len(run.table("steps")["step"]) > 50
        (ending,) = [found for found in run.quality if found.code == "ended_abnormally"]
        assert re.fullmatch(
            r"ended abnormally at step \d+; its last second may be missing", ending.example
        )


def test_a_run_that_grows_is_not_taken_for_a_killed_one(tmp_path: pathlib.Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", TRAIN_FOREVER, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert program.stdout is not None
        assert program.stdout.readline().strip() == "running"
        wait_for_flush(tmp_path)
        with stepscope.open(tmp_path) as run:
            codes = {found.code: found for found in run.quality}
            assert re.fullmatch(r"still recording at step \d+", codes["still_recording"].example)
            assert "ended_abnormally" not in codes
    finally:
        program.kill()
        program.communicate()


def test_a_range_of_mstx_may_end_on_another_thread(tmp_path: pathlib.Path) -> None:
    config = stepscope._ExperimentalConfig(mstx=True)
    handler = stepscope.tensorboard_trace_handler(str(tmp_path), analyse_flag=False)
    with stepscope.profile(
        activities=[stepscope.ProfilerActivity.CPU],
        experimental_config=config,
        on_trace_ready=handler,
    ):
        here = stepscope.mstx.range_start("here")
        handed_over = stepscope.mstx.range_start("handed over")
        thread = threading.Thread(
            target=stepscope.mstx.range_end, args=(handed_over,), name="other"
        )
        thread.start()
        thread.join()
        stepscope.mstx.range_end(here)
    with stepscope.open(tmp_path) as run:
        rows = run.query(
            "select s.name, t.tid = t.pid as main, s.args, s.dur > 0 as long from slices s "
            "join tracks t using (track, rank) where s.name in ('here', 'handed over') "
            "order by s.name"
        ).to_pylist()
    assert [(row["name"], bool(row["main"]), bool(row["long"])) for row in rows] == [
        ("handed over", False, True),
        ("here", True, True),
    ]
    started_by = f'"Started by thread":{threading.get_native_id()}'
    assert started_by in rows[0]["args"]


def test_a_run_keeps_what_was_estimated_and_what_steps_took(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "stepscope")
    with stepscope.profile(
        activities=[stepscope.ProfilerActivity.CPU],
        schedule=stepscope.schedule(wait=3, warmup=1, active=3, repeat=1),
        on_trace_ready=stepscope.tensorboard_trace_handler(str(tmp_path), analyse_flag=False),
    ) as profiler:
        for _ in range(10):
            time.sleep(0.003)
            profiler.step()
    said = [record.getMessage() for record in caplog.records]
    assert any(text.startswith("recording starts: estimated cost") for text in said)
    measured = next(text for text in said if text.startswith("recorded "))
    assert "with recording (median of 3)" in measured
    assert "without recording (median of 2)" in measured, "not the first, nor the warm-up"
    written = json.loads(next(tmp_path.glob("*/profiler_info_0.json")).read_text())["stepscope"]
    assert written["estimated"].startswith("estimated cost")
    assert written["step_times"]["with_recording"]["median_seconds"] >= 0.003
    assert written["step_times"]["without_recording"]["steps"] == 5, "those behind the window too"
    with stepscope.open(tmp_path) as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])
    assert about["metadata"]["step_times"]["without_recording"]["steps"] == 2
    assert about["metadata"]["estimated"].startswith("estimated cost")


def test_small_budgets_are_not_the_default(tmp_path: pathlib.Path) -> None:
    from stepscope import _record

    recording = _record.Recording(
        str(tmp_path), json.dumps({"max_disk_gb": 0.0001, "min_free_gb": 0.0001})
    )
    assert recording.active
    noise = random.Random(1)
    for _ in range(120):
        for _ in range(2000):
            _record.counter("noise", noise.random())
        time.sleep(0.005)
    figures = json.loads(recording.stop())
    assert "disk budget of 1 MiB" in figures["stopped_by"]
    assert figures["bytes"] <= 1 << 20


def test_sampled_code_is_let_go(tmp_path: pathlib.Path) -> None:
    space: dict[str, Any] = {}
    exec("import time\ndef wait(end):\n    while time.time() < end: pass", space)
    code = space["wait"].__code__
    before = sys.getrefcount(code)
    for number in range(3):
        with stepscope.Profiler(output_path=str(tmp_path / str(number)), with_stack=True):
            space["wait"](time.time() + 0.05)
    assert sys.getrefcount(code) == before


def test_nothing_in_a_run_is_for_everybody(tmp_path: pathlib.Path) -> None:
    before = os.umask(0o002)
    try:
        profiler = stepscope.Profiler(output_path=str(tmp_path / "runs"), with_stack=True)
        busy(0.05)
        profiler.analyse()
    finally:
        os.umask(before)
    found = [tmp_path / "runs", *(tmp_path / "runs").rglob("*")]
    assert any(path.name == "trace_view.json" for path in found)
    assert [path for path in found if path.stat().st_mode & 0o027] == []


@pytest.mark.parametrize("steps_first", [False, True])
def test_every_iteration_is_a_step_without_a_schedule(
    tmp_path: pathlib.Path, steps_first: bool
) -> None:
    with stepscope.Profiler(output_path=str(tmp_path)) as profiler:
        for _ in range(3):
            if steps_first:
                profiler.step()
            time.sleep(0.02)
            if not steps_first:
                profiler.step()
    with stepscope.open(tmp_path) as run:
        steps = run.query("select step, dur from steps where complete order by step")
    assert steps["step"].tolist() == ([1, 2, 3] if steps_first else [0, 1, 2])
    assert min(steps["dur"].tolist()) >= 20_000_000


@pytest.mark.parametrize("steps_first", [False, True])
def test_how_long_others_take_makes_no_step_without_a_schedule(
    tmp_path: pathlib.Path, steps_first: bool
) -> None:
    profiler = stepscope.Profiler(output_path=str(tmp_path))
    around = stepscope.record_function("training") if steps_first else contextlib.nullcontext()
    with around:
        for seconds in (0.001, 0.04, 0.001):
            if steps_first:
                profiler.step()
            with stepscope.record_function("work"):
                time.sleep(seconds)
            if not steps_first:
                profiler.step()
    profiler.stop()
    with stepscope.open(tmp_path) as run:
        steps = run.query("select step from steps where complete order by step")["step"].tolist()
    assert steps == ([1, 2, 3] if steps_first else [0, 1, 2])


def test_the_only_iteration_is_a_step_without_a_schedule(tmp_path: pathlib.Path) -> None:
    with stepscope.Profiler(output_path=str(tmp_path)) as profiler:
        time.sleep(0.02)
        profiler.step()
    with stepscope.open(tmp_path) as run:
        assert run.query("select step from steps where complete")["step"].tolist() == [0]


def test_choices_of_an_analysis_have_their_effect(tmp_path: pathlib.Path) -> None:
    profiler = stepscope.Profiler(output_path=str(tmp_path))
    for number in range(3):
        with stepscope.record_function(f"work {number}"):
            busy(0.01)
        profiler.step()
    # The first step has the number 0.
    profiler.analyse(pretty=True, step_list=[2], mode="async")
    background.finish()
    (path,) = tmp_path.rglob("trace_view.json")
    text = path.read_text()
    assert '\n        "ph": "X"' in text
    names = {event["name"] for event in json.loads(text)}
    assert {name for name in names if name.startswith("work")} == {"work 1"}


def test_an_export_is_not_read_beside_the_run_it_was_made_of(tmp_path: pathlib.Path) -> None:
    with stepscope.Profiler(output_path=str(tmp_path)) as profiler:
        for _ in range(3):
            with stepscope.record_function("work"):
                busy(0.01)
            profiler.step()
    with stepscope.open(tmp_path) as run:
        for name in ("export.json", "export.json.gz"):
            run.write_chrome_trace(tmp_path / name)
    with stepscope.open(tmp_path) as run:
        assert run.query("select step from steps order by step")["step"].tolist() == [0, 1, 2]
        assert run.query("select count(*) as n from quality")["n"].tolist() == [0]
    alone = tmp_path / "elsewhere"
    alone.mkdir()
    (tmp_path / "export.json.gz").rename(alone / "export.json.gz")
    with stepscope.open(alone) as run:
        assert len(run.steps["step"]) >= 3


def test_steps_that_are_not_there_are_no_success(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    profiler = stepscope.Profiler(output_path=str(tmp_path))
    for _ in range(3):
        busy(0.01)
        profiler.step()
    with caplog.at_level("INFO", "stepscope"):
        profiler.analyse(step_list=[90, 91])
    assert "none of the chosen steps is there" in caplog.text
    assert "is ready" not in caplog.text


def test_ranges_that_are_open_at_the_end_are_counted(tmp_path: pathlib.Path) -> None:
    profiler = stepscope.Profiler(output_path=str(tmp_path), mstx=True)
    stepscope.mstx.range_start("mstx")
    stepscope.record_function("left open").__enter__()
    with stepscope.record_function("closed"):
        pass
    profiler.stop()
    profiler.start()  # what was lost with the first window is not lost again
    profiler.stop()
    counts = []
    for path in sorted(tmp_path.glob("*_ms")):
        with stepscope.open(path) as run:
            sql = "select count n from quality where code = 'unfinished_operation'"
            counts.append(run.query(sql)["n"].tolist())
    assert counts == [[2], []]
