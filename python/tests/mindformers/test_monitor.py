"""ProfileMonitor in a stand-in for ``Model.train`` that sinks, as a device does and no CPU can."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.mindformers


class Context:
    """What callbacks are given."""

    def __init__(self, **values: Any) -> None:
        self.values = Values(values)

    def original_args(self) -> Any:
        return self.values


class Values(dict):  # type: ignore[type-arg]
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


class Watched:
    """In the place of stepscope.Profiler: notes which steps it saw."""

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.pairs: dict[str, str] = {}
        self.is_on = False
        self.steps: list[int] = []
        self.calls: list[str] = []

    def start(self) -> None:
        self.is_on = True
        self.calls.append("start")

    def stop(self) -> None:
        self.is_on = False
        self.calls.append("stop")

    def analyse(self) -> None:
        self.calls.append("analyse")

    def add_metadata_json(self, key: str, value: str) -> None:
        self.pairs[key] = value


@pytest.fixture
def monitor_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    from stepscope.mindformers import monitor

    monkeypatch.setattr(monitor, "Profiler", Watched)
    for name in ("RANK_ID", "RANK"):
        monkeypatch.delenv(name, raising=False)
    return monitor.ProfileMonitor


def train_without_sinks(monitor: Any, steps: int, first: int = 1) -> None:
    context = Context(cur_step_num=first - 1, batch_num=steps, dataset_sink_mode=False)
    about = context.values
    monitor.on_train_begin(context)
    monitor.on_train_epoch_begin(context)
    for _ in range(steps):
        about.cur_step_num += 1
        monitor.on_train_step_begin(context)
        if monitor.profiler and monitor.profiler.is_on:
            monitor.profiler.steps.append(about.cur_step_num)
        monitor.on_train_step_end(context)
    monitor.on_train_epoch_end(context)
    monitor.on_train_end(context)


def train_with_sinks(monitor: Any, sinks: int, size: int) -> None:
    """In the order of MindSpore's ``_train_dataset_sink_process``, in graph mode."""
    context = Context(cur_step_num=0, batch_num=size, dataset_sink_mode=True, sink_size=size)
    about = context.values
    monitor.on_train_begin(context)
    for epoch in range(1, sinks + 1):
        about["cur_epoch_num"] = epoch
        monitor.on_train_epoch_begin(context)
        if monitor.profiler.is_on:  # the device has got the sink from here on
            monitor.profiler.steps += range(about.cur_step_num + 1, about.cur_step_num + size + 1)
        about.cur_step_num += size
        monitor.on_train_step_begin(context)
        monitor.on_train_step_end(context)
        monitor.on_train_epoch_end(context)
    monitor.on_train_end(context)


def test_it_records_its_steps(monitor_class: Any) -> None:
    monitor = monitor_class(3, 6, output_path="out", profile_memory=True, profiler_level=2)
    train_without_sinks(monitor, 12)
    profiler = monitor.profiler
    assert profiler.steps == [3, 4, 5, 6]
    assert profiler.calls == ["start", "stop", "analyse"]
    assert profiler.options["output_path"] == "out/profile/rank_0/profiler"
    assert profiler.options["profile_memory"] is True
    assert profiler.options["profiler_level"].value == "Level2"


def test_it_starts_at_once(monitor_class: Any) -> None:
    monitor = monitor_class()
    assert monitor.profiler.calls == ["start"], "before the first step, which compiles"
    train_without_sinks(monitor, 12)
    assert monitor.profiler.steps == list(range(1, 11))


def test_a_training_that_ends_early_keeps_what_there_is(
    monitor_class: Any, caplog: pytest.LogCaptureFixture
) -> None:
    monitor = monitor_class(3, 60)
    train_without_sinks(monitor, 5)
    assert monitor.profiler.steps == [3, 4, 5]
    assert monitor.profiler.calls == ["start", "stop", "analyse"]
    assert "ended before step 60" in caplog.text


def test_a_training_that_is_resumed_behind_the_start(monitor_class: Any) -> None:
    monitor = monitor_class(3, 6)
    train_without_sinks(monitor, 5, first=5)
    assert monitor.profiler.steps == [5, 6]


