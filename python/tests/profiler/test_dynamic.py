"""DynamicProfilerMonitor in one process. Several of them: python/tests/test_dynamic_ranks.py."""

from __future__ import annotations

import json
import os
import pathlib
import random
import stat
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Callable

import pytest
import stepscope
from stepscope import _record
from stepscope.profiler import AicoreMetrics, DynamicProfilerMonitor, ExportType, ProfilerLevel
from stepscope.profiler.dynamic import config, config_file, log, watch

NATIVE = hasattr(_record, "__file__") and _record.__file__.endswith(".so")

SEED = {
    "start_step": -1, "stop_step": -1, "aicore_metrics": -1, "profiler_level": -1,
    "profile_framework": -1, "analyse_mode": -1, "profile_communication": False,
    "parallel_strategy": False, "with_stack": False, "data_simplification": True,
}  # fmt: skip


def until(condition: Callable[[], bool], what: str = "") -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end, what or "it never came true"
        time.sleep(0.01)


def steps_in(window: pathlib.Path) -> list[int]:
    """The steps that a window's run holds."""
    if NATIVE:
        with stepscope.open(window) as run:
            return run.query("select step from steps order by ts")["step"].tolist()
    (raw,) = window.glob("*/FRAMEWORK/stepscope.raw")
    lines = raw.read_text().splitlines()
    return [int(line.partition("#")[2]) for line in lines if line.startswith("ProfilerStep#")]


class Training:
    """A program with a monitor, and somebody who edits its configuration."""

    def __init__(self, folder: pathlib.Path, **options: Any) -> None:
        self.folder = folder / "cfg"
        self.output = folder / "out"
        self.file = self.folder / "profiler_config.json"
        self.monitor = DynamicProfilerMonitor(str(self.folder), str(self.output), **options)
        self.number = 0

    def write(self, text: str) -> None:
        """Returns when the monitor has seen it."""
        before = self.monitor._version, self.refused(), self.log()
        self.file.write_text(text)
        until(lambda: (self.monitor._version, self.refused(), self.log()) != before)

    def ask(self, start: int, stop: int, **more: Any) -> None:
        self.write(json.dumps({"start_step": start, "stop_step": stop, **more}))

    def refused(self) -> str:
        return self.monitor._telling.refused

    def loop(self, steps: int) -> None:
        for _ in range(steps):
            self.monitor.step()

    def callbacks(self, steps: int, stride: int = 1) -> None:
        for _ in range(steps):
            self.number += stride
            self.monitor.on_train_step_begin(self.context())
            self.monitor.on_train_step_end(self.context())

    def context(self) -> Any:
        arguments = SimpleNamespace(cur_step_num=self.number)
        return SimpleNamespace(original_args=lambda: arguments)

    def log(self) -> list[str]:
        self.monitor._log.write()  # the helper's, which may be about to
        path = self.folder / "log" / "rank_0.log"
        return path.read_text().splitlines() if path.exists() else []

    def windows(self) -> dict[str, list[int]]:
        if not self.output.exists():
            return {}
        return {path.name: steps_in(path) for path in sorted(self.output.iterdir())}

    def status(self, state: str) -> dict[str, Any]:
        """What the rank tells, when it has come to tell it."""
        path = self.folder / ".stepscope" / "rank_0.json"
        until(lambda: path.exists() and json.loads(path.read_text())["state"] == state, state)
        told: dict[str, Any] = json.loads(path.read_text())
        return told


@pytest.fixture
def training(tmp_path: pathlib.Path) -> Iterator[Callable[..., Training]]:
    made: list[Training] = []

    def make(**options: Any) -> Training:
        made.append(Training(tmp_path, **options))
        return made[-1]

    yield make
    for one in made:
        one.monitor.close()


def test_an_empty_folder_gets_the_documented_file(training: Callable[..., Training]) -> None:
    text = training().file.read_text()
    assert json.loads(text) == SEED
    assert list(json.loads(text)) == list(SEED)
    assert '\n    "start_step": -1,' in text


