"""PyTorch's tests need torch, the native recorder and a C++ compiler."""

from __future__ import annotations

import importlib.util
import pathlib
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

import pytest

if TYPE_CHECKING:
    import stepscope

MISSING = [
    *(name for name in ("torch", "stepscope._record") if importlib.util.find_spec(name) is None),
    *(name for name in ("g++",) if shutil.which(name) is None),
]

# Left out without a word, but for test_requirements.py, which says why.
_TESTS = (
    "test_beside_torch.py", "test_build.py", "test_compiled.py", "test_dynamic.py",
    "test_like_torch.py", "test_loader.py", "test_mindspeed_mm.py", "test_operators.py",
    "test_profile.py", "test_trainers.py", "test_triggers.py",
)  # fmt: skip
collect_ignore = list(_TESTS) if MISSING else []


@pytest.fixture
def missing() -> list[str]:
    return MISSING


Recorded = Callable[..., "stepscope.Run"]


@pytest.fixture(autouse=True)
def quiet_place(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    if MISSING:
        yield
        return
    import torch
    from stepscope import _record

    torch.manual_seed(0)
    yield
    assert not _record.is_recording()


class Trainer:
    """A small model and its optimizer."""

    def __init__(self) -> None:
        import torch

        self._torch = torch
        nn = torch.nn
        self.model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.step()  # what is made once is made

    def step(self) -> None:
        self.optimizer.zero_grad()
        with self._torch.profiler.record_function("forward"):
            loss = self.model(self._torch.ones(3, 4)).sum()
        loss.backward()
        self.optimizer.step()


@pytest.fixture
def trainer() -> Trainer:
    return Trainer()


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    """Records calls of a function and opens the run."""
    import stepscope
    from stepscope.torch import profile

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
