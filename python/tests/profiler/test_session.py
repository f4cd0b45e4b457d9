"""Calls in every order: what is recorded, what is said, and that nothing raises."""

from __future__ import annotations

import contextlib
import fcntl
import gc
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from enum import Enum
from pathlib import Path
from typing import Any, Callable

import fake_record
import pytest
from stepscope import _record
from stepscope.profiler import (
    Profiler,
    ProfilerAction,
    ProfilerActivity,
    _ExperimentalConfig,
    analysis,
    mstx,
    profile,
    schedule,
    tensor_board_trace_handler,
    tensorboard_trace_handler,
    window,
)
from stepscope.profiler.metadata import MAX_META_SIZE, Metadata
from stepscope.profiler.run_directory import RunDirectory

CPU = [ProfilerActivity.CPU]
Runs = Callable[..., list[Path]]
Calls = Callable[[Path], list[str]]
Said = Callable[[], list[str]]


def train(profiler: Any, steps: int) -> None:
    for _ in range(steps):
        time.sleep(0.0005)
        profiler.step()


def test_steps_of_every_cycle(runs: Runs, calls: Calls) -> None:
    plan = schedule(skip_first=1, wait=1, warmup=1, active=2, repeat=2)
    with profile(activities=CPU, schedule=plan) as profiler:
        train(profiler, 12)
    steps = [[call for call in calls(run) if "#" in call] for run in runs()]
    assert steps == [
        ["ProfilerStep#3", "ProfilerStep#4"],
        ["ProfilerStep#7", "ProfilerStep#8"],
    ]


def test_a_loop_that_ends_within_a_cycle_is_told_so(said: Said) -> None:
    for steps, action in ((1, "WARM_UP"), (2, "RECORD"), (3, "RECORD_AND_SAVE")):
        with profile(activities=CPU, schedule=schedule(wait=1, warmup=1, active=2)) as profiler:
            for _ in range(steps):
                profiler.step()
                time.sleep(0.0005)
        (line,) = [line for line in said() if "Incorrect schedule" in line]
        assert line.startswith(f"WARNING step {steps} ({action}) is not the end of a cycle")


def test_wrong_order_is_logged(said: Said, runs: Runs) -> None:
    profiler = Profiler(activities=CPU, start_profile=False)
    profiler.stop()
    profiler.step()
    profiler.analyse()
    profiler.start()
    profiler.start()
    profiler.stop()
    profiler.stop()
    assert [line.split(":")[0] for line in said()] == [
        "ERROR Profiler.stop()",
        "ERROR Profiler.step()",
        "WARNING Profiler.analyse()",
        "WARNING Profiler.start()",
        "ERROR Profiler.stop()",
    ]
    assert len(runs()) == 1


def test_each_step_complains_once_for_all(said: Said) -> None:
    train(Profiler(activities=CPU, start_profile=False), 5)
    assert len(said()) == 1


def test_steps_without_a_schedule_are_nothing_to_complain_about(said: Said) -> None:
    with Profiler(activities=CPU) as profiler:
        train(profiler, 5)
    assert said() == []


def test_second_profiler_is_refused(said: Said, runs: Runs) -> None:
    with profile(activities=CPU, on_trace_ready=tensorboard_trace_handler("a")):
        with profile(activities=CPU, on_trace_ready=tensorboard_trace_handler("b")):
            assert "another profiler" in said()[-1]
        assert _record.is_recording()
    assert (len(runs("a")), len(runs("b"))) == (1, 0)


def test_each_segment_has_its_directory(runs: Runs) -> None:
    profiler = Profiler(activities=CPU, start_profile=False)
    for _ in range(2):
        profiler.start()
        profiler.stop()
    assert len(runs()) == 2


def test_unfinished_warm_up_and_idle_window_leave_nothing(runs: Runs) -> None:
    with profile(activities=CPU, schedule=schedule(wait=0, warmup=3, active=2)) as profiler:
        train(profiler, 1)
    assert runs() == []
    with profile(activities=CPU, schedule=schedule(wait=0, warmup=1, active=1)) as profiler:
        train(profiler, 5)
    assert len(runs()) == 2