def test_the_training_does_not_wait_for_the_log(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    append = log.RankLog._append

    def hang(self: log.RankLog, rank: int, line: str) -> None:
        answers.wait(120)
        append(self, rank, line)

    one = training()
    one.file.write_text(json.dumps({"start_step": 3, "stop_step": 4}))
    until(lambda: one.monitor._version > 1)
    monkeypatch.setattr(log.RankLog, "_append", hang)
    began = time.monotonic()
    one.callbacks(6)
    assert one.windows() == {"rank0_start3_stop4": [3, 4]}
    assert time.monotonic() - began < 60
    path = one.folder / "log" / "rank_0.log"
    assert not path.exists() or "are recorded in" not in path.read_text()
    answers.set()
    until(lambda: path.exists() and "are recorded in" in path.read_text())


DISK_FAILS = """
import json, pathlib, random, resource, sys, time
from stepscope import record_function
from stepscope.profiler import DynamicProfilerMonitor, ProfilerActivity, profile

resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))


def work():
    for _ in range(20_000):
        with record_function(str(random.random())):
            pass


with profile(activities=[ProfilerActivity.CPU]):
    work()
pathlib.Path("cfg").mkdir()
pathlib.Path("cfg/profiler_config.json").write_text('{"start_step": 1, "stop_step": 2}')
monitor = DynamicProfilerMonitor("cfg", "out")
monitor.start()
for _ in range(3):
    work()
    monitor.step()
monitor.close()
"""


@pytest.mark.skipif(not NATIVE, reason="needs the native recorder")
def test_a_window_whose_disk_fails_is_not_complete(tmp_path: pathlib.Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", DISK_FAILS], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    infos = list(tmp_path.rglob("profiler_info_0.json"))
    assert len(infos) == 2
    for path in infos:
        about = json.loads(path.read_text())["stepscope"]
        assert not about["complete"]
        assert "events were not recorded" in about["missing"]
        assert "File too large" in about["missing"]
        assert about["recorded"]["not_recorded"] > 0
    assert ran.stderr.count("is not complete") == 2
    told = json.loads((tmp_path / "cfg" / ".stepscope" / "rank_0.json").read_text())
    assert "File too large" in told["error"]
    assert "File too large" in (tmp_path / "cfg" / "log" / "rank_0.log").read_text()


def test_a_file_that_is_there_is_taken(tmp_path: pathlib.Path) -> None:
    (tmp_path / "cfg").mkdir()
    file = tmp_path / "cfg" / "mine.json"
    file.write_text('{"start_step": 2, "stop_step": 3}')
    monitor = DynamicProfilerMonitor(str(file), str(tmp_path / "out"))
    for _ in range(5):
        monitor.step()
    monitor.close()
    assert steps_in(tmp_path / "out" / "rank0_start2_stop3") == [2, 3]
    assert file.read_text() == '{"start_step": 2, "stop_step": 3}'
    assert sorted(path.name for path in (tmp_path / "cfg").glob("*.json")) == ["mine.json"]


def test_wrong_arguments(tmp_path: pathlib.Path, said: Callable[[], list[str]]) -> None:
    for wrong in (None, 5, b"x"):
        with pytest.raises(TypeError, match="cfg_path must be a string"):
            DynamicProfilerMonitor(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        DynamicProfilerMonitor()  # type: ignore[call-arg]
    wrong_ones: dict[str, Any] = {"output_path": 5, "poll_interval": "x"}
    monitor = DynamicProfilerMonitor("cfg", **wrong_ones, other=1)
    monitor.close()
    assert len([line for line in said() if "reset to" in line]) == 2
    assert (tmp_path / "cfg" / "profiler_config.json").exists()


def test_a_loop(training: Callable[..., Training]) -> None:
    one = training()
    one.loop(3)
    one.ask(6, 8)
    one.loop(7)
    one.ask(12, 12)
    one.loop(5)
    assert one.windows() == {"rank0_start12_stop12": [12], "rank0_start6_stop8": [6, 7, 8]}
    assert any("steps 6 to 8 are recorded in" in line for line in one.log())


def test_the_first_step_of_a_loop(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(1, 2)
    one.monitor.start()
    one.loop(4)
    assert one.windows() == {"rank0_start1_stop2": [1, 2]}


@pytest.mark.parametrize("names", [("step_begin", "step_end"), ("on_train_step_begin", "")])
def test_callbacks(training: Callable[..., Training], names: tuple[str, str]) -> None:
    one = training()
    one.monitor.on_train_begin(one.context())
    one.ask(1, 3)
    for number in range(1, 7):
        one.number = number
        getattr(one.monitor, names[0])(one.context())
        getattr(one.monitor, names[1] or "on_train_step_end")(one.context())
    one.monitor.on_train_end(one.context())
    assert one.windows() == {"rank0_start1_stop3": [1, 2, 3]}


def test_evaluation_is_not_training(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(3, 3)
    one.callbacks(2)
    for name in ("on_eval_begin", "on_eval_step_begin", "on_eval_step_end", "on_eval_end"):
        getattr(one.monitor, name)(SimpleNamespace(original_args=lambda: {"cur_step_num": 3}))
    assert one.windows() == {}
    one.callbacks(2)
    assert one.windows() == {"rank0_start3_stop3": [3]}


def test_an_evaluation_within_a_training_does_not_end_its_window(
    training: Callable[..., Training], said: Callable[[], list[str]]
) -> None:
    one = training()
    one.ask(2, 4)
    with one.monitor:  # as MindSpore does it
        one.callbacks(3)
        with one.monitor:
            pass
        one.callbacks(2)
    assert one.windows() == {"rank0_start2_stop4": [2, 3, 4]}
    assert not any("was not reached" in line for line in said())


def test_data_sinking(training: Callable[..., Training]) -> None:
    """One call is four steps, and has the last one's number."""
    one = training()
    one.monitor.on_train_begin(one.context())
    one.ask(6, 9)
    one.callbacks(5, stride=4)
    assert one.windows() == {"rank0_start6_stop9": [8, 12]}, "whole calls, 5-8 and 9-12"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ('{"start_step": 7, "stop_st', "not JSON"),
        ("[1, 2]", "must be a JSON object"),
        ("[" * 100_000, "not JSON"),
        ('{"start_step": 9, "stop_step": 8}', "stop_step 8 comes before start_step 9"),
        ('{"start_step": 9, "stop_step": -1}', "comes before"),
        ('{"stop_step": 8}', "start_step is missing"),
        ('{"start_step": "9", "stop_step": 9}', "start_step must be a step's number"),
        ('{"start_step": true, "stop_step": 9}', "start_step must be"),
        ('{"start_step": 1e400, "stop_step": 9}', "start_step must be"),
        ('{"start_step": 9, "stop_step": 9, "record_shape": true}', "nearest: record_shapes"),
        ('{"start_step": 9, "stop_step": 9, "with_stack": 1}', "with_stack must be True or False"),
        ('{"start_step": 9, "stop_step": 9, "profiler_level": 3}', "profiler_level must be one of"),
        ('{"start_step": 9, "stop_step": 9, "analyse_mode": 2}', "analyse_mode must be one of"),
        ('{"start_step": 9, "stop_step": 9, "activities": "CPU"}', "activities must be"),
        ('{"start_step": 9, "stop_step": 9, "ranks": [0, "x"]}', "ranks must be"),
        (" " * (1 << 20) + "{}", "more than any configuration needs"),
    ],
)
def test_what_is_wrong_changes_nothing(
    training: Callable[..., Training], said: Callable[[], list[str]], text: str, why: str
) -> None:
    one = training()
    one.ask(6, 7)
    one.loop(3)
    said()
    before = len(one.log())
    one.write(text)
    one.loop(1)
    time.sleep(0.6)  # looks at it again meanwhile
    one.loop(4)
    lines = [line for line in one.log()[before:] if "is not taken" in line]
    assert len(lines) == 1 and why in lines[0], one.log()
    assert not [line for line in said() if "is not taken" in line], "in that log only"
    assert one.windows() == {"rank0_start6_stop7": [6, 7]}, "the old configuration stays"
    assert why in one.status("finished")["refused"]
    one.ask(10, 10)
    one.loop(4)
    assert one.windows()["rank0_start10_stop10"] == [10]


def test_a_file_in_the_middle_of_being_written(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config_file, "_SECOND_LOOK", 60.0)  # longer than this machine hesitates
    one = training()
    version = one.monitor._version
    with one.file.open("w") as file:
        file.write('{"start_step": 3,')
        file.flush()
        one.monitor._helper.wake()  # type: ignore[union-attr]
        until(lambda: one.monitor._file._broken is not None, "it is looked at")
        file.write('"stop_step": 3}')
    until(lambda: one.monitor._version != version)
    assert not [line for line in one.log() if "not taken" in line]


def test_the_same_numbers_arm_again(training: Callable[..., Training]) -> None:
    one = training()
    for _ in range(2):
        one.number = 0
        one.monitor.on_train_begin(one.context())
        one.ask(3, 4)
        one.callbacks(6)
        one.monitor.on_train_end(one.context())
    runs = sorted((one.output / "rank0_start3_stop4").iterdir())
    assert len(runs) == 2
    if NATIVE:
        for run in runs:
            assert steps_in(run) == [3, 4]


def test_a_window_that_runs_is_not_moved(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(2, 6)
    one.loop(2)
    one.ask(2, 3)
    one.loop(2)
    one.ask(9, 9)
    one.loop(8)
    assert one.windows() == {"rank0_start2_stop6": [2, 3, 4, 5, 6], "rank0_start9_stop9": [9]}


def test_a_window_can_be_taken_back(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(5, 6)
    one.loop(2)
    one.ask(-1, -1)
    one.loop(8)
    assert one.windows() == {}


def test_too_late(training: Callable[..., Training]) -> None:
    one = training()
    one.callbacks(5)
    one.ask(3, 8)
    one.callbacks(5)
    assert one.windows() == {}
    assert len([line for line in one.log() if "start_step 3 was over" in line]) == 1
    told = one.status("missed")
    assert told["late"] and told["error"].endswith("records nothing of this window")
    one.ask(12, 12)
    one.callbacks(5)
    assert one.windows() == {"rank0_start12_stop12": [12]}


def test_ranks_that_are_too_late_leave_the_window_to_others(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "2")
    one = training()
    one.loop(5)
    one.ask(3, 8)
    one.loop(5)
    assert one.windows() == {}
    assert "as others may have recorded all of it" in one.status("missed")["error"]


def test_a_window_that_cannot_be_recorded_tells_why(training: Callable[..., Training]) -> None:
    one = training()
    one.output.touch()
    one.ask(2, 3)
    one.loop(4)
    told = one.status("missed")
    assert told["error"].startswith("steps 2 to 3 are not recorded: [Errno ")
    assert not told["late"]
    assert any("are not recorded: [Errno " in line for line in one.log())


def test_a_loop_of_one_rank_records_what_is_left(training: Callable[..., Training]) -> None:
    one = training()
    one.loop(5)
    one.ask(3, 8)
    one.loop(6)
    assert one.windows() == {"rank0_start3_stop8": [7, 8]}


def test_a_loop_of_several_ranks_does_not(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "0")
    one = training()
    one.loop(5)
    one.ask(3, 8)
    one.loop(6)
    assert one.windows() == {}


def test_the_file_is_deleted_and_comes_back(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(5, 5)
    one.loop(2)
    one.file.unlink()
    until(lambda: any("it is gone" in line for line in one.log()))
    one.loop(5)
    one.ask(9, 9)
    one.loop(4)
    assert one.windows() == {"rank0_start5_stop5": [5], "rank0_start9_stop9": [9]}


def test_a_training_that_ends_inside_a_window(
    training: Callable[..., Training], said: Callable[[], list[str]]
) -> None:
    one = training()
    one.ask(3, 99)
    one.callbacks(5)
    one.monitor.on_train_end(one.context())
    assert one.windows() == {"rank0_start3_stop99": [3, 4, 5]}
    lines = said()
    assert any("stop_step 99 was not reached" in line for line in lines)
    assert not any("steps 3 to 99 are recorded" in line for line in lines)


def test_without_inotify(
    training: Callable[..., Training], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch.Watch, "_begin", lambda self: None)
    one = training(poll_interval=1)
    one.ask(2, 2)
    one.loop(3)
    assert one.windows() == {"rank0_start2_stop2": [2]}
    assert one.status("finished")["poll_interval_s"] == 1


def test_ranks_and_folder_of_the_configuration(
    training: Callable[..., Training], tmp_path: pathlib.Path
) -> None:
    one = training()
    one.ask(2, 2, ranks=[1, 2])
    one.loop(3)
    assert one.windows() == {}
    assert one.status("not chosen")["window"] == [2, 2]
    one.ask(6, 6, ranks=[0], prof_path=str(tmp_path / "elsewhere"))
    one.loop(5)
    assert steps_in(tmp_path / "elsewhere" / "rank0_start6_stop6") == [6]


@pytest.mark.parametrize(
    ("given", "options"),
    [
        ({}, {}),
        (SEED, {"parallel_strategy": False, "with_stack": False, "data_simplification": True}),
        ({"profiler_level": 0}, {"profiler_level": ProfilerLevel.Level0}),
        ({"aicore_metrics": 0}, {"aic_metrics": AicoreMetrics.ArithmeticUtilization}),
        ({"aicore_metrics": 1}, {"aic_metrics": AicoreMetrics.PipeUtilization}),
        ({"aic_metrics": 0}, {"aic_metrics": AicoreMetrics.PipeUtilization}),
        ({"aic_metrics": "MemoryUB"}, {"aic_metrics": AicoreMetrics.MemoryUB}),
        ({"profile_communication": True}, {"profiler_level": ProfilerLevel.Level1}),
        ({"profiler_level": "Level2"}, {"profiler_level": ProfilerLevel.Level2}),
        ({"activities": 0}, {}),
        ({"activities": ["CPU", "NPU"]}, {}),
        ({"export_type": 2}, {"export_type": [ExportType.Text, ExportType.Db]}),
        ({"export_type": ["text"]}, {}),
        ({"mstx": True, "mstx_domain_include": ["a"]}, {"mstx_domain_include": ["a"]}),
    ],
)
def test_codes(given: dict[str, Any], options: dict[str, Any]) -> None:
    whole = {"start_step": 3, "stop_step": 4, **given}
    whole.update(start_step=3, stop_step=4)
    read = config.read(json.dumps(whole).encode())
    assert (read.start, read.stop) == (3, 4)
    for name, value in options.items():
        assert read.options[name] == value
    if not options:
        assert not read.options
    if "aicore_metrics" in options or "aic_metrics" in options:
        assert read.options["profiler_level"] is ProfilerLevel.Level1


@pytest.mark.parametrize(
    ("given", "analyse", "in_background"),
    [
        ({}, False, False),
        ({"analyse_mode": -1}, False, False),
        ({"analyse_mode": 0}, True, False),
        ({"analyse_mode": 1}, True, True),
        ({"analyse": True}, True, False),
        ({"analyse": False, "analyse_mode": -1}, False, False),
    ],
)
def test_analysis(given: dict[str, Any], analyse: bool, in_background: bool) -> None:
    read = config.read(json.dumps({"start_step": 1, "stop_step": 1, **given}).encode())
    assert (read.analyse, read.in_background) == (analyse, in_background)


def test_what_a_rank_tells(
    training: Callable[..., Training],
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "run").mkdir(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("STEPSCOPE_JOB", "nightly")
    one = training()
    one.ask(3, 4, request="somebody")
    one.loop(1)
    told = one.status("armed")
    assert (told["rank"], told["pid"], told["window"]) == (0, os.getpid(), [3, 4])
    assert (told["request"], told["taken"], told["step"]) == ("somebody", "somebody", 1)
    one.loop(2)
    assert one.status("recording")["output"].startswith(str(one.output))
    one.loop(1)
    assert pathlib.Path(one.status("finished")["output"]).is_dir()
    place = tmp_path / "run" / "stepscope"
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    entry = json.loads((place / f"{os.getpid()}.json").read_text())
    assert (entry["cfg_path"], entry["jobs"]) == (str(one.folder), ["nightly"])
    one.monitor.close()
    assert one.status("ended")
    assert not list(place.iterdir())


def test_a_folder_that_cannot_be_made(
    tmp_path: pathlib.Path, said: Callable[[], list[str]]
) -> None:
    (tmp_path / "file").write_text("")
    monitor = DynamicProfilerMonitor(str(tmp_path / "file" / "cfg"))
    for _ in range(10):
        monitor.step()
    monitor.close()
    assert len([line for line in said() if "DynamicProfilerMonitor failed" in line]) == 1


def test_another_profiler_records(
    training: Callable[..., Training], said: Callable[[], list[str]], tmp_path: pathlib.Path
) -> None:
    profiler = stepscope.Profiler(output_path=str(tmp_path / "own"))
    one = training()
    assert any("a Profiler of this program is recording" in line for line in said())
    one.ask(2, 3)
    one.loop(4)
    profiler.stop()
    assert one.windows() == {}
    assert "one recording at a time" in one.status("missed")["error"]
    assert len([line for line in said() if "one recording at a time" in line]) == 1
    one.ask(7, 7)
    one.loop(5)
    assert one.windows() == {"rank0_start7_stop7": [7]}


def test_the_program_starts_one_inside_a_window(
    training: Callable[..., Training], said: Callable[[], list[str]]
) -> None:
    one = training()
    one.ask(2, 4)
    one.loop(2)
    profiler = stepscope.Profiler(output_path="own")
    assert any("a window of DynamicProfilerMonitor" in line for line in said())
    one.loop(4)
    profiler.stop()
    assert one.windows() == {"rank0_start2_stop4": [2, 3, 4]}


def test_callbacks_never_raise(training: Callable[..., Training]) -> None:
    one = training()
    for wrong in (None, 5, SimpleNamespace(original_args=lambda: {})):
        one.monitor.on_train_begin(wrong)
        one.monitor.on_train_step_begin(wrong)
        one.monitor.on_train_step_end(wrong)
        one.monitor.on_train_end(wrong)


def test_a_forked_child(training: Callable[..., Training]) -> None:
    one = training()
    one.ask(4, 5)
    one.loop(2)
    child = os.fork()
    if child == 0:  # a worker of a data loader: it must not watch, and does not
        os._exit(0 if one.monitor._helper is None else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    one.loop(2)
    child = os.fork()  # one that trains on watches by itself
    if child == 0:
        one.monitor.step()
        os._exit(0 if one.monitor._helper else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    one.loop(3)
    assert one.windows() == {"rank0_start4_stop5": [4, 5]}
    one.ask(9, 9)
    one.loop(3)
    assert one.windows()["rank0_start9_stop9"] == [9]


def test_it_keeps_no_program_alive(tmp_path: pathlib.Path) -> None:
    program = """
        import json, pathlib
        from stepscope.profiler import DynamicProfilerMonitor
        pathlib.Path("cfg").mkdir()
        text = json.dumps({"start_step": 2, "stop_step": 9})
        pathlib.Path("cfg/profiler_config.json").write_text(text)
        monitor = DynamicProfilerMonitor("cfg", "out")
        for _ in range(4):
            monitor.step()
        print("done")
    """
    paths = [str(pathlib.Path(__file__).parent / "fake"), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert (ended.returncode, ended.stdout) == (0, "done\n"), ended.stderr
    assert "stop_step 9 was not reached" in ended.stderr
    assert steps_in(tmp_path / "out" / "rank0_start2_stop9")[:3] == [2, 3, 4]


def test_a_monitor_that_is_dropped_stops_watching(tmp_path: pathlib.Path) -> None:
    monitor = DynamicProfilerMonitor(str(tmp_path / "cfg"))
    thread = monitor._helper._thread  # type: ignore[union-attr]
    helper = monitor._helper
    del monitor
    helper.wake()  # type: ignore[union-attr]
    until(lambda: not thread.is_alive())


def test_the_environment_records_already(tmp_path: pathlib.Path) -> None:
    program = """
        import stepscope
        monitor = stepscope.DynamicProfilerMonitor("cfg", "out")
        for _ in range(6):
            monitor.step()
    """
    (tmp_path / "cfg").mkdir()
    (tmp_path / "cfg" / "profiler_config.json").write_text('{"start_step": 3, "stop_step": 4}')
    paths = [str(pathlib.Path(__file__).parent / "fake"), os.environ.get("PYTHONPATH", "")]
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "MS_PROFILER_OPTIONS": '{"start": true, "output_path": "all"}',
        },
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    assert (
        "what STEPSCOPE_OPTIONS or MS_PROFILER_OPTIONS of the environment started" in ended.stderr
    )
    assert "steps 3 to 4 are not recorded" in ended.stderr
    assert not (tmp_path / "out").exists()
    assert len(list((tmp_path / "all").glob("*_ascend_ms"))) == 1, "that one is complete"


def test_no_bytes_are_too_strange() -> None:
    """Whatever is in the file, reading it gives a configuration or the reason, and nothing else."""
    chance = random.Random(7)
    whole = json.dumps({**SEED, "start_step": 5, "stop_step": 6, "ranks": [1], "host_sys": ["cpu"]})
    values = ("null", "true", "-1", "1e999", '""', "[]", "{}", "[[]]", '"\\ud800"', "9" * 5000)
    taken = 0
    for _ in range(3000):
        text = bytearray(whole.encode())
        for _ in range(chance.randint(1, 4)):
            at = chance.randrange(len(text))
            if chance.random() < 0.5:
                text[at] = chance.randrange(256)
            else:
                text[at : at + chance.randint(0, 20)] = chance.choice(values).encode()
        try:
            config.read(bytes(text))
            taken += 1
        except config.ConfigError as error:
            assert str(error)
    assert taken < 3000
