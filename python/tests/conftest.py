"""Runs that the tests open. The package under test is the installed one.

STEPSCOPE_GENERATE and STEPSCOPE_PROGRAM name the programs; the default is those in build/.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import stepscope

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(pathlib.Path(__file__).parent / "support"))


def program(variable: str, name: str) -> pathlib.Path:
    path = pathlib.Path(os.environ.get(variable, REPOSITORY / "build" / name))
    if not path.exists():
        pytest.skip(f"needs {path}, which is not built ({variable} names another)")
    return path


@pytest.fixture(scope="session")
def generated(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with two generated ranks and expected.json, the exact numbers."""
    folder = tmp_path_factory.mktemp("generated") / "run"
    generate = program("STEPSCOPE_GENERATE", "stepscope-generate")
    command = [generate, "--output", folder, "--ranks", "2", "--steps", "2", "--size-mb", "10"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def expected(generated: pathlib.Path) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads((generated / "expected.json").read_text())
    return answer


@pytest.fixture(scope="session")
def run(generated: pathlib.Path) -> Iterator[stepscope.Run]:
    with stepscope.open(generated) as opened:
        yield opened


@pytest.fixture(scope="session")
def cli() -> pathlib.Path:
    return program("STEPSCOPE_PROGRAM", "stepscope")


@pytest.fixture
def record_program(cli: pathlib.Path, tmp_path: pathlib.Path) -> Callable[..., str]:
    """Runs a Python program under ``stepscope record -o runs``; returns what both of them said."""

    def run_it(
        *command: str | pathlib.Path, options: tuple[str, ...] = (), **variables: str
    ) -> str:
        package = str(pathlib.Path(stepscope.__file__).parent.parent)
        paths = [package, os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [cli, "record", "-o", tmp_path / "runs", *options, "--", sys.executable, *command],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **variables},
            capture_output=True,
            text=True,
            timeout=1200,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run_it


@pytest.fixture(scope="session")
def blocks() -> Callable[[str, str, str], list[str]]:
    """What stands under a heading of a page of docs/ in a language, as it is written."""

    def find(page: str, heading: str, language: str) -> list[str]:
        text = (REPOSITORY / "docs" / page).read_text()
        section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.M | re.S)
        assert section is not None, f"{page} has no heading {heading!r}"
        return re.findall(rf"^```{language}\n(.*?)^```", section[1], re.M | re.S)

    return find


@pytest.fixture(scope="session")
def examples(blocks: Callable[[str, str, str], list[str]]) -> Callable[[str, str], list[str]]:
    """The Python programs under a heading of a page of docs/."""
    return lambda page, heading: blocks(page, heading, "python")


@pytest.fixture
def captured(cli: pathlib.Path, tmp_path: pathlib.Path) -> Iterator[Callable[[str], list[int]]]:
    """Runs the program under a heading of docs/dynamic.md and, while it trains, the command of that
    page; returns the steps that were recorded."""
    page = (REPOSITORY / "docs" / "dynamic.md").read_text()
    running: list[subprocess.Popen[bytes]] = []

    def run(heading: str) -> list[int]:
        section = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", page, re.M | re.S)
        assert section
        (program,) = re.findall(r"^```python\n(.*?)^```", section[1], re.M | re.S)
        (command,) = re.findall(r"^```sh\n(stepscope capture .*?)^```", page, re.M | re.S)
        package = str(pathlib.Path(stepscope.__file__).parent.parent)
        kept = {name: value for name, value in os.environ.items() if "RANK" not in name}
        environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join(filter(None, [package, kept.get("PYTHONPATH")])),
            "PATH": os.pathsep.join([str(cli.parent), kept["PATH"]]),
            "XDG_RUNTIME_DIR": str(tmp_path),
        }
        running.append(
            subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path, env=environment)
        )
        told = tmp_path / "dyn_cfg" / ".stepscope" / "rank_0.json"
        end = time.monotonic() + 600
        while not told.exists() or json.loads(told.read_text())["step"] < 10:
            assert running[-1].poll() is None and time.monotonic() < end, "it never trained"
            time.sleep(0.1)
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True,
            timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "1 matched, 1 finished" in done.stdout
        with stepscope.open(tmp_path / "dynprof_data") as opened:
            steps: list[int] = opened.query("select step from steps order by step")["step"].tolist()
        assert f"steps {steps[0]} to {steps[-1]}" in done.stdout
        return steps

    yield run
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="session")
def shared_data() -> pathlib.Path:
    named = os.environ.get("STEPSCOPE_SHARED_DATA")
    folder = pathlib.Path(named) if named else REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data (STEPSCOPE_SHARED_DATA), which is not here")
    return folder