@pytest.mark.parametrize(
    ("size", "asked", "as_mindformers", "recorded"),
    [
        (4, (6, 11), False, (5, 12)),
        (4, (6, 11), True, (1, 16)),
        (2, (5, 7), False, (5, 8)),
        (2, (5, 7), True, (3, 8)),
        (10, (3, 9), False, (1, 10)),
        (10, (3, 9), True, (1, 20)),
        (1, (3, 6), False, (3, 6)),
        (1, (3, 6), True, (3, 6)),
    ],
)
def test_data_sinking(
    monitor_class: Any,
    size: int,
    asked: tuple[int, int],
    as_mindformers: bool,
    recorded: tuple[int, int],
    caplog: pytest.LogCaptureFixture,
) -> None:
    monitor = monitor_class(*asked, as_mindformers=as_mindformers)
    train_with_sinks(monitor, 20, size)
    assert monitor.profiler.steps == list(range(recorded[0], recorded[1] + 1))
    assert monitor.profiler.calls == ["start", "stop", "analyse"]
    assert caplog.text.count("data are sunk") == (0 if size == 1 else 1), "once, not in every epoch"


def test_ranks_that_are_not_asked_for_do_nothing(
    monitor_class: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK_ID", "3")
    monitor = monitor_class(3, 6, profile_rank_ids=[0, 1])
    train_without_sinks(monitor, 12)
    assert monitor.profiler is None
    monitor = monitor_class(3, 6, profile_rank_ids=[3])
    assert monitor.profiler.options["output_path"] == "output/profile/rank_3/profiler"


def test_it_is_made_of_a_configuration(monitor_class: Any) -> None:
    from mindformers import MindFormerConfig
    from stepscope.mindformers import profile_monitor

    assert profile_monitor(MindFormerConfig(profile=False)) is None
    config = MindFormerConfig(
        profile=True, profile_start_step=2, profile_stop_step=3, profile_communication=True,
        parallel={"parallel_mode": 1}, parallel_config={"model_parallel": 8},
    )  # fmt: skip
    monitor = profile_monitor(config)
    assert monitor is not None
    assert monitor.profiler.options["profiler_level"].value == "Level1"  # type: ignore[union-attr]
    assert '"tensor_model_parallel_size": 8' in monitor.profiler.pairs["distributed_args"]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("stages", "ranks", "why"),
    [(3, 4, "4 ranks cannot be divided into 3 pipeline stages"), (0, 4, "into 0"),
     ("two", 4, "two"), ([2], 4, "int()")],
)  # fmt: skip
def test_a_pipeline_that_cannot_be_is_logged(
    monitor_class: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    stages: Any,
    ranks: int,
    why: str,
) -> None:
    config = {"parallel_config": {"pipeline_stage": stages}}
    monkeypatch.setenv("RANK_SIZE", str(ranks))
    monitor = monitor_class(3, 6, profile_pipeline=True, config=config)
    train_without_sinks(monitor, 8)
    assert monitor.profiler.steps == [3, 4, 5, 6], "rank 0 begins every pipeline"
    lines = [line for line in caplog.messages if "only rank 0" in line]
    assert len(lines) == 1 and why in lines[0]
    monkeypatch.setenv("RANK_ID", "1")
    assert monitor_class(3, 6, profile_pipeline=True, config=config).profiler is None


def test_what_goes_wrong_is_not_the_trainers_problem(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from stepscope.mindformers import monitor

    train_without_sinks(monitor.ProfileMonitor(3, 6, output_path="out|put"), 8)
    assert "invalid path" in caplog.text
    strange = monitor.ProfileMonitor(3, 6)
    for name in ("epoch_begin", "step_begin", "step_end", "epoch_end"):
        getattr(strange, f"on_train_{name}")(Context(dataset_sink_mode=True))
        getattr(strange, f"on_train_{name}")(object())
    strange.on_train_end(object())
    assert "ProfileMonitor.on_train_step_end failed" in caplog.text
