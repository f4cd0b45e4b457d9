"""Numbers and names of ``stepscope.torch.profile`` beside those of ``torch.profiler`` itself."""

from __future__ import annotations

import pathlib
import subprocess
import sys
from collections import Counter
from typing import Any, Callable

import pytest
import torch
from stepscope.torch import ProfilerActivity, profile, record_function, schedule

_CPU = [ProfilerActivity.CPU]


def recorded_by_both(function: Callable[[], object], **options: Any) -> tuple[Any, Any]:
    """The profilers, torch's and ours, of one call each."""
    function()  # what is made once is made
    with torch.profiler.profile(activities=_CPU, **options) as theirs:
        function()
    with profile(activities=_CPU, **options) as ours:
        function()
    return theirs, ours


def nested(depth: int) -> None:
    with record_function("deep"):
        if depth:
            nested(depth - 1)


def forked(depth: int) -> None:
    """In which no range is alone."""
    with record_function("fork"):
        if depth:
            forked(depth - 1)
            forked(depth - 1)


def reductions() -> None:
    numbers = torch.ones(100, 100)
    for _ in range(5):
        numbers.mean(), numbers.std(), numbers.sum()


def half_precision() -> None:
    layer = torch.nn.Linear(8, 8)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layer(torch.ones(2, 8)).mean().backward()


@pytest.mark.parametrize(
    "function", [lambda: nested(300), lambda: forked(4), reductions, half_precision]
)
def test_an_operator_in_itself_is_counted_as_torch_counts_it(
    function: Callable[[], None],
) -> None:
    theirs, ours = recorded_by_both(function, record_shapes=True)
    for by_shape in (False, True):
        counts = [
            Counter({(row.key, str(row.input_shapes)): row.count for row in found})
            for found in (theirs.key_averages(by_shape), ours.key_averages(by_shape))
        ]
        assert counts[0] == counts[1]
    trees = [
        [(event.name, event.cpu_parent.name if event.cpu_parent else "",
          Counter(child.name for child in event.cpu_children)) for event in found.events()]
        for found in (theirs, ours)
    ]  # fmt: skip
    assert trees[0] == trees[1]
    events = ours.events()
    outermost = sum(event.cpu_time_total for event in events if event.cpu_parent is None)
    assert events.self_cpu_time_total == pytest.approx(outermost), "no time is counted twice"


def loose_tensors() -> None:
    with record_function("inside"):
        kept = torch.empty(100)
    other = torch.empty(1000)
    del kept, other


@pytest.mark.parametrize("function", [reductions, loose_tensors])
@pytest.mark.parametrize("by_shape", [False, True])
def test_bytes_are_those_of_torch(function: Callable[[], None], by_shape: bool) -> None:
    """Also those of an operator in itself, and those that belong to none (the row [memory])."""
    theirs, ours = recorded_by_both(function, profile_memory=True, record_shapes=True)
    bytes_of = [
        {
            (row.key, str(row.input_shapes)): (
                row.count,
                row.cpu_memory_usage,
                row.self_cpu_memory_usage,
            )
            for row in found.key_averages(by_shape)
        }
        for found in (theirs, ours)
    ]
    assert bytes_of[0] == bytes_of[1]
    assert ("[memory]", "[]" if by_shape else "") in bytes_of[1]
    loose = [
        [event.cpu_memory_usage for event in found.events() if event.name == "[memory]"]
        for found in (theirs, ours)
    ]
    assert loose[0] == loose[1]


def test_bytes_under_a_module_alone_belong_to_no_event() -> None:
    class Frees(torch.nn.Module):
        def forward(self, tensors: list[torch.Tensor]) -> None:
            tensors.clear()

    with profile(activities=_CPU, profile_memory=True, with_modules=True) as ours:
        Frees()([torch.empty(100), torch.empty(200)])
    rows = {row.key: row for row in ours.key_averages()}
    assert (rows["[memory]"].count, rows["[memory]"].cpu_memory_usage) == (2, -1200)
    assert sum(row.self_cpu_memory_usage for row in rows.values()) == 0
    assert "-1.17 KB" in ours.key_averages().table()


