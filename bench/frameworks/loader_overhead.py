"""What recording adds to a batch of torch's DataLoader.

    python bench/frameworks/loader_overhead.py [--rounds 15]

The loop's side without and with two workers, and a worker's side (data_process). Ways alternate in
one process; CPU time of the thread, the least of all rounds. Batches are as cheap as they can be.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

from stepscope import _record, _torch_worker
from stepscope.torch._loader import LoaderQueues
from torch.utils.data import DataLoader, Dataset

BATCHES = 2000


class Nothing(Dataset[int]):
    def __len__(self) -> int:
        return BATCHES

    def __getitem__(self, index: int) -> int:
        return index


@contextmanager
def recording() -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        running = _record.Recording(folder, "{}")
        yield
        figures = json.loads(running.stop())
        assert figures["not_recorded"] == 0, figures


@contextmanager
def attached() -> Iterator[None]:
    with recording():
        queues = LoaderQueues()
        queues.start()
        yield
        queues.stop()


def a_batch(workers: int) -> float:
    """CPU time of the loop's thread, in microseconds a batch."""
    batches = iter(DataLoader(Nothing(), batch_size=1, num_workers=workers))
    next(batches)
    begin = time.thread_time_ns()
    count = sum(1 for _ in batches)
    return (time.thread_time_ns() - begin) / count / 1000


def a_fetch(timed: bool) -> float:
    """The same of a worker's fetcher; its calls are those of a worker process."""

    class Fetcher:
        def __init__(self) -> None:
            self.collate_fn: Callable[[Any], Any] = lambda items: items

        def fetch(self, index: int) -> Any:
            return self.collate_fn(index)

    fetcher = Fetcher()
    fetch = _torch_worker._timed(Fetcher.fetch, _record.name("collate")) if timed else Fetcher.fetch
    begin = time.thread_time_ns()
    for index in range(BATCHES):
        fetch(fetcher, index)
    return (time.thread_time_ns() - begin) / BATCHES / 1000


def worker_side(timed: bool) -> float:
    with recording():
        return a_fetch(timed)


def loop_side(workers: int, recorded: bool) -> float:
    if not recorded:
        return a_batch(workers)
    with attached():
        return a_batch(workers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors, {rounds} rounds")
    ways: dict[str, Callable[[bool], float]] = {
        "the loop, no workers": lambda on: loop_side(0, on),
        "the loop, 2 workers": lambda on: loop_side(2, on),
        "a worker, with data_process": worker_side,
    }
    for name, way in ways.items():
        least = {False: float("inf"), True: float("inf")}
        for _ in range(rounds):
            for on in least:
                least[on] = min(least[on], way(on))
        print(f"{name}: {least[False]:.2f} us off, {least[True] - least[False]:+.2f} us recorded")


if __name__ == "__main__":
    main()
