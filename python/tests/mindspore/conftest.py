"""MindSpore itself, in programs of their own: it cannot be unloaded, and msrun starts programs."""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, Callable

import pytest
import stepscope

PROGRAMS = pathlib.Path(__file__).parent / "programs"
PACKAGE = pathlib.Path(stepscope.__file__).parent

Started = Callable[..., dict[str, Any]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("mindspore"):
        return
    why = f"needs MindSpore: {sys.executable} -m pip install 'mindspore==2.10.0' 'numpy<2'"
    for item in items:
        if item.get_closest_marker("mindspore"):
            item.add_marker(pytest.mark.skip(reason=why))


def environment(folder: pathlib.Path, injected: bool, more: dict[str, str]) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if "RANK" not in k and "PROFILER" not in k}
    paths = [str(PACKAGE / "mindspore" / "inject")] if injected else []
    paths += [str(PACKAGE.parent), kept.get("PYTHONPATH", "")]
    programs = [str(pathlib.Path(sys.executable).parent), kept["PATH"]]
    own = {
        "PATH": os.pathsep.join(programs), "PYTHONPATH": os.pathsep.join(paths),
        "GLOG_v": "3", "OMP_NUM_THREADS": "1", "TMPDIR": str(folder),
    }  # fmt: skip
    return {**kept, **own, **more}


def under_msrun(ranks: int, folder: pathlib.Path) -> list[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    return [
        str(pathlib.Path(sys.executable).parent / "msrun"), f"--worker_num={ranks}",
        f"--local_worker_num={ranks}", f"--master_port={port}", f"--log_dir={folder}/log",
        "--join=True",
    ]  # fmt: skip


@pytest.fixture
def own_environment(tmp_path: pathlib.Path) -> dict[str, str]:
    return environment(tmp_path, False, {})


@pytest.fixture
def in_environment(tmp_path: pathlib.Path) -> Callable[..., dict[str, str]]:
    """The environment of a program that trains on its own."""
    return lambda: environment(tmp_path, False, {})


@pytest.fixture
def train(tmp_path: pathlib.Path) -> Started:
    """Runs a program of ``programs/`` and returns what it says about itself in truth.json."""

    def run(
        name: str,
        *arguments: str,
        ranks: int = 0,
        injected: bool = False,
        expect: int = 0,
        **more: str,
    ) -> dict[str, Any]:
        command = under_msrun(ranks, tmp_path) if ranks else [sys.executable]
        done = subprocess.run(
            [*command, str(PROGRAMS / name), *arguments, str(tmp_path)],
            cwd=tmp_path,
            env=environment(tmp_path, injected, more),
            text=True,
            capture_output=True,
            timeout=1200,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        truth: dict[str, Any] = json.loads((tmp_path / "truth.json").read_text())
        return {**truth, "said": done.stdout + done.stderr}

    return run


@pytest.fixture
def recorded(tmp_path: pathlib.Path) -> Iterator[Callable[[], stepscope.Run]]:
    """Opens what was recorded into the test's folder."""
    opened: list[stepscope.Run] = []

    def open_run() -> stepscope.Run:
        opened.append(stepscope.open(tmp_path))
        return opened[-1]

    yield open_run
    for run in opened:
        run.close()


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: pathlib.Path) -> Iterator[None]:
    yield
    shared = pathlib.Path("/dev/shm")
    left = [*tmp_path.glob("stepscope-mindspore-*"), *shared.glob("stepscope-mindspore-*")]
    gone = [one for one in left if not pathlib.Path("/proc", one.name.split("-")[2]).exists()]
    assert not gone, "windows of operators were not removed"
