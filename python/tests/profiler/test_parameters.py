from __future__ import annotations

import dataclasses
import json
import warnings
from pathlib import Path
from typing import Any, Callable

import fake_record
import pytest
import stepscope
from stepscope import StepscopeWarning, _record
from stepscope.profiler import (
    AicoreMetrics,
    ExportType,
    HostSystem,
    Profiler,
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    profile,
    schedule,
)
from stepscope.profiler.cost import estimated
from stepscope.profiler.devices import default_parameters, not_honoured, present, sources
from stepscope.profiler.parameters import Parameters, resolve

BOOLS = [name for name, value in vars(Parameters()).items() if isinstance(value, bool)]
CPU, NPU, GPU = ProfilerActivity.CPU, ProfilerActivity.NPU, ProfilerActivity.GPU


def effective(**options: Any) -> dict[str, Any]:
    return Profiler(start_profile=False, **options).effective_parameters()


@pytest.mark.parametrize("name", sorted({*BOOLS} - {"start_profile"}))
def test_booleans(name: str, said: Callable[[], list[str]]) -> None:
    default = getattr(Parameters(), name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepscopeWarning)  # some are deprecated
        for value in (True, False):
            assert effective(**{name: value})[name] is value
        assert effective(**{name: None})[name] is default
    assert said() == []
    for wrong in (0, 1, "True", []):
        assert effective(**{name: wrong})[name] is default
        assert said() == [
            f"WARNING {name} must be True or False, not {wrong!r}: reset to {default!r}"
        ]


@pytest.mark.parametrize(
    ("name", "value", "kept", "complains"),
    [
        ("activities", [CPU, CPU], ["CPU"], False),
        ("activities", [], [], False),
        ("activities", (CPU,), ["CPU", "NPU"], True),
        ("activities", ["CPU"], ["CPU", "NPU"], True),
        ("activities", CPU, ["CPU", "NPU"], True),
        ("profiler_level", "Level1", "Level0", True),
        ("aic_metrics", 2, "None", True),
        ("export_type", "db", ["db"], False),
        ("export_type", ExportType.Db, ["db"], False),
        ("export_type", [], ["text"], False),
        ("export_type", ["db"], ["text"], True),
        ("export_type", "xml", ["text"], True),
        ("host_sys", [HostSystem.MEM], ["mem"], False),
        ("host_sys", ["mem"], [], True),
        ("output_path", 5, "./data", True),
        ("output_path", "a/b", "a/b", False),
        ("schedule", 5, schedule(wait=0, active=1).to_dict(), True),
        ("max_disk_gb", -1, None, True),
        ("max_disk_gb", float("inf"), None, True),
        ("max_host_mb", 10**30, None, True),
        ("gpu_tier", "kernels", None, False),
        ("gpu_tier", "some", None, True),
        ("gpu_tier", 2, None, True),
        ("system_interval_ms", 1, None, False),
        ("system_interval_ms", 60_000, None, False),
        ("system_interval_ms", 0, None, True),
        ("system_interval_ms", 60_001, None, True),
        ("system_interval_ms", 0.5, None, True),
        ("system_interval_ms", True, None, True),
    ],
)
def test_values(
    name: str, value: object, kept: object, complains: bool, said: Callable[[], list[str]]
) -> None:
    said()
    assert effective(**{name: value}).get(name) == kept
    lines = said()
    assert len(lines) == complains
    assert all(line.startswith(f"WARNING {name} must be ") for line in lines)


