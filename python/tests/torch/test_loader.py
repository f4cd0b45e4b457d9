"""torch's DataLoader as a pipeline."""

from __future__ import annotations

import os
import pathlib
import queue
import subprocess
import sys
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import stepscope
import torch
from stepscope import _record
from stepscope.torch import profile, schedule
from stepscope.torch._loader import LoaderQueues, Loaders, _View
from torch.utils.data import DataLoader, Dataset, IterableDataset
from torch.utils.data._utils import worker as torch_worker
from torch.utils.data.dataloader import _BaseDataLoaderIter

SUPPORT = str(pathlib.Path(__file__).parents[1] / "support")


class Numbers(Dataset[torch.Tensor]):
    def __init__(self, length: int = 24, seconds: float = 0.002) -> None:
        self.length, self.seconds = length, seconds

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> torch.Tensor:
        time.sleep(self.seconds)
        return torch.tensor(index)


class Stream(IterableDataset[torch.Tensor]):
    def __iter__(self) -> Iterator[torch.Tensor]:
        about = torch.utils.data.get_worker_info()
        for number in range(12):
            if about is None or number % about.num_workers == about.id:
                yield torch.tensor(number)


def rows(run: stepscope.Run, sql: str) -> list[tuple[Any, ...]]:
    table = run.query(sql)
    return list(zip(*(table[name].tolist() for name in table.columns)))


def nothing_is_left() -> bool:
    return (
        _BaseDataLoaderIter.__next__.__module__ == "torch.utils.data.dataloader"
        and torch_worker._worker_loop.__module__ == torch_worker.__name__
    )


@pytest.fixture(autouse=True)
def detached() -> Iterator[None]:
    yield
    assert nothing_is_left()


def opened(profiler: profile) -> stepscope.Run:
    return stepscope.open(profiler.run_path or "")


# A program of its own: workers that are spawned import it. They live for several samples of their
# processor time.
PROGRAM = """
import sys, time
import torch
from stepscope.torch import profile
from system_samples import wait_for_samples
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 24

    def __getitem__(self, index):
        time.sleep(0.06)
        return torch.tensor(index)

if __name__ == "__main__":
    with profile(data_process=True, output_path="data"):
        loader = DataLoader(Numbers(), 4, num_workers=2, multiprocessing_context=sys.argv[1])
        for number, batch in enumerate(loader):
            if number == 0:
                wait_for_samples()
            print(*map(int, batch))
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers(method: str, tmp_path: pathlib.Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    paths = [SUPPORT, os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(program), method],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == [str(number) for number in range(24)], done.stderr
    with stepscope.open(tmp_path / "data") as run:
        assert rows(run, "select stage, kind, workers, capacity, consumer from stages") == [
            ("DataLoader_0", "DataLoader of Numbers", 2, 4, None)
        ]
        taken = rows(run, "select batch, size, capacity from queues order by batch")
        assert [number for number, *_ in taken] == list(range(1, 7))
        assert all(0 <= size <= 4 and capacity == 4 for _, size, capacity in taken)
        assert taken[0][1] == 0, "nothing is ready when the first batch is asked for"
        made = rows(
            run,
            "select name, count(*), min(dur) from slices join tracks using (rank, track)"
            " where cat = 'pipeline' and process = 'DataLoader_0' group by name order by name",
        )
        assert [(name, count) for name, count, _ in made] == [("DataLoader_0", 6), ("collate", 6)]
        assert made[0][2] >= 4 * 60e6
        workers = rows(run, "select count(distinct tracks.pid) from tracks"
                            " where process = 'DataLoader_0' and slices > 0")  # fmt: skip
        assert workers == [(2,)]
        cpu = rows(run, "select count(distinct tracks.pid) from tracks"
                        " where process = 'DataLoader_0' and thread = 'cpu %'")  # fmt: skip
        assert cpu == [(2,)]


def test_without_workers_the_loop_makes_its_batches() -> None:
    with profile(data_process=True) as profiler:
        for _ in DataLoader(Numbers(), 8):
            pass
    with opened(profiler) as run:
        assert rows(run, "select batch, size, capacity from queues order by batch") == [
            (number, None, None) for number in (1, 2, 3)
        ]
        spent = rows(run, "select cat, count(*) from slices where name like 'DataLoader_%'"
                          " group by cat order by cat")  # fmt: skip
        assert spent == [("pipeline", 3), ("pipeline_get", 3)]


def test_workers_that_run_already_and_stay(tmp_path: pathlib.Path) -> None:
    """A schedule's window opens in the middle of an epoch; its workers live on behind it."""
    windows = []

    def ready(profiler: profile) -> None:
        windows.append(profiler.run_path or "")

    loader = DataLoader(Numbers(), 4, num_workers=1, persistent_workers=True)
    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        data_process=True,
        on_trace_ready=ready,
        output_path=str(tmp_path),
    ) as profiler:
        for _ in range(2):
            for _ in loader:
                time.sleep(0.1)  # in which the worker makes more than one
                profiler.step()
    assert nothing_is_left()
    assert sum(len(batch) for batch in loader) == 24, "the workers go on"
    counts = []
    for window in windows:
        with stepscope.open(window) as run:
            ((name,),) = rows(run, "select distinct stage from queues")
            assert rows(run, "select stage, workers from stages") == [(name, 1)]
            counts.append(rows(run, "select count(*) from queues")[0][0])
            # Of a worker that started before the window.
            made = rows(run, "select count(*) from slices where cat = 'pipeline'"
                             f" and name = '{name}'")  # fmt: skip
            assert made[0][0] >= 1
            assert rows(run, "select count(*) from queues join steps"
                             " on queues.ts between steps.ts and steps.ts + steps.dur") == [
                (counts[-1],)
            ]  # fmt: skip
    assert counts == [2, 2]


