"""Numbers and names of ``stepscope.torch.profile`` beside those of ``torch.profiler`` itself."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable

import pytest
import torch
from stepscope.torch import ProfilerActivity, profile, record_function

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


def test_bytes_of_an_operator_in_itself_are_those_of_the_outer_one() -> None:
    theirs, ours = recorded_by_both(reductions, profile_memory=True)
    bytes_of = [
        {row.key: (row.cpu_memory_usage, row.self_cpu_memory_usage) for row in found.key_averages()}
        for found in (theirs, ours)
    ]
    del bytes_of[0]["[memory]"]  # torch's row for what is freed outside of operators
    assert bytes_of[0]["aten::mean"] == bytes_of[1]["aten::mean"]
    assert bytes_of[0] == bytes_of[1]