@pytest.mark.parametrize("top_level_only", [False, True])
def test_rows_come_in_the_order_of_torchs(top_level_only: bool) -> None:
    def work() -> None:
        with record_function("range"):
            loose_tensors()
            reductions()
        half_precision()

    def first_words(rows: Any) -> list[str]:
        table = rows.table(row_limit=12, top_level_events_only=top_level_only)
        return [line.strip().split("  ")[0] for line in table.splitlines()[:-1]]

    theirs, ours = recorded_by_both(work, profile_memory=True, record_shapes=True)
    for by_shape in (False, True):
        words = first_words(ours.key_averages(by_shape))
        assert words == first_words(theirs.key_averages(by_shape))
        assert ("inside" in words) != top_level_only
    assert first_words(ours.events()) == first_words(theirs.events())


def calculations() -> None:
    ones = torch.ones
    convolution = torch.nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2)
    convolution(ones(2, 4, 9, 9)).sum().backward()
    torch.nn.Linear(16, 4)(ones(8, 16, requires_grad=True)).sum().backward()
    torch.bmm(ones(2, 3, 4), ones(2, 4, 5))
    torch.baddbmm(ones(2, 3, 5), ones(2, 3, 4), ones(2, 4, 5))
    torch.mm(ones(0, 4), ones(4, 5))
    ones(3, 4) + 1
    ones(()) * 2


def test_flops_are_torchs() -> None:
    theirs, ours = recorded_by_both(calculations, with_flops=True)
    counted = [
        {row.key: row.flops for row in found.key_averages() if row.flops}
        for found in (theirs, ours)
    ]
    assert counted[0] == counted[1]
    assert {"aten::conv2d", "aten::addmm", "aten::mm", "aten::bmm"} <= counted[1].keys()
    assert sum(event.flops for event in ours.events()) == sum(counted[1].values())
    columns = [found.key_averages().table().splitlines()[1].split() for found in (theirs, ours)]
    assert columns[0] == columns[1]
    assert columns[1][-2:] == ["Total", "FLOPs"]
    for by_shape in (False, True):
        tables = [found.key_averages(by_shape).table(row_limit=-1) for found in (theirs, ours)]
        rows = [[line for line in table.splitlines() if "::" in line] for table in tables]
        cells = [Counter(line.split()[-1] for line in lines) for lines in rows]
        assert cells[0] == cells[1]
    _, without = recorded_by_both(calculations, record_shapes=True)
    assert not any(row.flops for row in without.key_averages())


def test_attributes_that_programs_read(tmp_path: pathlib.Path) -> None:
    def ready(_profiler: object) -> None: ...

    options: dict[str, Any] = {"record_shapes": True, "with_flops": True, "profile_memory": True}
    theirs, ours = recorded_by_both(lambda: nested(2), on_trace_ready=ready, **options)
    internal = {"action_map", "activity_configs", "preset_metadata", "step_rec_fn", "mem_tl"}
    internal |= {"has_cudagraphs", "experimental_config", "execution_trace_observer"}
    internal |= {"custom_trace_id_callback", "post_processing_timeout_s", "record_steps"}
    missing = {name for name in vars(theirs) if name[0] != "_" and not hasattr(ours, name)}
    assert missing <= internal
    for name in (*options, "with_stack", "with_modules", "acc_events", "use_device"):
        assert getattr(ours, name) == getattr(theirs, name), name
    assert set(ours.activities) == set(theirs.activities)
    assert ours.on_trace_ready is theirs.on_trace_ready is ready
    assert ours.schedule(0) == theirs.schedule(0)
    cycle = schedule(wait=1, warmup=1, active=1)
    assert profile(schedule=cycle).schedule is cycle
    assert profile().profiler is None
    assert ours.profiler.self_cpu_time_total == ours.key_averages().self_cpu_time_total
    assert len(ours.profiler.function_events) == len(theirs.profiler.function_events)
    assert ours.profiler.total_average().count == theirs.profiler.total_average().count
    row, their_row = ours.key_averages()[0], theirs.key_averages()[0]
    event, their_event = ours.events()[0], theirs.events()[0]
    for name in ("is_async", "is_remote", "is_legacy", "use_device", "node_id", "flops"):
        assert getattr(row, name) == getattr(their_row, name), name
        assert getattr(event, name) == getattr(their_event, name), name
    for mine, their in ((row, their_row), (event, their_event)):
        assert list(mine.stack) == list(their.stack) == []
        assert mine.device_type == their.device_type
        assert bool(mine.is_user_annotation) == bool(their.is_user_annotation) is True
        assert mine.overload_name == (their.overload_name or "")
    ours.key_averages().export_chrome_trace(str(tmp_path / "trace.json"))
    assert "deep" in (tmp_path / "trace.json").read_text()