def test_wrong_callbacks(said: Callable[[], list[str]]) -> None:
    for kind in (Profiler, profile):
        kind(start_profile=False, on_trace_ready=5)  # type: ignore[arg-type]
        assert said() == ["WARNING on_trace_ready must be a function, not 5: reset to None"]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (dict(profiler_level=ProfilerLevel.LevelNone), dict(profiler_level="Level0")),
        (dict(aic_metrics=AicoreMetrics.Memory), dict(aic_metrics="None")),
        (dict(profiler_level=ProfilerLevel.Level1), dict(aic_metrics="PipeUtilization")),
        (dict(record_shapes=True, activities=[NPU]), dict(record_shapes=False)),
        (dict(mstx_domain_include=["a"]), dict(mstx_domain_include=[])),
        (
            dict(mstx=True, mstx_domain_include=["a", "a"], mstx_domain_exclude=["b"]),
            dict(mstx_domain_include=["a"], mstx_domain_exclude=[]),
        ),
        (
            dict(schedule=schedule(wait=0, warmup=1, active=1), data_process=True),
            dict(data_process=False, is_set_schedule=True),
        ),
    ],
)
def test_contradictions_are_settled(options: dict[str, Any], kept: dict[str, Any]) -> None:
    with pytest.warns(StepscopeWarning, match="reset|will be set to") as caught:
        found = effective(**options)
    assert {name: found[name] for name in kept} == kept
    assert caught[0].filename == __file__  # the line to change, not one of ours


@pytest.mark.filterwarnings("error")
def test_what_goes_together_is_left_alone() -> None:
    found = effective(profiler_level=ProfilerLevel.Level2, aicore_metrics=AicoreMetrics.L2Cache)
    assert (found["profiler_level"], found["aic_metrics"]) == ("Level2", "L2Cache")
    assert effective(profiler_level=ProfilerLevel.LevelNone, mstx=True)["mstx"] is True


@pytest.mark.parametrize(
    "name",
    ["profile_communication", "op_time", "profile_framework", "host_stack", "timeline_limit"],
)
def test_retired_names(name: str) -> None:
    with pytest.warns(StepscopeWarning, match=f"{name} is deprecated"):
        effective(**{name: True})


def test_unknown_names() -> None:
    with pytest.warns(StepscopeWarning, match="no parameter with_stak.*nearest: with_stack"):
        effective(with_stak=True)
    with pytest.warns(StepscopeWarning, match="no parameter foo, it is ignored$"):
        effective(foo=True)
    with pytest.raises(TypeError):
        profile(start_profile=False, foo=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Profiler(True)  # type: ignore[misc]


def test_experimental_config(said: Callable[[], list[str]]) -> None:
    config = _ExperimentalConfig(mstx=True, export_type=[ExportType.Db])
    config.l2_cache = True
    found = profile(start_profile=False, experimental_config=config).effective_parameters()
    assert (found["mstx"], found["export_type"], found["l2_cache"]) == (True, ["db"], True)
    profile(start_profile=False, experimental_config=5)  # type: ignore[arg-type]
    assert "experimental_config must be an _ExperimentalConfig" in said()[0]


def test_devices_are_found_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert present(tmp_path) == {CPU}
    (tmp_path / "nvidiactl").touch()
    (tmp_path / "davinci0").touch()
    assert present(tmp_path) == {CPU}  # hidden from this process, see conftest.py
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert present(tmp_path) == {CPU, GPU}
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "0,1")
    assert present(tmp_path) == {CPU, GPU, NPU}


def test_sources_are_those_asked_for_and_present() -> None:
    host, nvidia = frozenset({CPU}), frozenset({CPU, GPU})
    assert set(sources(Parameters(), host)) == {"system"}
    assert set(sources(default_parameters(nvidia), nvidia)) == {"system", "gpu"}
    assert set(sources(Parameters(with_stack=True), host)) == {"system", "python_stacks"}
    assert set(sources(Parameters(activities=(NPU,), with_stack=True), host)) == {"system"}
    assert set(sources(Parameters(), frozenset({CPU, NPU}))) == {"system", "npu"}


def test_what_cannot_be_honoured_is_said() -> None:
    host = frozenset({CPU})
    assert not_honoured(resolve({}), host) == {}
    asked = {"activities": [CPU, GPU], "l2_cache": True, "sync_enable": False, "mstx": True}
    assert list(not_honoured(resolve(asked), host)) == ["activities", "l2_cache", "sync_enable"]
    on_gpu = not_honoured(resolve(asked), host | {GPU})
    assert list(on_gpu) == ["l2_cache", "sync_enable"]
    assert "both times of an operator are recorded either way" in on_gpu["sync_enable"]
    shapes = not_honoured(resolve({"record_shapes": True}), host)
    assert shapes == {"record_shapes": "no framework that tells it is imported"}