def test_last_step_of_a_loop_that_steps_first_is_kept(runs: Runs, calls: Calls) -> None:
    with profile(activities=CPU, schedule=schedule(wait=0, warmup=1, active=1)) as profiler:
        profiler.step()
        sum(range(100_000))
    assert calls(runs()[0]) == ["ProfilerStep#1", "end of step"]


def test_function_as_schedule(runs: Runs, said: Said) -> None:
    plan = [ProfilerAction.NONE, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE]
    for kind in (Profiler, profile):
        with kind(
            activities=CPU,
            schedule=lambda step: plan[step] if step < len(plan) else ProfilerAction.NONE,
        ) as profiler:
            train(profiler, 4)
    assert (len(runs()), said()) == (2, [])


class TheirAction(Enum):
    """As mindspore.profiler.schedule and torch.profiler have it."""

    NONE = 0
    WARM_UP = 1
    WARMUP = 4
    RECORD = 2
    RECORD_AND_SAVE = 3


def test_function_that_returns_the_actions_of_others(runs: Runs, said: Said) -> None:
    for warm_up in (TheirAction.WARM_UP, TheirAction.WARMUP):
        plan = [warm_up, TheirAction.RECORD, TheirAction.RECORD_AND_SAVE, TheirAction.NONE]
        with profile(
            activities=CPU,
            schedule=lambda step: plan[min(step, 3)],  # type: ignore[arg-type,return-value]  # noqa: B023
        ) as profiler:
            assert profiler.current_action is ProfilerAction.WARM_UP
            train(profiler, 5)
    assert (len(runs()), said()) == (2, [])


