"""Meaning, by example: for every folder here, what `stepscope query` says about its input.

A case is a folder with `input.*` (or a folder `input/`), `query.sql` (statements, each ended by a
semicolon) and `expected.txt`. To add one, write the first two, run

    STEPSCOPE_WRITE_GOLDEN=1 pytest tests/golden

and read what it wrote before you believe it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAM = Path(os.environ.get("STEPSCOPE_BINARY_DIR", HERE.parents[1] / "build")) / "stepscope"

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="build/stepscope is not built")


@pytest.mark.parametrize("case", sorted(path.parent.name for path in HERE.glob("*/query.sql")))
def test_answers_are_as_expected(case: str, tmp_path: Path) -> None:
    folder = HERE / case
    (source,) = folder.glob("input*")
    store = tmp_path / "golden.stepscope"
    for command in (
        ["import", source, "-o", store],
        ["query", store, "--file", folder / "query.sql"],
    ):
        done = subprocess.run([PROGRAM, *command], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    expected = folder / "expected.txt"
    if os.environ.get("STEPSCOPE_WRITE_GOLDEN"):
        expected.write_text(done.stdout)
    assert done.stdout == expected.read_text()
