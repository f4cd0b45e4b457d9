"""Watching a program: what happens in it leaves a run with the seconds before."""

from __future__ import annotations

import json
import pathlib
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any, Callable

import pytest
import stepscope
from stepscope import triggers
from stepscope.triggers import allocation
from stepscope.triggers.allocation import AllocationFailures, is_allocation_failure

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "triggers.md"

# Of steps of 20 ms: a step is slow when it takes 1.2 s, which a busy machine alone does not do. The
# one that is planted takes more than twice as long, as such a machine's other steps may.
FACTOR, PLANTED = 60, 3.0

# A child that trains: steps of 10 ms.
BEGINNING = """
import ctypes, os, signal, sys, time
import stepscope.triggers
def train(watch, steps, seconds=0.01):
    for _ in range(steps):
        watch.step()
        with stepscope.record_function("work"):
            time.sleep(seconds)
"""


PLAYED_TORCH = """
hooks = []
class Hook:
    def remove(self):
        hooks.clear()
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
    return Hook()
class Optimizer:
    pass
the_only = Optimizer()
def step():
    for hook in hooks:
        hook(the_only, (), {})
"""


def run_program(
    folder: pathlib.Path,
    text: str,
    *,
    kill_by: int = 0,
    is_done: Callable[[], bool] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs a program in ``folder``; a signal is sent when it says that it is ready. Its input ends
    when something has come true."""
    program = folder / "train.py"
    program.write_text(BEGINNING + text)
    with subprocess.Popen(
        [sys.executable, program],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout
        end = time.monotonic() + 120
        while is_done and not is_done() and child.poll() is None and time.monotonic() < end:
            time.sleep(0.05)
        if kill_by:
            assert "ready" in child.stdout.readline()
            child.send_signal(kill_by)
        out, said = child.communicate(timeout=600)
    return subprocess.CompletedProcess(child.args, child.returncode, out, said)


def captured(folder: pathlib.Path) -> list[pathlib.Path]:
    return sorted((folder / "captures").glob("*_ascend_ms"))


def triggers_of(path: pathlib.Path) -> list[dict[str, Any]]:
    with stepscope.open(path) as run:
        versions = json.loads(run.query("select versions from ranks")["versions"].tolist()[0])
    return list(versions["triggers"])


def the_trigger(path: pathlib.Path) -> dict[str, Any]:
    (trigger,) = triggers_of(path)
    return trigger


def steps_in(path: pathlib.Path) -> list[int]:
    with stepscope.open(path) as run:
        return [int(step) for step in run.table("steps")["step"].tolist()]


def test_the_example_of_the_page_runs(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert example is not None
    exec(compile(example[1], str(PAGE), "exec"), {})
    # A busy machine may have slow steps too.
    found = [trigger for run in captured(tmp_path) for trigger in triggers_of(run)]
    assert {trigger["kind"] for trigger in found} == {"slow_step"}


def test_a_slow_step_is_captured_with_the_steps_before(
    tmp_path: pathlib.Path, cli: pathlib.Path
) -> None:
    with triggers.watch(
        tmp_path / "captures",
        slow_step=triggers.SlowStep(factor=FACTOR, steps=1),
        capture_steps=2,
        no_progress_s=None,
    ) as watch:
        for number in range(1, 41):
            watch.step()
            with stepscope.record_function("work"):
                time.sleep(PLANTED if number == 30 else 0.02)
        end = time.monotonic() + 60
        while not any(capture.complete for capture in watch.captures):
            assert time.monotonic() < end, "it is never complete"
            watch.step()
            time.sleep(0.02)
        live = watch.captures
    assert watch.captures == live
    (run,) = captured(tmp_path)
    assert [capture.path for capture in live] == [run]
    trigger = the_trigger(run)
    assert trigger["kind"] == "slow_step"
    assert trigger["step"] == 30
    assert trigger["seconds"] >= PLANTED
    steps = steps_in(run)
    assert steps[0] == 1
    assert {30, 31} <= set(steps)
    with stepscope.open(run) as opened:
        marks = opened.query("select name from slices where cat = 'mark'")["name"].tolist()
    assert marks == ["trigger: slow_step"]
    said = subprocess.run([cli, "info", run], capture_output=True, text=True, check=True).stdout
    assert re.search(r"^captured +slow_step: step 30 took", said, re.MULTILINE), said
    said = subprocess.run([cli, "info", "--json", run], capture_output=True, text=True).stdout
    assert json.loads(said)["triggers"][0]["step"] == 30
    said = subprocess.run([cli, "report", run], capture_output=True, text=True, check=True).stdout
    assert "captured because of slow_step" in " ".join(said.split()), said


def test_nothing_is_written_when_nothing_happens(tmp_path: pathlib.Path) -> None:
    with triggers.watch(tmp_path / "captures", slow_step=None) as watch:
        for _ in range(50):
            watch.step()
            time.sleep(0.002)
    assert not (tmp_path / "captures").exists()
    assert watch.captures == []


@pytest.mark.parametrize("with_gil", [True, False], ids=["with the GIL", "without it"])
def test_a_hanging_program_leaves_its_last_steps_and_stacks(
    tmp_path: pathlib.Path, with_gil: bool
) -> None:
    # PyDLL keeps the interpreter's lock while the function runs.
    library = "PyDLL" if with_gil else "CDLL"
    program = f"""
def hang_in_here():
    room = ctypes.create_string_buffer(1)
    while ctypes.{library}(None).read(0, room, 1) < 0:  # until its end, whatever signals come
        pass
watch = stepscope.triggers.watch(
    "captures", slow_step=None, no_progress_s=3, keep_seconds=1, capture_seconds=1)
train(watch, 30)
hang_in_here()
os._exit(0)
"""

    def has_stacks() -> bool:
        found = (tmp_path / "captures").glob("*/logs/python_stacks.txt")
        return any("hang_in_here" in path.read_text() for path in found)

    done = run_program(tmp_path, program, is_done=has_stacks)
    assert done.returncode == 0, done.stderr
    (run,) = captured(tmp_path)
    assert "no_progress" in done.stderr
    trigger = the_trigger(run)
    assert trigger["kind"] == "no_progress"
    assert trigger["step"] == 30
    assert steps_in(run)[-1] == 30
    assert "hang_in_here" in (run / "logs" / "python_stacks.txt").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGABRT, signal.SIGSEGV])
def test_a_signal_leaves_the_seconds_before_and_still_kills(
    tmp_path: pathlib.Path, number: signal.Signals
) -> None:
    program = """
watch = stepscope.triggers.watch("captures", slow_step=None)
train(watch, 30)
print("ready", flush=True)
time.sleep(60)
"""
    done = run_program(tmp_path, program, kill_by=number)
    assert done.returncode == -number
    (run,) = captured(tmp_path)
    trigger = the_trigger(run)
    assert (trigger["kind"], trigger["signal"]) == ("signal", int(number))
    assert steps_in(run)[-1] == 30


def test_a_handler_of_the_program_still_gets_the_signal(tmp_path: pathlib.Path) -> None:
    program = """
def save(*_):
    os.write(1, b"saved\\n")  # the signal may come while "ready" is being printed
    sys.exit(3)
signal.signal(signal.SIGTERM, save)
watch = stepscope.triggers.watch("captures", slow_step=None)
train(watch, 20)
print("ready", flush=True)
for _ in range(600):
    time.sleep(0.1)
"""
    done = run_program(tmp_path, program, kill_by=signal.SIGTERM)
    assert done.returncode == 3
    assert "saved" in done.stdout
    (run,) = captured(tmp_path)
    assert the_trigger(run)["signal"] == int(signal.SIGTERM)


def test_the_environment_can_ask_for_a_watch(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = {"slow_step": {"factor": FACTOR, "steps": 1}, "no_progress_s": None, "capture_steps": 2}
    options = {"start": True, "output_path": "captures", "watch": rules}
    monkeypatch.setenv("STEPSCOPE_OPTIONS", json.dumps(options))
    program = f"""
from stepscope import _record
for number in range(1, 60):
    _record.step(number)
    time.sleep({PLANTED} if number == 30 else 0.02)
"""
    done = run_program(tmp_path, program)
    assert done.returncode == 0, done.stderr
    (run,) = captured(tmp_path)
    assert the_trigger(run)["step"] == 30


RULES = ("--watch", "--slow-factor", str(FACTOR), "--slow-steps", "1", "--no-progress", "0")


def test_the_command_line_can_ask_for_a_watch(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    program = f"""
import time
from stepscope import _record
for number in range(1, 60):
    _record.step(number)
    time.sleep({PLANTED} if number == 30 else 0.02)
"""
    said = record_program("-c", program, options=(*RULES, "--capture-steps", "2"))
    (run,) = (tmp_path / "runs").glob("*_ascend_ms")
    assert the_trigger(run)["step"] == 30
    assert f"{run}: " in said, "the command names it at its end"


def test_the_command_line_says_when_nothing_was_captured(
    record_program: Callable[..., str], tmp_path: pathlib.Path
) -> None:
    said = record_program("-c", "print('nothing of ours')", options=("--watch",))
    assert "nothing was captured" in said
    assert list((tmp_path / "runs").iterdir()) == []


def test_a_framework_that_is_imported_later_joins_the_watch(tmp_path: pathlib.Path) -> None:
    # Played: steps are marked by the optimizers of a torch that has nothing else.
    torch = tmp_path / "torch" / "optim"
    torch.mkdir(parents=True)
    (torch.parent / "__init__.py").write_text("")
    (torch / "__init__.py").write_text("")
    (torch / "optimizer.py").write_text(PLAYED_TORCH)
    program = f"""
with stepscope.triggers.watch("captures", operators=False, no_progress_s=None,
                              slow_step=stepscope.triggers.SlowStep(factor={FACTOR}, steps=1)):
    from torch.optim import optimizer
    for number in range(40):
        time.sleep({PLANTED} if number == 30 else 0.02)
        optimizer.step()
"""
    done = run_program(tmp_path, program)
    assert done.returncode == 0, done.stderr
    (run,) = captured(tmp_path)
    assert the_trigger(run)["kind"] == "slow_step"


def test_memory_that_is_not_to_be_had_is_a_cause(tmp_path: pathlib.Path) -> None:
    program = """
watch = stepscope.triggers.watch("captures", slow_step=None)
train(watch, 20)
bytearray(1 << 60)
"""
    done = run_program(tmp_path, program)
    assert done.returncode == 1
    assert "MemoryError" in done.stderr
    (run,) = captured(tmp_path)
    assert the_trigger(run)["kind"] == "allocation_failure"
    assert steps_in(run)[-1] == 20


def test_a_failure_that_passes_through_the_block_is_seen(tmp_path: pathlib.Path) -> None:
    with (
        pytest.raises(RuntimeError),
        triggers.watch(tmp_path / "captures", slow_step=None) as watch,
    ):
        watch.step()
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to ...")
    (capture,) = watch.captures
    assert capture.kind == "allocation_failure"
    assert "DefaultCPUAllocator" in capture.what


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (MemoryError(), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"), True),
        (RuntimeError("Allocate memory failed, size 12"), True),
        (RuntimeError("Malloc for kernel output failed, Memory isn't enough"), True),
        (RuntimeError("shapes do not match"), False),
        (ValueError("out of memory"), False),
        (KeyboardInterrupt(), False),
        (None, False),
    ],
)
def test_which_errors_are_failed_allocations(error: BaseException, expected: bool) -> None:
    assert is_allocation_failure(error) is expected


def test_a_cause_of_an_error_counts_too() -> None:
    error = ValueError("the layer")
    error.__cause__ = MemoryError()
    assert is_allocation_failure(error)


def test_hooks_are_put_back() -> None:
    before = sys.excepthook
    failures = AllocationFailures(lambda what: None)
    assert sys.excepthook != before
    failures.stop()
    assert sys.excepthook is before


def test_torch_is_given_one_observer_for_all_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps them for ever; a watch begins anew behind every profiler's window."""
    observers: list[Any] = []
    native = SimpleNamespace(_cuda_attach_out_of_memory_observer=observers.append)
    cuda = SimpleNamespace(is_initialized=lambda: True)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(_C=native, cuda=cuda))
    monkeypatch.setattr(allocation, "_is_attached", False)
    told: list[str] = []
    for _ in range(3):
        failures = AllocationFailures(told.append)
        observers[0](0, 2**20, 2**30, 0)
        failures.stop()
    observers[0](0, 2**20, 2**30, 0)
    assert len(observers) == 1
    assert len(told) == 3, "each watch once, and none behind its end"