def test_workers_of_a_loader_that_came_first() -> None:
    """Their batches are not timed; queues and processes are known all the same."""
    loader = iter(DataLoader(Numbers(), 4, num_workers=2))
    with profile(data_process=True) as profiler:
        assert len(list(loader)) == 6
    with opened(profiler) as run:
        assert rows(run, "select count(*), min(capacity) from queues") == [(6, 4)]
        assert rows(run, "select count(*) from slices where cat = 'pipeline'") == [(0,)]


def test_operators_of_forked_workers_are_not_the_programs() -> None:
    """torch's callbacks are in the worker too, with names that the recording does not know."""
    with profile(data_process=True) as profiler:
        loader = DataLoader(Numbers(), 4, num_workers=2, multiprocessing_context="fork")
        assert len(list(loader)) == 6
    with opened(profiler) as run:
        assert rows(run, "select count(distinct track) from slices where cat = 'cpu_op'") == [(1,)]
        assert rows(run, "select count(*) from slices where name = ''") == [(0,)]
        made = "select count(*) from slices where cat = 'pipeline' and name = 'collate'"
        assert rows(run, made) == [(6,)]


def test_by_default_workers_are_left_alone() -> None:
    with profile() as profiler:
        assert torch_worker._worker_loop.__module__ == torch_worker.__name__
        assert len(list(DataLoader(Numbers(), 4, num_workers=1))) == 6
    with opened(profiler) as run:
        assert rows(run, "select count(*), max(capacity) from queues") == [(6, 2)]
        assert rows(run, "select workers from stages") == [(1,)]


@pytest.mark.filterwarnings("ignore:'pin_memory'")
@pytest.mark.parametrize("workers", [0, 2])
def test_streams_and_pinned_memory(workers: int) -> None:
    with profile(data_process=True) as profiler:
        loader = DataLoader(Stream(), 2, num_workers=workers, pin_memory=True)
        values = sorted(int(value) for batch in loader for value in batch)
        assert values == list(range(12))
    with opened(profiler) as run:
        asked = rows(run, "select count(*), count(distinct stage) from queues")
        assert asked == [(6, 1)]


def test_several_loaders_have_names_of_their_own() -> None:
    train, test = DataLoader(Numbers(8), 4), DataLoader(Numbers(4), 4, num_workers=1)
    with profile() as profiler:
        for _ in range(2):
            assert len(list(train)) == 2
            assert len(list(test)) == 1
    with opened(profiler) as run:
        counts = rows(run, "select stage, count(*) from queues group by stage order by stage")
        assert [count for _, count in counts] == [4, 2]
        assert len({stage for stage, _ in counts}) == 2
    numbers = Loaders()
    kept = [SimpleNamespace(_index_sampler=Numbers(), _dataset=None) for _ in range(3)]
    assert [numbers.number_of(one) for one in kept] == [0, 1, 2]
    kept[1] = SimpleNamespace(_index_sampler=Numbers(), _dataset=None)
    assert [numbers.number_of(one) for one in kept] == [0, 1, 2], "a number is given again"
    of_a_list = SimpleNamespace(_index_sampler=[[0], [1]], _dataset=Numbers())
    assert numbers.number_of(of_a_list) == 3


