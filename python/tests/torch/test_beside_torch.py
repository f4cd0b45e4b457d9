"""torch.profiler in a program that Stepscope records: it must work as if it were alone."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import stepscope
import torch
from stepscope.torch import ProfilerActivity, profile

_CPU = [ProfilerActivity.CPU]
_FLOATS = 1000
_BYTES = 4 * _FLOATS


def by_torch(**options: Any) -> Any:
    return torch.profiler.profile(activities=_CPU, **options)


def allocated(profiler: Any) -> int:
    """The bytes of calls of torch.empty in the profiler's averages."""
    rows = [row for row in profiler.key_averages() if row.key == "aten::empty"]
    return sum(row.cpu_memory_usage for row in rows)


def not_honoured(profiler: profile) -> str:
    with stepscope.open(profiler.run_path or "") as run:
        examples = {finding.code: finding.example for finding in run.quality}
    return examples.get("not_honoured") or ""


@pytest.mark.parametrize("with_memory", [False, True])
def test_torch_profiler_gets_the_reports_and_gives_them_back(
    with_memory: bool, caplog: pytest.LogCaptureFixture
) -> None:
    functions = torch.autograd.profiler._enable_profiler, torch.autograd.profiler._disable_profiler
    with profile(profile_memory=True) as ours:
        before = torch.empty(_FLOATS)
        for _ in range(2):
            with by_torch(profile_memory=with_memory) as theirs:
                inside = torch.empty(_FLOATS)
        behind = torch.empty(_FLOATS)
    del before, inside, behind
    assert allocated(theirs) == _BYTES * with_memory
    assert allocated(ours) == 2 * _BYTES, "of those before and behind"
    assert caplog.text.count("profile_memory has effect in part: torch.profiler starts") == 1
    assert "profile_memory: torch.profiler ran on this thread as well" in not_honoured(ours)
    now = torch.autograd.profiler._enable_profiler, torch.autograd.profiler._disable_profiler
    assert now == functions, "nothing is left of it"


def test_either_may_end_first() -> None:
    ours, theirs = profile(profile_memory=True), by_torch(profile_memory=True)
    ours.start()
    theirs.start()
    first = torch.empty(_FLOATS)
    ours.stop()
    second = torch.empty(_FLOATS)
    theirs.stop()
    assert (allocated(ours), allocated(theirs)) == (0, 2 * _BYTES)
    ours, theirs = profile(profile_memory=True), by_torch(profile_memory=True)
    theirs.start()
    ours.start()
    first = torch.empty(_FLOATS)
    theirs.stop()
    second = torch.empty(_FLOATS)
    ours.stop()
    del first, second
    assert (allocated(ours), allocated(theirs)) == (_BYTES, _BYTES)
    assert "torch.profiler runs on this thread" in not_honoured(ours)
    with by_torch(profile_memory=True):
        pass


def test_a_profiler_of_another_thread_takes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def elsewhere() -> None:
        with by_torch():
            torch.empty(_FLOATS)

    with profile(profile_memory=True) as ours:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        here = torch.empty(_FLOATS)
    del here
    assert allocated(ours) == _BYTES
    assert "torch.profiler starts" not in caplog.text
    assert not not_honoured(ours)


def test_the_old_profiler_and_markers_work_as_well() -> None:
    with profile(profile_memory=True):
        with torch.autograd.profiler_legacy.profile():
            torch.empty(_FLOATS)
        with torch.autograd.profiler.profile(use_kineto=True):
            torch.empty(_FLOATS)


PROGRAM = """
import torch
from torch.profiler import ProfilerActivity, profile, schedule

model = torch.nn.Linear(8, 8)
plan = schedule(wait=1, warmup=1, active=2, repeat=2)
with profile(activities=[ProfilerActivity.CPU], schedule=plan, profile_memory=True) as prof:
    for _ in range(9):
        model(torch.ones(2, 8)).sum().backward()
        prof.step()
print("calls", {row.key: row.count for row in prof.key_averages()}["aten::addmm"])
"""


def test_a_program_with_a_profiler_of_its_own_is_recorded(record_program: Any) -> None:
    options = '{"start": true, "activities": ["CPU"], "profile_memory": true}'
    said = record_program("-c", PROGRAM, STEPSCOPE_OPTIONS=options)
    assert "calls 2" in said
    with stepscope.open("runs") as run:
        count = run.query("select count(*) as n from ops where name = 'aten::addmm'")["n"][0]
        assert count == 9
        assert run.query("select count(*) as n from memory")["n"][0] > 0
