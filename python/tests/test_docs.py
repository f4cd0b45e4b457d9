"""The examples of docs/python.md run as they are written, one after the other."""

from __future__ import annotations

import pathlib
import re
import shutil
from typing import Any

import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


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
