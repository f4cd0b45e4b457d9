"""Ranks of the examples: processes that average their gradients in shared memory."""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import shared_memory
from pathlib import Path
from typing import Any

import numpy as np
import stepscope


@dataclass
class Rank:
    number: int
    count: int
    slow: bool
    shared: np.ndarray  # a row of gradients for each rank
    barrier: Any

    def average(self, gradients: np.ndarray) -> None:
        with stepscope.record_function("all_reduce", "collective"):
            self.shared[self.number] = gradients
            self.barrier.wait()
            gradients[:] = self.shared.mean(axis=0)
            self.barrier.wait()


def parse_options(description: str | None, steps: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=Path("runs/demo"), help="where the runs go")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--slow-rank", type=int, default=2, help="-1: none is")
    parser.add_argument("--steps", type=int, default=steps)
    return parser.parse_args()


def _work(
    train: Callable[[Rank, argparse.Namespace], None],
    number: int,
    options: argparse.Namespace,
    parameters: int,
    memory: str,
    barrier: Any,
) -> None:
    block = shared_memory.SharedMemory(name=memory)
    shared = np.ndarray((options.ranks, parameters), np.float32, block.buf)
    train(Rank(number, options.ranks, number == options.slow_rank, shared, barrier), options)
    del shared
    with contextlib.suppress(BufferError):
        block.close()


def run_ranks(
    train: Callable[[Rank, argparse.Namespace], None], options: argparse.Namespace, parameters: int
) -> None:
    """Calls train(rank, options) in a process for each rank; `parameters`: numbers to average."""
    # A thread each: ranks share the machine as they would share devices.
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(options.ranks)
    block = shared_memory.SharedMemory(create=True, size=options.ranks * parameters * 4)
    processes = [
        context.Process(
            target=_work, args=(train, number, options, parameters, block.name, barrier)
        )
        for number in range(options.ranks)
    ]
    try:
        for number, process in enumerate(processes):
            # As the launchers of PyTorch and MindSpore tell a process who it is.
            os.environ.update(RANK=str(number), RANK_ID=str(number), WORLD_SIZE=str(options.ranks))
            process.start()
        for process in processes:
            process.join()
    finally:
        block.close()
        with contextlib.suppress(FileNotFoundError):
            block.unlink()
    if any(process.exitcode for process in processes):
        raise SystemExit("a rank failed")
