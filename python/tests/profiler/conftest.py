"""The profiler's tests run with the native recorder where it is built, else with a stand-in."""

from __future__ import annotations

import logging
import os
import pathlib
import sys
from collections.abc import Iterator
from typing import Callable

import pytest

FAKE = pathlib.Path(__file__).parent / "fake"

sys.path.append(str(FAKE))

import fake_cann  # noqa: E402, found through the line above
import fake_record  # noqa: E402

fake_record.install()

from stepscope import _record  # noqa: E402

Said = Callable[[], list[str]]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty folder, no devices, no ranks; and nothing is left recording."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    monkeypatch.setenv("ASCEND_RT_VISIBLE_DEVICES", "")
    for name in list(os.environ):
        if "RANK" in name or name.startswith(("SLURM_", "PMI_", "OMPI_")):
            monkeypatch.delenv(name)
    yield
    assert not _record.is_recording()


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> Said:
    """Returns the lines logged since it was last called, from warnings on."""
    caplog.set_level(logging.INFO, "stepscope")

    def take() -> list[str]:
        lines = [
            f"{record.levelname} {record.getMessage()}"
            for record in caplog.records
            if record.levelno >= logging.WARNING
        ]
        caplog.clear()
        return lines

    return take


@pytest.fixture
def runs(tmp_path: pathlib.Path) -> Callable[..., list[pathlib.Path]]:
    """Returns the run directories in a folder, oldest first."""

    def find(folder: str = "data") -> list[pathlib.Path]:
        found = (tmp_path / folder).glob("*_ascend_ms")
        return sorted(found, key=lambda path: path.name.split("_")[-3])

    return find


@pytest.fixture
def calls() -> Callable[[pathlib.Path], list[str]]:
    """Returns what the stand-in saw during the window of a run directory."""
    if _record.Recording is not fake_record.Recording:
        pytest.skip("reads the stand-in's raw file; the native recorder has its own")

    def read(run: pathlib.Path) -> list[str]:
        return (run / "FRAMEWORK" / "stepscope.raw").read_text().splitlines()

    return read


@pytest.fixture
def cann(tmp_path: pathlib.Path) -> dict[str, str]:
    """The environment of a program on a machine with CANN, but without msprof."""
    if _record.Recording is fake_record.Recording:
        pytest.skip("needs the native recorder")
    if not fake_cann.FAKE_CANN.exists():
        pytest.skip(f"needs {fake_cann.FAKE_CANN}, which is not built")
    libraries = tmp_path / "lib64"
    libraries.mkdir()
    for name in ("libascendcl.so", "libmsprofiler.so"):
        (libraries / name).symlink_to(fake_cann.FAKE_CANN)
    return {
        **os.environ,
        "LD_LIBRARY_PATH": str(libraries),
        "FAKE_ASCENDCL_LOG": str(tmp_path / "calls"),
    }
