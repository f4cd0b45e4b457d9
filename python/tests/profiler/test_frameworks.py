"""Frameworks that a program imports while it is recorded."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import fake_record
import pytest
import stepscope
from stepscope import _record
from stepscope.profiler import Profiler, frameworks
from stepscope.profiler.frameworks import Frameworks
from stepscope.profiler.parameters import Parameters

_SOURCE = """
starts = []

class Source:
    honours = frozenset()
    def costs(self, parameters): return ""
    def expect(self): pass
    def begin(self): pass
    def end(self): pass
    def prepare(self, parameters): pass
    def unprepare(self): pass
    def start(self, parameters, folder):
        starts.append(folder)
        return {}
    def about(self, parameters):
        return {"parallel": {"pipeline_stages": 2}} if parameters.parallel_strategy else {}
    def program_marks_steps(self): pass
    def stop(self): return {"data_process": "nobody told it"}
"""


@pytest.fixture
def framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "some_framework.py").write_text("")
    (tmp_path / "some_source.py").write_text(_SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(frameworks, "_SOURCES", {"some_framework": ("some_source", "Source")})
    yield
    for name in ("some_framework", "some_source"):
        sys.modules.pop(name, None)


def _starts() -> list[Path]:
    importlib.import_module("some_framework")
    starts: list[Path] = importlib.import_module("some_source").starts
    return starts


def test_joins_the_recording(framework: None, tmp_path: Path) -> None:
    recorded = Frameworks(Parameters())
    recorded.start(tmp_path, lambda missing: None)
    assert _starts() == [tmp_path]
    recorded.stop()


def test_does_not_join_it_in_a_forked_child(framework: None, tmp_path: Path) -> None:
    """A loader's worker that imports torch first would record into its parent's run."""
    recorded = Frameworks(Parameters())
    recorded.start(tmp_path, lambda missing: None)
    child = os.fork()
    if child == 0:
        os._exit(len(_starts()))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert _starts() == [tmp_path]
    recorded.stop()


@pytest.mark.skipif(_record.Recording is fake_record.Recording, reason="needs the native recorder")
@pytest.mark.parametrize("asked", [True, False])
def test_what_it_says_about_itself_is_in_the_run(
    framework: None, tmp_path: Path, asked: bool
) -> None:
    profiler = Profiler(output_path=str(tmp_path / "o"), parallel_strategy=asked)
    _starts()
    profiler.stop()
    with stepscope.open(tmp_path / "o") as run:
        (parallel,) = run.query("select parallel from ranks")["parallel"].tolist()
    assert parallel == ('{"pipeline_stages":2}' if asked else None)


@pytest.mark.skipif(_record.Recording is fake_record.Recording, reason="needs the native recorder")
def test_what_turns_out_to_be_missing_is_in_the_log_and_in_the_run(
    framework: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profiler = Profiler(output_path=str(tmp_path / "o"), data_process=True)
    _starts()
    profiler.stop()
    assert caplog.text.count("data_process has no effect: nobody told it") == 1
    with stepscope.open(tmp_path / "o") as run:
        (finding,) = [finding for finding in run.quality if finding.code == "not_honoured"]
    assert "nobody told it" in (finding.example or "")
