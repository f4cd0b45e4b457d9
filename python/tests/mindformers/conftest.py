"""mindformers itself, in programs of their own."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
import sys

import pytest

PROGRAMS = pathlib.Path(__file__).parent / "programs"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("mindspore") and importlib.util.find_spec("mindformers"):
        return
    why = f"needs mindformers: {sys.executable} -m pip install as requirements-mindformers.txt says"
    for item in items:
        if item.get_closest_marker("mindformers"):
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture
def training(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a program that trains, and its YAML without keys of profiling."""
    for name in ("train.py", "train.yaml"):
        shutil.copy(PROGRAMS / name, tmp_path)
    return tmp_path