@pytest.mark.parametrize("number", ["no number", 2**70, float("nan"), object()])
def test_a_wrong_number_of_a_step_is_not_the_trainings_problem(
    number: Any, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with triggers.watch(tmp_path / "captures") as watch:
        watch.step(number)
        watch.step(7)
    assert "Call to Watch.step failed" in caplog.text


def test_a_profiler_interrupts_the_watch_and_it_goes_on(tmp_path: pathlib.Path) -> None:
    with triggers.watch(tmp_path / "captures", slow_step=None, no_progress_s=None) as watch:
        for _ in range(3):
            watch.step()
        with stepscope.Profiler(output_path=str(tmp_path / "data")) as profiler:
            for _ in range(3):
                profiler.step()
        assert watch.active
        for _ in range(3):
            watch.step()
        watch.trigger("to see what there is")
    assert len(list((tmp_path / "data").glob("*_ascend_ms"))) == 1
    (run,) = captured(tmp_path)
    assert steps_in(run) == [4, 5, 6]


def test_a_second_watch_is_refused_and_wrong_values_are_replaced(
    tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    with triggers.watch(
        tmp_path / "captures",
        keep_seconds=-1,
        slow_step=triggers.SlowStep(factor=0.5),
        schedule=stepscope.schedule(wait=1, active=1),
    ) as first:
        assert "keep_seconds is -1: reset to 10" in caplog.text
        assert "slow_step is" in caplog.text
        assert "schedule has no effect in a watch" in caplog.text
        second = triggers.watch(tmp_path / "captures")
        assert "watched already" in caplog.text
        assert first.active
        assert not second.active
        second.step()
        second.trigger("nobody listens")
        second.stop()
        assert first.active
    assert not first.active
    assert not (tmp_path / "captures").exists()