@pytest.mark.parametrize(
    ("activities", "line"),
    [
        ([CPU, NPU], "in part: this machine has no NPU, it is left out; recorded: CPU"),
        ([CPU, GPU, NPU], "in part: this machine has no GPU and no NPU, they are left out; rec"),
        ([NPU], "activities has no effect: this machine has no NPU"),
    ],
)
def test_what_is_recorded_of_the_activities_is_said(
    activities: list[ProfilerActivity],
    line: str,
    said: Callable[[], list[str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("stepscope.profiler.devices.present", lambda: frozenset({CPU}))
    monkeypatch.setattr("stepscope.profiler.profiler.present", lambda: frozenset({CPU}))
    Profiler(output_path=str(tmp_path), activities=activities).stop()
    told = [text for text in said() if text.startswith("WARNING activities has ")]
    assert len(told) == 1
    assert line in told[0]


def test_the_default_that_a_wrong_value_falls_back_to_is_named(
    said: Callable[[], list[str]],
) -> None:
    nvidia = frozenset({CPU, GPU})
    given = resolve({"activities": [CPU, GPU], "gpu_tier": "all", "system_interval_ms": 0})
    tier, interval = said()
    assert tier.endswith("not 'all': reset to 'full' ('pulse' with ProfilerLevel.LevelNone)")
    assert interval.endswith("not 0: reset to 1000 (100 with data_process)")
    chosen = sources(given, nvidia)
    assert (chosen["gpu"]["tier"], chosen["system"]["interval_ms"]) == (3, 1000)
    quiet = resolve({"data_process": True, "profiler_level": ProfilerLevel.LevelNone, "mstx": True})
    chosen = sources(dataclasses.replace(quiet, activities=(CPU, GPU)), nvidia)
    assert (chosen["gpu"]["tier"], chosen["system"]["interval_ms"]) == (1, 100)


@pytest.mark.parametrize("tier", ["pulse", "kernels", "full"])
def test_the_gpus_tier_can_be_chosen(tier: str) -> None:
    nvidia = frozenset({CPU, GPU})
    number = ["pulse", "kernels", "full"].index(tier) + 1
    given = resolve({"activities": [CPU, GPU], "gpu_tier": tier})
    assert sources(given, nvidia)["gpu"] == {"tier": number}
    assert not_honoured(given, nvidia) == {}
    assert sources(resolve({"activities": [CPU, GPU]}), nvidia)["gpu"] == {"tier": 3}


def test_the_systems_interval_can_be_chosen() -> None:
    host = frozenset({CPU})
    for given, interval in (
        ({}, 1000),
        ({"data_process": True}, 100),
        ({"system_interval_ms": 5}, 5),
        ({"system_interval_ms": 2000, "data_process": True}, 2000),
    ):
        assert sources(resolve(given), host)["system"] == {"interval_ms": interval}


@pytest.mark.parametrize("kind", [Profiler, profile])
def test_our_own_options_reach_the_recorder(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []

    def refuse(folder: str, options: str) -> None:
        given.append(json.loads(options))
        raise RuntimeError("seen enough")

    monkeypatch.setattr(_record, "Recording", refuse)
    monkeypatch.setattr("stepscope.profiler.devices.present", lambda: frozenset({CPU, GPU}))
    kind(activities=[CPU, GPU], gpu_tier="kernels", system_interval_ms=20, max_disk_gb=0.5)
    assert given[0]["sources"] == {"system": {"interval_ms": 20}, "gpu": {"tier": 2}}
    assert given[0]["max_disk_gb"] == 0.5


def test_the_chosen_sources_are_in_the_run(tmp_path: Path) -> None:
    Profiler(output_path=str(tmp_path), system_interval_ms=20).stop()
    (info,) = tmp_path.glob("*_ascend_ms/profiler_info_0.json")
    kept = json.loads(info.read_text())["stepscope"]
    assert kept["sources"] == {"system": {"interval_ms": 20}}
    assert "system_interval_ms" not in json.loads(info.read_text())["profiler_parameters"]


def test_the_estimate_is_of_what_is_chosen() -> None:
    usual = Parameters()
    every_second = estimated({"system": {"interval_ms": 1000}}, [], usual)
    assert every_second.startswith("estimated cost 0.02 % of one core, 500 bytes a second")
    often = estimated({"system": {"interval_ms": 10}}, [], usual)
    assert often.startswith("estimated cost 2 % of one core, 50 kB a second")
    chosen = {"system": {"interval_ms": 1000}, "python_stacks": {}, "gpu": {"tier": 2}}
    text = estimated(chosen, ["much more"], usual)
    assert text.startswith("estimated cost 1.8 to 6 % of one core, and 1 to 2 µs of the launching")
    assert ", and much more, " in text


# What to ask for so that a machine without devices and frameworks cannot give it.
NOT_ON_A_CPU: dict[str, Any] = {
    "activities": [CPU, NPU, GPU],
    "profiler_level": ProfilerLevel.Level2,
    "aic_metrics": AicoreMetrics.Memory,
    "l2_cache": True,
    "hbm_ddr": True,
    "pcie": True,
    "sys_io": True,
    "sys_interconnection": True,
    "host_sys": [HostSystem.CPU, HostSystem.OSRT],
    "sync_enable": False,
    "profile_memory": True,
    "record_shapes": True,
    "parallel_strategy": True,
    "export_type": [ExportType.Db],
    "gpu_tier": "kernels",
}
EVERYWHERE = {
    *("output_path", "start_profile", "schedule", "on_trace_ready", "with_stack", "mstx"),
    *("mstx_domain_include", "mstx_domain_exclude", "data_simplification", "asked"),
    *("max_host_mb", "max_disk_gb", "min_free_gb", "data_process", "system_interval_ms"),
}


def test_every_parameter_is_honoured_or_named() -> None:
    assert {*NOT_ON_A_CPU, *EVERYWHERE} == {item.name for item in dataclasses.fields(Parameters)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepscopeWarning)  # some are deprecated
        given = resolve(NOT_ON_A_CPU)
        assert set(not_honoured(given, frozenset({CPU}))) == set(NOT_ON_A_CPU)
        only_stacks = resolve({"with_stack": True, "activities": [NPU]})
    assert set(not_honoured(only_stacks, frozenset({CPU, NPU}))) == {"with_stack"}
    on_npu = {"activities", "sync_enable", "record_shapes", "parallel_strategy", "gpu_tier"}
    assert set(not_honoured(given, frozenset({CPU, NPU}))) == on_npu


def test_what_is_not_honoured_is_in_the_log_once_and_in_the_run(
    said: Callable[[], list[str]], tmp_path: Path
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StepscopeWarning)
        profiler = Profiler(start_profile=False, output_path=str(tmp_path), **NOT_ON_A_CPU)
    for _ in range(2):
        profiler.start()
        profiler.stop()
    lines = said()
    for name in NOT_ON_A_CPU:
        effect = "has effect in part" if name == "activities" else "has no effect"
        told = [line for line in lines if line.startswith(f"WARNING {name} {effect}: ")]
        assert len(told) == 1, (name, lines)
    for run in tmp_path.glob("*_ascend_ms"):
        kept = json.loads((run / "profiler_metadata.json").read_text())["not_honoured"]
        assert set(kept) == set(NOT_ON_A_CPU)
        if _record.Recording is not fake_record.Recording:
            with stepscope.open(run) as opened:
                found = {finding.code: finding.count for finding in opened.quality}
                assert found["not_honoured"] == len(NOT_ON_A_CPU)