def test_wrong_function_as_schedule(said: Said) -> None:
    with profile(schedule=lambda step: 7 // (step - 2)) as profiler:  # type: ignore[arg-type,return-value]
        train(profiler, 5)
    assert [line.split(":")[0] for line in said()] == [
        "ERROR the schedule must return a ProfilerAction",
        "ERROR Call to profile.step failed",
    ]


@pytest.mark.parametrize("form", ["one", "none", "any"])
def test_handlers_get_what_they_take(form: str) -> None:
    got: list[tuple[Any, ...]] = []
    handlers: dict[str, Callable[..., object]] = {
        "one": lambda profiler: got.append((profiler,)),
        "none": lambda: got.append(()),
        "any": lambda *all: got.append(all),
    }
    profiler = profile(activities=CPU, on_trace_ready=handlers[form])
    profiler.stop()
    assert got == [() if form == "none" else (profiler,)]


def test_handler_that_raises(said: Said, runs: Runs) -> None:
    def handler() -> None:
        raise ValueError("in handler")

    plan = schedule(wait=0, warmup=1, active=1, repeat=2)
    with profile(activities=CPU, schedule=plan, on_trace_ready=handler) as profiler:
        train(profiler, 5)
    assert len([line for line in said() if "on_trace_ready failed" in line]) == 2
    assert len(runs()) == 2


@pytest.mark.parametrize("handler", [tensorboard_trace_handler, tensor_board_trace_handler])
def test_every_spelling_of_the_trace_handler(
    handler: Any, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed: list[Path] = []
    monkeypatch.setattr(
        analysis.Analyses, "start", lambda self, directory, choices: analysed.append(directory)
    )
    for given in (handler, handler(), handler("o", worker_name="w1")):
        profile(activities=CPU, on_trace_ready=given).stop()
    profile(activities=CPU, on_trace_ready=handler("not", analyse_flag=False)).stop()
    assert (len(runs()), len(runs("o")), len(runs("not"))) == (2, 1, 1)
    assert analysed == [*runs(), *runs("o")]
    assert analysed[-1].name.startswith("w1_")


def test_handler_may_call_analyse(monkeypatch: pytest.MonkeyPatch, said: Said, runs: Runs) -> None:
    analysed: list[Path] = []
    monkeypatch.setattr(
        analysis.Analyses, "start", lambda self, directory, choices: analysed.append(directory)
    )
    for kind in (Profiler, profile):
        plan = schedule(wait=0, warmup=1, active=1, repeat=1)
        with kind(
            activities=CPU, schedule=plan, on_trace_ready=lambda prof: prof.analyse()
        ) as profiler:
            train(profiler, 3)
    assert analysed == runs()
    assert said() == []


def test_background_analysis_does_not_wait(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Said
) -> None:
    release, done = tmp_path / "release", tmp_path / "done"
    program = (
        "import pathlib, time\n"
        f"release, end = pathlib.Path({str(release)!r}), time.monotonic() + 30\n"
        "while not release.exists() and time.monotonic() < end: time.sleep(0.01)\n"
        f"pathlib.Path({str(done)!r}).touch()"
    )
    monkeypatch.setattr(analysis, "_PROGRAM", program)
    monkeypatch.setattr(analysis.importlib.util, "find_spec", lambda name: name)
    Profiler(activities=CPU).analyse(mode="async")
    assert not done.exists()
    release.touch()
    analysis.background.finish()
    assert done.exists()
    monkeypatch.setattr(analysis, "_PROGRAM", "import sys; sys.exit('no such thing')")
    Profiler(activities=CPU).analyse()
    assert "could not be analysed" in said()[-1]


@pytest.mark.parametrize("steps", [[1, 3], "x", ["a"], [], [True]])
def test_wrong_step_list(steps: Any, said: Said) -> None:
    assert analysis.choose(step_list=steps).step_list is None
    assert "step_list must be a list of consecutive" in said()[0]
    assert analysis.choose(step_list=[3, 2]).step_list == (2, 3)


def test_metadata_is_in_every_directory(runs: Runs, said: Said) -> None:
    plan = schedule(wait=0, warmup=1, active=1, repeat=2)
    with profile(activities=CPU, schedule=plan) as profiler:
        profiler.add_metadata("k", "v")
        profiler.add_metadata_json("j", '{"a": [1, 2]}')
        for wrong in ((5, "v"), ("k2", 5), (None, None)):
            profiler.add_metadata(*wrong)  # type: ignore[arg-type]
        for text in ("{a", "NaN", '{"a": Infinity}'):
            profiler.add_metadata_json("bad", text)
        train(profiler, 5)
    texts = [(run / "profiler_metadata.json").read_text() for run in runs()]
    assert texts == ['{"k": "v", "j": {"a": [1, 2]}}'] * 2
    assert len([line for line in said() if "is not kept" in line]) == 6
    profiler.add_metadata("late", "v")
    assert "next one only" in said()[0]


def test_what_is_not_honoured_is_said_and_written(runs: Runs, said: Said) -> None:
    plan = schedule(wait=0, warmup=1, active=1, repeat=2)
    with Profiler(activities=[ProfilerActivity.NPU], schedule=plan, l2_cache=True) as profiler:
        train(profiler, 5)
    lines = said()
    assert len([line for line in lines if "l2_cache has no effect" in line]) == 1
    assert len([line for line in lines if "records nothing" in line]) == 1
    for run in runs():
        metadata = json.loads((run / "profiler_metadata.json").read_text())
        assert list(metadata["not_honoured"]) == ["activities", "l2_cache"]


def test_mstx(runs: Runs, calls: Calls, said: Said) -> None:
    assert mstx.range_start("outside") == 0
    config = _ExperimentalConfig(mstx=True, mstx_domain_exclude=["hidden"])
    with profile(activities=CPU, experimental_config=config):
        number = mstx.range_start("load", domain="data")
        mstx.mark("hidden", domain="hidden")
        mstx.mark("here")
        mstx.range_end(number)
        mstx.range_end(0)
    assert calls(runs()[0])[:2] == ["mark here", "range data: load"]
    assert said() == []
    mstx.mark("")
    mstx.range_end(-1)
    assert len(said()) == 2


def test_deleted_while_recording(said: Said, runs: Runs) -> None:
    profiler = profile(activities=CPU)
    del profiler
    gc.collect()
    assert "end of the program" in said()[-1]
    assert len(runs()) == 1


def test_exception_of_the_program_passes(runs: Runs) -> None:
    with pytest.raises(KeyError), profile(activities=CPU):
        raise KeyError
    assert len(runs()) == 1


def test_forked_child_has_not_started(runs: Runs) -> None:
    with profile(activities=CPU) as profiler:
        child = os.fork()
        if not child:
            profiler.step()
            profiler.__del__()
            os._exit(profiler._started)
        assert os.waitpid(child, 0)[1] == 0
        assert _record.is_recording()
    assert len(runs()) == 1


def test_the_end_does_not_wait_for_an_analysis_that_hangs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Said
) -> None:
    release, done = tmp_path / "release", tmp_path / "done"
    program = (
        "import pathlib, time\n"
        "from stepscope._analyse import _say\n"
        f"while not pathlib.Path({str(release)!r}).exists(): time.sleep(0.01)\n"
        "_say('whoever started me has gone')\n"
        f"pathlib.Path({str(done)!r}).touch()"
    )
    monkeypatch.setattr(analysis, "_PROGRAM", program)
    monkeypatch.setattr(analysis.importlib.util, "find_spec", lambda name: name)
    analyses = analysis.Analyses()
    analyses.start(tmp_path, analysis.Choices())
    ((_, process),) = analyses._running
    analyses.finish(0.1)
    (line,) = said()
    assert f"by process {process.pid}" in line
    assert process.stdout and process.stderr
    process.stdout.close()  # as the end of the program does
    process.stderr.close()
    analyses.finish()  # once is enough
    release.touch()
    assert process.wait(120) == 0
    assert done.exists()
    # Of several that are analysed one after the other those behind it are left out.
    release.unlink()
    analyses.run([tmp_path, tmp_path / "next"], analysis.Choices(), most_seconds=0.1)
    release.touch()
    first, second = said()
    assert "is still being analysed" in first
    assert "is not analysed here" in second
    analyses._others[-1][1].communicate()


def test_who_waits_for_an_analysis_is_told_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "stepscope")
    release = tmp_path / "release"
    program = (
        "import pathlib, sys, time\n"
        "from stepscope import _analyse\n"
        "_analyse.SECONDS_BETWEEN_LINES = 0.0\n"
        "log = _analyse.Log(pathlib.Path(sys.argv[1]))\n"
        "log.progress(20, 50, 0, 0)\n"
        f"while not pathlib.Path({str(release)!r}).exists(): time.sleep(0.01)\n"
    )
    monkeypatch.setattr(analysis, "_PROGRAM", program)
    monkeypatch.setattr(analysis, "_SECONDS_BETWEEN_LINES", 0.05)
    monkeypatch.setattr(analysis.importlib.util, "find_spec", lambda name: name)
    analyses = analysis.Analyses()
    analyses.start(tmp_path, analysis.Choices())
    assert str(tmp_path / "analyse.stepscope.log") in caplog.text

    def end() -> None:
        until = time.monotonic() + 60
        while "40 % imported" not in caplog.text and time.monotonic() < until:
            time.sleep(0.01)
        release.touch()

    thread = threading.Thread(target=end)
    thread.start()
    analyses.finish()
    thread.join()
    lines = [record.getMessage() for record in caplog.records]
    assert lines.count(f"{tmp_path}: 40 % imported") == 1, "the same is not said again"
    assert "is ready" in lines[-1]


