"""The keys of a mindformers YAML, and the arithmetic of data sinking; without mindformers."""

from __future__ import annotations

import logging
import pathlib
import re

import pytest
from stepscope.mindformers import MonitorSettings, round_as_mindformers, round_to_sinks
from stepscope.mindformers.settings import checked, from_yaml, pipeline_ranks
from stepscope.mindformers.sinks import recorded_steps, sink_window

_DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs"


@pytest.mark.parametrize(
    ("size", "asked", "rounded"),
    [
        (2, (1, 10), (2, 10)),
        (2, (5, 7), (4, 8)),
        (4, (1, 10), (4, 12)),
        (4, (3, 9), (4, 10)),
        (4, (6, 11), (4, 14)),
        (4, (1, 1), (4, 8)),
        (5, (3, 9), (5, 13)),
        (5, (6, 11), (5, 12)),
        (10, (1, 10), (10, 10)),
        (10, (3, 9), (10, 20)),
        (4, (0, 8), (0, 8)),  # bounds hold only for what was changed
        (1, (3, 6), (3, 6)),
    ],
)
def test_mindformers_arithmetic(
    size: int, asked: tuple[int, int], rounded: tuple[int, int]
) -> None:
    assert round_as_mindformers(*asked, size) == rounded


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 10])
def test_ours_holds_what_was_asked_for_and_no_sink_more(size: int) -> None:
    for start in range(1, 30):
        for stop in range(start, 30):
            sinks = {(step - 1) // size for step in range(start, stop + 1)}
            steps = [step for step in range(1, 60) if (step - 1) // size in sinks]
            assert round_to_sinks(start, stop, size) == (steps[0], steps[-1])


def test_theirs_can_miss_no_step_but_records_others() -> None:
    for size in (2, 3, 4, 5, 10):
        for start in range(1, 30):
            for stop in range(start, 30):
                theirs = recorded_steps(*round_as_mindformers(start, stop, size), size)
                ours = round_to_sinks(start, stop, size)
                assert theirs[0] <= ours[0]
                assert theirs[1] >= ours[1]


def test_the_table_of_the_page() -> None:
    page = (_DOCS / "suites.md").read_text()
    row = re.compile(r"\| (\d+) \| (\d+) to (\d+) \| (\d+) to (\d+) \| (\d+), (\d+) \| (\d+) to")
    found = [tuple(map(int, match)) for match in row.findall(page)]
    assert len(found) == 6
    for size, start, stop, first, last, their_start, their_stop, their_first in found:
        assert round_to_sinks(start, stop, size) == (first, last)
        assert round_as_mindformers(start, stop, size) == (their_start, their_stop)
        assert recorded_steps(their_start, their_stop, size)[0] == their_first


@pytest.mark.parametrize("as_mindformers", [False, True])
def test_the_difference_is_logged(caplog: pytest.LogCaptureFixture, as_mindformers: bool) -> None:
    window = sink_window(6, 11, 4, as_mindformers)
    assert window == ((4, 14) if as_mindformers else (5, 12))
    both = ["1 to 16", "5 to 12"] if as_mindformers else ["5 to 12", "1 to 16"]
    assert re.findall(r"\d+ to \d+", caplog.text) == ["6 to 11", *both]


def test_nothing_is_logged_where_both_are_what_was_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert sink_window(1, 10, 2, as_mindformers=False) == (1, 10)
    assert not caplog.records


def test_the_keys_of_the_yaml() -> None:
    given = {
        "profile": True, "profile_start_step": 3, "profile_stop_step": 6,
        "init_start_profile": False, "profile_communication": True, "profile_memory": True,
        "output_path": "out", "profile_rank_ids": [0, 8], "with_stack": True, "seed": 0,
    }  # fmt: skip
    settings = from_yaml(given)
    assert settings == MonitorSettings(
        3, 6, False, True, True, "out", (0, 8), profiler_level=1, with_stack=True
    )
    assert str(settings.folder(8)) == "out/profile/rank_8/profiler"
    assert settings.wants(8, frozenset())
    assert not settings.wants(1, frozenset())


def test_defaults() -> None:
    settings = from_yaml({"profile": True})
    assert settings == MonitorSettings()
    assert settings.starts_at_once
    assert str(settings.folder(3)) == "output/profile/rank_3/profiler"
    assert settings.wants(3, frozenset())


@pytest.mark.parametrize(
    ("given", "at_once"),
    [
        ({"profile_start_step": 1}, True),
        ({"profile_start_step": 2}, False),
        ({"profile_start_step": 2, "init_start_profile": True}, True),
        ({"profile_start_step": 1, "init_start_profile": False}, False),
    ],
)
def test_init_start_profile(given: dict[str, object], at_once: bool) -> None:
    assert from_yaml(given).starts_at_once is at_once


def test_a_start_that_has_no_effect_is_said(caplog: pytest.LogCaptureFixture) -> None:
    from_yaml({"profile_start_step": 5, "init_start_profile": True})
    assert "profile_start_step 5 has no effect" in caplog.text


@pytest.mark.parametrize("output", ["runs/{id}", "runs/rank_{id}/x"])
def test_a_folder_of_the_rank(output: str) -> None:
    assert str(checked(output_path=output).folder(2)) == output.replace("{id}", "2")


@pytest.mark.parametrize(
    "given",
    [
        {"profile_start_step": 0},
        {"profile_start_step": "3"},
        {"profile_start_step": 3.0},
        {"profile_stop_step": -1},
        {"profile_stop_step": True},
        {"profile_start_step": 7, "profile_stop_step": 6},
        {"init_start_profile": "yes"},
        {"profile_memory": 1},
        {"profiler_level": 3},
        {"profiler_level": True},
        {"output_path": ""},
        {"output_path": 5},
        {"profile_rank_ids": "0"},
        {"profile_rank_ids": [0, "1"]},
        {"profile_rank_ids": 0},
    ],
)
def test_a_wrong_value_is_replaced_and_said(
    given: dict[str, object], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        assert from_yaml(given) == MonitorSettings()
    (line,) = caplog.messages
    assert "reset to" in line


def test_an_empty_list_of_ranks_means_all() -> None:
    assert from_yaml({"profile_rank_ids": []}) == MonitorSettings()


def test_pipeline_stages() -> None:
    assert pipeline_ranks(4, 16) == {0, 4, 8, 12}
    settings = checked(profile_pipeline=True, profile_rank_ids=[1])
    assert [settings.wants(rank, pipeline_ranks(2, 4)) for rank in range(4)] == [
        True,
        True,
        True,
        False,
    ]
    with pytest.raises(ValueError, match="10 ranks cannot be divided into 4"):
        pipeline_ranks(4, 10)
