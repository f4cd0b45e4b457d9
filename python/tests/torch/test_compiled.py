"""Ranges that torch makes for profilers only: those of torch.compile."""

from __future__ import annotations

import pathlib
import threading
from collections import Counter
from typing import Any, Callable

import pytest
import stepscope
import torch
from stepscope import triggers
from stepscope.torch import ProfilerActivity, profile

_CPU = [ProfilerActivity.CPU]
_Fast: Any = torch._C._profiler._RecordFunctionFast
# Ranges are asked for where the program compiles something.
torch.compile(torch.nn.Identity(), backend="eager")


def is_flag_up() -> bool:
    return bool(torch.autograd.profiler._is_profiler_enabled)


def by_torch(**options: Any) -> Any:
    return torch.profiler.profile(activities=_CPU, **options)


def fast(name: str) -> None:
    with _Fast(name):
        torch.ones(2)


def named(profiler: Any) -> Counter[str]:
    rows = {row.key: row.count for row in profiler.key_averages()}
    return Counter({name: count for name, count in rows.items() if "::" not in name})


@pytest.mark.parametrize("with_memory", [False, True])
def test_fast_ranges_are_recorded_and_nothing_is_left(with_memory: bool) -> None:
    setter = torch.autograd.profiler._set_is_profiler_enabled
    fast("before")
    with profile(activities=_CPU, profile_memory=with_memory) as ours:
        assert is_flag_up()
        fast("inside")
    fast("behind")
    assert named(ours) - Counter(["[memory]"]) == {"inside": 1}
    assert not is_flag_up()
    assert torch.autograd.profiler._set_is_profiler_enabled is setter
    with by_torch() as theirs:
        fast("theirs")
    assert named(theirs) == {"theirs": 1}


def test_a_compiled_program_has_the_ranges_that_torch_profiler_shows() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    compiled = torch.compile(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step() -> None:
        compiled(torch.ones(4, 8)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(2):
        step()
    with by_torch() as theirs:
        step()
    with profile(activities=_CPU) as ours:
        step()
    counts = [Counter({row.key: row.count for row in p.key_averages()}) for p in (theirs, ours)]
    assert counts[0] == counts[1]
    assert sum("## Call CompiledFxGraph" in name for name in counts[1]) == 2
    assert not is_flag_up()


@pytest.mark.parametrize("with_memory", [False, True])
def test_torch_profiler_keeps_its_ranges_and_its_flag(
    with_memory: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with profile(activities=_CPU, profile_memory=with_memory) as ours:
        with by_torch() as theirs:
            fast("both")
        assert is_flag_up()
        fast("ours")
    assert named(theirs) == {"both": 1}
    assert named(ours) - Counter(["[memory]"]) == {"both": 1, "ours": 1}
    assert not is_flag_up()
    assert bool(caplog.text) == with_memory
    # Either may end first.
    ours, theirs = profile(activities=_CPU), by_torch()
    ours.start()
    theirs.start()
    ours.stop()
    assert is_flag_up()
    fast("theirs")
    theirs.stop()
    assert not is_flag_up()
    assert named(theirs) == {"theirs": 1}
    theirs.start()
    ours.start()
    theirs.stop()
    assert is_flag_up()
    fast("ours")
    ours.stop()
    assert not is_flag_up()
    assert named(ours) == {"ours": 1}


def test_a_program_that_compiles_nothing_pays_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    # What torch's optimizers leave there, which are never compiled.
    monkeypatch.setattr("torch._dynamo.eval_frame.cached_backends", {id(None): None})
    with profile(activities=_CPU) as ours:
        assert not is_flag_up()
        fast("inside")
    assert named(ours) == Counter(), "the place of torch's profiler is free"


def test_a_watch_does_not_make_torch_take_its_slower_paths(tmp_path: pathlib.Path) -> None:
    with triggers.watch(tmp_path, no_progress_s=None):
        assert not is_flag_up()
    with profile(activities=_CPU):
        assert is_flag_up()


def on_another_thread(work: Callable[[], object]) -> None:
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_a_recording_that_another_thread_stops_leaves_room_for_torch_profiler() -> None:
    ours = profile(activities=_CPU, profile_memory=True)
    ours.start()
    on_another_thread(ours.stop)
    with by_torch(profile_memory=True) as theirs:
        torch.empty(1000)
    assert theirs.key_averages()
    with profile(activities=_CPU) as again:
        fast("again")
    with stepscope.open(again.run_path or "") as run:
        assert run.query("select count(*) as n from memory")["n"][0] == 0
    assert named(again) == {"again": 1}
    nothing_is_left()


def nothing_is_left() -> None:
    enable = torch.autograd.profiler._enable_profiler
    assert not hasattr(enable, "__wrapped__")


def test_a_recording_that_stops_within_backward_leaves_room_for_torch_profiler() -> None:
    """Behind a backward pass torch puts back what its thread had before."""
    ours = profile(activities=_CPU)
    weight = torch.ones(2, requires_grad=True)
    weight.register_post_accumulate_grad_hook(lambda _: ours.stop())
    ours.start()
    weight.sum().backward()
    with by_torch() as theirs:
        fast("theirs")
    assert named(theirs) == {"theirs": 1}
    with profile(activities=_CPU):
        pass
    nothing_is_left()
