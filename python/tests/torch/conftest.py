"""PyTorch's tests need torch, the native recorder and a C++ compiler; without them they skip."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator
from typing import Any, Callable

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("stepscope._record")
if not shutil.which("g++"):
    pytest.skip("there is no g++", allow_module_level=True)

import stepscope  # noqa: E402
from stepscope import _record  # noqa: E402
from stepscope.torch import profile  # noqa: E402

Recorded = Callable[..., stepscope.Run]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    torch.manual_seed(0)
    yield
    assert not _record.is_recording()


class Trainer:
    """A small model and its optimizer."""

    def __init__(self) -> None:
        nn = torch.nn
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.step()  # what is made once is made

    def step(self) -> None:
        self.optimizer.zero_grad()
        with torch.profiler.record_function("forward"):
            loss = self.model(torch.ones(3, 4)).sum()
        loss.backward()
        self.optimizer.step()


@pytest.fixture
def trainer() -> Trainer:
    return Trainer()


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Records calls of a function and opens the run."""
    open_runs: list[tuple[Any, stepscope.Run]] = []

    def record(function: Callable[[], object], times: int = 1, **options: Any) -> stepscope.Run:
        with profile(**options) as profiler:
            for _ in range(times):
                function()
        run = stepscope.open(profiler.run_path or "")
        open_runs.append((profiler, run))  # the folder goes with the profiler
        return run

    yield record
    for _, run in open_runs:
        run.close()
