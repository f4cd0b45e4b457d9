from __future__ import annotations

import json
import os
import re
import socket
import sys
from datetime import datetime, timezone
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable

import pytest
from stepscope.profiler import (
    DynamicProfilerMonitor,
    Profiler,
    ProfilerActivity,
    ProfilerPathErrorException,
    tensorboard_trace_handler,
)
from stepscope.profiler.ranks import Place, find_place
from stepscope.profiler.run_directory import RunDirectory, check_path, find_run_directories

CPU = [ProfilerActivity.CPU]


def test_layout(runs: Callable[..., list[Path]]) -> None:
    Profiler(output_path="o", activities=CPU).stop()
    (run,) = runs("o")
    name = re.fullmatch(r"(.+)_(\d+)_(\d{14})\d{3}_ascend_ms", run.name)
    assert name and (name[1], name[2]) == (socket.gethostname(), str(os.getpid()))
    made = datetime.strptime(name[3] + "+0000", "%Y%m%d%H%M%S%z")
    assert abs((datetime.now(timezone.utc) - made).total_seconds()) < 60
    assert sorted(item.name for item in run.iterdir()) == [
        "ASCEND_PROFILER_OUTPUT",
        "FRAMEWORK",
        "profiler_info_0.json",
    ]
    info = json.loads((run / "profiler_info_0.json").read_text())
    assert info["profiler_parameters"]["activities"] == ["CPU"]
    assert info["ms_profiler_info"] == {"rank_id": "0", "device_id": "0"}
    assert info["stepscope"]["recorded"]["not_recorded"] == 0


def test_modes(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        Profiler(output_path="a/b", activities=CPU).stop()
    finally:
        os.umask(before)
    for item in (tmp_path / "a").rglob("*"):
        assert item.stat().st_mode & 0o777 == (0o750 if item.is_dir() else 0o640), item


def test_names_within_a_millisecond_differ(tmp_path: Path) -> None:
    assert len({RunDirectory(tmp_path).path for _ in range(20)}) == 20


@pytest.mark.parametrize("path", ["a:b", "x" * 300, "/" + "a/" * 2100, "file", "link"])
def test_refused_paths(path: str, tmp_path: Path, said: Callable[[], list[str]]) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(ProfilerPathErrorException, match="invalid path"):
        Profiler(output_path=path)
    assert said()[-1].startswith("ERROR Call to Profiler.__init__ failed")
    with pytest.raises(ProfilerPathErrorException):
        tensorboard_trace_handler(path)


def test_accepted_paths(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    assert check_path("") == tmp_path
    assert check_path("link/x") == tmp_path / "real" / "x"
    assert check_path("a/../数据 b/") == tmp_path / "数据 b"
    assert check_path("~") == Path.home().resolve()


def test_unwritable_folder_is_logged(said: Callable[[], list[str]]) -> None:
    profiler = Profiler(output_path="/proc/none")
    assert said()[-1].startswith("ERROR Call to Profiler.start failed")
    profiler.analyse()
    assert "not been initialized" in said()[0]


def test_a_program_whose_folder_is_gone_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Callable[[], list[str]]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    profiler = Profiler(output_path="x")
    assert re.search("Profiler.start failed: .*No such file", said()[-1])
    profiler.stop()
    tensorboard_trace_handler("x")
    DynamicProfilerMonitor(cfg_path="x", output_path="x").step()
    assert not list(tmp_path.iterdir())


def test_a_user_without_a_home_has_a_path(tmp_path: Path) -> None:
    assert check_path("~nobody-of-that-name/x") == tmp_path / "~nobody-of-that-name" / "x"


def test_find(tmp_path: Path) -> None:
    (tmp_path / "one" / "FRAMEWORK").mkdir(parents=True)
    (tmp_path / "two" / "PROF_000001_2024_ABC").mkdir(parents=True)
    (tmp_path / "three").mkdir()
    assert [path.name for path in find_run_directories(tmp_path)] == ["one", "two"]
    assert find_run_directories(tmp_path / "one") == [tmp_path / "one"]


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({}, Place(0, None, 0)),
        ({"RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1"}, Place(3, 8, 1)),
        ({"RANK_ID": "5", "RANK": "3", "RANK_SIZE": "16"}, Place(5, 16, 0)),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "4"}, Place(2, 4, 0)),
        ({"PMI_RANK": "6"}, Place(6, None, 0)),
        ({"RANK_ID": "no", "SLURM_PROCID": "7", "SLURM_NTASKS": "9"}, Place(7, 9, 0)),
    ],
)
def test_rank_from_environment(
    variables: dict[str, str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert find_place() == place


def test_rank_from_frameworks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "9")

    def not_yet() -> int:
        raise RuntimeError("call init() first")

    mindspore: Any = SimpleNamespace(get_rank=not_yet)
    monkeypatch.setitem(sys.modules, "mindspore.communication", mindspore)
    assert find_place().rank == 9
    mindspore.get_rank, mindspore.get_group_size = lambda: 4, lambda: 8
    assert find_place() == Place(4, 8, 0)
    torch: Any = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        get_rank=lambda: 2,
        get_world_size=lambda: 3,
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", torch)
    assert find_place() == Place(2, 3, 0)


def test_rank_names_the_file(
    runs: Callable[..., list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", "3")
    Profiler(activities=CPU).stop()
    assert (runs()[0] / "profiler_info_3.json").exists()