def test_how_far_an_analysis_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    native = pytest.importorskip("stepscope._analyse")
    log = native.Log(tmp_path)
    log.progress(1, 2, 0, 0)  # too early
    log.end("done")
    assert not (tmp_path / native.LOG_NAME).exists()
    monkeypatch.setattr(native, "SECONDS_BETWEEN_LINES", 0.0)
    log = native.Log(tmp_path)
    log.progress(0, 0, 0, 0)
    log.progress(5, 2, 0, 0)
    log.progress(5, 5, 3, 8)
    log.end("done")
    text = (tmp_path / native.LOG_NAME).read_text()
    assert text == "100 % imported\nfiles of rank 3 of 8 are written\ndone\n"
    native.Log(tmp_path / "missing").say("nothing fails")


def test_few_analyses_run_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: Said
) -> None:
    program = "import pathlib, sys; pathlib.Path(sys.argv[1]).touch(); sys.stdin.read()"
    monkeypatch.setattr(analysis, "_PROGRAM", program)
    monkeypatch.setattr(analysis.importlib.util, "find_spec", lambda name: name)
    analyses = analysis.Analyses(most=2)
    for number in range(20):
        analyses.start(tmp_path / f"run{number}", analysis.Choices())
        assert len(analyses._running) <= 2
    analyses.finish()
    assert len(list(tmp_path.glob("run*"))) == 20
    assert said() == []