def test_exceptions_and_the_end_are_the_programs() -> None:
    class Broken(Numbers):
        def __getitem__(self, index: int) -> torch.Tensor:
            raise ValueError("no such file")

    with profile(data_process=True) as profiler:
        for workers in (0, 1):
            with pytest.raises(ValueError, match="no such file"):
                next(iter(DataLoader(Broken(), 4, num_workers=workers)))
        batches = iter(DataLoader(Numbers(4), 4))
        next(batches)
        with pytest.raises(StopIteration):
            next(batches)
    with opened(profiler) as run:
        assert rows(run, "select count(*) from queues") == [(1,)]


def test_an_iterator_that_is_not_as_expected_still_works(caplog: pytest.LogCaptureFixture) -> None:
    batches = iter(DataLoader(Numbers(8), 4, num_workers=1))
    with profile() as profiler:
        kept = batches.__dict__.pop("_index_sampler")
        next(batches)
        batches.__dict__["_index_sampler"] = kept
        assert len(list(batches)) == 1
    assert "a look at a DataLoader" in caplog.text
    with opened(profiler) as run:
        assert rows(run, "select count(*) from queues") == [(1,)]


def test_somebody_elses_wrapper_stays() -> None:
    original = _BaseDataLoaderIter.__next__
    calls = []

    def theirs(iterator: Any, inner: Any) -> Any:
        calls.append(1)
        return inner(iterator)

    try:
        with profile():
            ours = _BaseDataLoaderIter.__next__
            _BaseDataLoaderIter.__next__ = lambda iterator: theirs(iterator, ours)
        assert len(list(DataLoader(Numbers(8), 4))) == 2
        assert len(calls) == 3
    finally:
        _BaseDataLoaderIter.__next__ = original


def test_a_pinning_thread_is_a_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no accelerator here: an iterator as it looks where there is one."""
    told: list[tuple[Any, ...]] = []
    monkeypatch.setattr(_record, "stage", lambda *about: told.append(about) or len(told))
    monkeypatch.setattr(_record, "stage_worker", lambda *about: told.append(about))
    monkeypatch.setattr(_record, "queue_size", lambda *about: told.append(about))
    made, pinned = queue.Queue[int](), queue.Queue[int]()
    for number in range(3):
        made.put(number)
    pinned.put(0)
    iterator = type("Iterator", (), {})()
    vars(iterator).update(
        _num_workers=2, _prefetch_factor=2, _dataset=Numbers(), _worker_result_queue=made,
        _workers=[SimpleNamespace(pid=7), SimpleNamespace(pid=8)], _data_queue=pinned,
        _pin_memory_thread=SimpleNamespace(native_id=9), _task_info={1: (0,), 2: (1, "batch")},
        _tasks_outstanding=1,
    )  # fmt: skip
    view = _View(iterator, 5)
    assert view.ready(iterator) == 2
    assert told == [
        ("DataLoader_5", "DataLoader of Numbers", 2, 4, 0), (1, 7), (1, 8),
        ("DataLoader_5 pin_memory", "pin_memory", 1, 4, 1), (4, 9), (1, 3),
    ]  # fmt: skip


def test_iterators_of_earlier_epochs_are_not_kept(tmp_path: pathlib.Path) -> None:
    queues = LoaderQueues()
    with profile(output_path=str(tmp_path)):
        queues.start()
        try:
            loader = DataLoader(Numbers(4, 0), 2)
            epochs = [iter(loader) for _ in range(50)]  # at a time, as addresses are used again
            for epoch in epochs:
                next(epoch)
            assert len(queues._views) == 50
            epochs.clear()
            del epoch
            next(iter(loader))
            assert len(queues._views) == 1
            assert len(queues._stages) == 1
        finally:
            queues.stop()
