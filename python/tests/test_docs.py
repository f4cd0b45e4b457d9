"""The examples of docs/python.md, and the README's recording, run as they are written."""

from __future__ import annotations

import pathlib
import re
import shutil
import time
from typing import Any

import pytest
import stepscope

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "python.md"


def test_examples_run(
    generated: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(generated, tmp_path / "profile", ignore=shutil.ignore_patterns("*.stepscope"))
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    names: dict[str, Any] = {}
    examples = list(re.finditer(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    assert len(examples) >= 8
    for example in examples:
        line = page.count("\n", 0, example.start(1))
        exec(compile("\n" * line + example[1], str(PAGE), "exec"), names)
    printed = capsys.readouterr().out
    assert "NVIDIA H200" in printed
    assert "nearest column: dur" in printed
    assert printed.splitlines()[-1] == "4"


def test_readmes_recording_of_a_plain_loop_has_a_report(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text()
    (program,) = re.findall(r"^```python\n([^`]*train_step.*?)^```", readme, re.M | re.DOTALL)
    exec(program, {"train_step": lambda: time.sleep(0.02)})
    assert "Incorrect schedule" not in caplog.text
    report = stepscope.open("data").report()
    assert "A step takes 2" in report, report