def test_metadata_that_is_not_unicode(runs: Runs, said: Said) -> None:
    with Profiler(activities=CPU) as profiler:
        profiler.add_metadata("path", "data/\udc80.bin")
        profiler.add_metadata("\udc80", "key")
    (run,) = runs()
    assert json.loads((run / "profiler_metadata.json").read_text()) == {"path": "data/\udc80.bin"}
    assert [line.split(":")[0] for line in said()] == ["WARNING metadata '\\udc80' is not kept"]
    with Profiler(activities=CPU) as profiler:  # given before the start
        profiler.stop()
        profiler.add_metadata("path", "\udc80")
        profiler.start()
    assert len(runs()) == 3


def test_metadata_may_be_given_again_and_again() -> None:
    metadata = Metadata()
    for _ in range(3):
        assert metadata.add("loss", "x" * (MAX_META_SIZE - 100))


class HangingDirectory(RunDirectory):
    """A pipe in the raw file's place, which takes little until it is read."""

    def __init__(self, parent: Path, worker: str | None = None) -> None:
        super().__init__(parent, worker)
        path = self.path / "FRAMEWORK" / "stepscope.raw.begin"
        os.mkfifo(path)
        self.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(self.reader, 1031, 4096)  # F_SETPIPE_SZ
        made.append(self)


made: list[HangingDirectory] = []


@pytest.mark.skipif(_record.Recording is fake_record.Recording, reason="needs the native recorder")
def test_stop_does_not_wait_for_a_disk_that_hangs(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setattr(window, "RunDirectory", HangingDirectory)
    profiler = Profiler(activities=CPU)
    for number in range(20_000):
        with _record.record_function(str(hash((number, "noise")))):
            pass
    profiler.stop()
    profiler.analyse()
    (line,) = [line for line in said() if "the disk was waited for" in line]
    assert "events were not recorded" in line
    about = json.loads((made[0].path / "profiler_info_0.json").read_text())["stepscope"]
    assert not about["complete"]  # as it was left at the start
    # It comes back: the next one can record.
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with contextlib.suppress(BlockingIOError):
            if not os.read(made[0].reader, 1 << 16):
                break
            continue
        time.sleep(0.005)
    os.close(made[0].reader)
    monkeypatch.setattr(window, "RunDirectory", RunDirectory)
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with Profiler(activities=CPU) as profiler:
            if profiler._recorder.window:
                break
        time.sleep(0.01)
    assert not [line for line in said() if "not complete" in line]


def test_files_that_cannot_be_written_are_not_waited_for(
    monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    answers = threading.Event()
    write = RunDirectory.write
    with Profiler(activities=CPU) as profiler:

        def hang(self: RunDirectory, *content: Any, **options: Any) -> None:
            answers.wait(120)
            write(self, *content, **options)

        monkeypatch.setattr(RunDirectory, "write", hang)
        monkeypatch.setattr(window, "PATIENCE", 0.1)
    profiler.analyse()
    answers.set()
    assert ["does not answer" in line for line in said()] == [True, False]


def test_a_forked_child_does_not_wait_for_its_parents_analyses(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", "input()"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    analysis.background._running.append((tmp_path, process))
    child = os.fork()
    if child == 0:
        analysis.background.finish()
        os._exit(0)
    ended = wait_for(child)
    assert process.stdin
    process.stdin.write("\n")
    process.stdin.close()
    process.stdin = None
    analysis.background.finish()
    assert ended and process.returncode == 0


def wait_for(child: int) -> bool:
    """Whether it ends within a minute."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if os.waitpid(child, os.WNOHANG)[0]:
            return True
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False