def test_a_handler_may_be_given_later() -> None:
    profiler, called = profile(activities=_CPU), []
    profiler.on_trace_ready = called.append
    with profiler:
        torch.ones(2)
    assert called == [profiler]


@pytest.mark.parametrize("by_shape", [False, True])
def test_events_are_those_of_all_windows_where_asked_for(by_shape: bool) -> None:
    def counts(kind: Any, accumulate: bool) -> tuple[Counter[str], Counter[str]]:
        plan = schedule(wait=0, warmup=1, active=2, repeat=2)
        with kind(
            activities=_CPU, schedule=plan, acc_events=accumulate, record_shapes=True
        ) as found:
            for size in range(8):
                torch.ones(2 + size // 6)
                found.step()
        rows = found.key_averages(by_shape)
        averages: Counter[str] = Counter()
        for row in rows:
            averages[f"{row.key} {row.input_shapes}"] += row.count
        assert found.get_trace_id()
        return averages, Counter(f"{event.name} {event.trace_name}" for event in found.events())

    for accumulate in (False, True):
        ours, theirs = counts(profile, accumulate), counts(torch.profiler.profile, accumulate)
        assert ours == theirs
        assert (ours[1]["ProfilerStep* ProfilerStep#1"] > 0) == accumulate


@pytest.mark.parametrize("steps", range(1, 8))
def test_a_loop_may_end_anywhere_in_a_cycle(steps: int, caplog: pytest.LogCaptureFixture) -> None:
    def delivered(kind: Any) -> list[int]:
        calls: list[int] = []
        with kind(
            activities=_CPU,
            schedule=schedule(wait=1, warmup=1, active=2),
            on_trace_ready=lambda profiler: calls.append(profiler.step_num),
        ) as profiler:
            for _ in range(steps):
                profiler.step()
                for _ in range(100):
                    torch.ones(100, 100)
        return calls

    assert delivered(profile) == delivered(torch.profiler.profile)
    assert not [record for record in caplog.records if record.levelname == "WARNING"]


def test_a_trace_has_the_process_groups_that_torchs_has(tmp_path: pathlib.Path) -> None:
    program = """
import json, torch, torch.distributed as dist, stepscope.torch
dist.init_process_group("gloo", init_method="file://" + __file__ + ".store", rank=0, world_size=1)
group = dist.new_group([0], group_desc="mine")
for kind in (torch.profiler.profile, stepscope.torch.profile):
    with kind(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        dist.all_reduce(torch.ones(2), group=group)
    profiler.export_chrome_trace("trace.json")
    print(json.dumps(json.load(open("trace.json"))["distributedInfo"], sort_keys=True))
dist.destroy_process_group()
"""
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    theirs, ours = done.stdout.splitlines()
    assert ours == theirs
    assert "mine" in ours
