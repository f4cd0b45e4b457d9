"""What recording adds to PyTorch operators on the CPU, beside torch.profiler.

    python bench/frameworks/torch_overhead.py [--rounds 9]

All ways are measured in one process, round after round, on one thread: by that thread's CPU time in
pieces of some ten milliseconds, of which the tenth percentile counts, because what others do on the
machine only ever adds. The CPU time of Stepscope's writer thread, which runs beside the training
thread, is a column of its own. The load of the machine is printed.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import torch
from stepscope import _record
from stepscope.torch import _build, _library
from stepscope.torch._profile import TorchParameters
from stepscope.torch._source import TorchSource

_PIECE_NS = 10e6
_PIECES = 10

_FLOOR = "empty callback"
_FLOOR_INPUTS = "empty callback, with inputs"
_FLOOR_MEMORY = "empty callback, with inputs, empty reporter"
# What torch itself takes to tell each way what it records, doing nothing with it. Stacks are taken
# by another thread.
_FLOORS = {
    "stepscope": _FLOOR,
    "stepscope + shapes": _FLOOR_INPUTS,
    "stepscope + shapes, memory": _FLOOR_MEMORY,
    "stepscope + shapes, memory, stack, modules": _FLOOR_MEMORY,
    "torch.profiler": _FLOOR,
    "torch.profiler + shapes": _FLOOR_INPUTS,
    "torch.profiler + shapes, memory": _FLOOR_MEMORY,
    "torch.profiler + shapes, memory, stack": _FLOOR_MEMORY,
}

Way = Callable[[], "contextlib.AbstractContextManager[dict[str, Any]]"]


def empty(library: ctypes.CDLL, with_inputs: bool = False, with_memory: bool = False) -> Way:
    @contextlib.contextmanager
    def way() -> Iterator[dict[str, Any]]:
        library.start_empty(int(with_inputs), int(with_memory))
        yield {}
        library.stop_empty()

    return way


def stepscope(sources: dict[str, Any] | None = None, **wishes: bool) -> Way:
    @contextlib.contextmanager
    def way() -> Iterator[dict[str, Any]]:
        figures: dict[str, Any] = {}
        with tempfile.TemporaryDirectory() as folder:
            recording = _record.Recording(folder, json.dumps({"sources": sources or {}}))
            source = TorchSource()
            missing = source.start(TorchParameters(**wishes), Path(folder))
            assert not missing, missing
            yield figures
            source.stop()
            figures.update(json.loads(recording.stop()))

    return way


def torch_profiler(**wishes: bool) -> Way:
    @contextlib.contextmanager
    def way() -> Iterator[dict[str, Any]]:
        activities = [torch.profiler.ProfilerActivity.CPU]
        with torch.profiler.profile(activities=activities, **wishes):
            yield {}

    return way


@contextlib.contextmanager
def off() -> Iterator[dict[str, Any]]:
    yield {}


def ways(library: ctypes.CDLL) -> dict[str, Way]:
    stacks = {"python_stacks": {"interval_ms": 1}}
    full = {"record_shapes": True, "profile_memory": True, "with_stack": True}
    return {
        "off": off,
        _FLOOR: empty(library),
        _FLOOR_INPUTS: empty(library, with_inputs=True),
        _FLOOR_MEMORY: empty(library, with_inputs=True, with_memory=True),
        "stepscope": stepscope(),
        "stepscope + shapes": stepscope(record_shapes=True),
        "stepscope + shapes, memory": stepscope(record_shapes=True, profile_memory=True),
        "stepscope + shapes, memory, stack, modules": stepscope(stacks, **full),
        "torch.profiler": torch_profiler(),
        "torch.profiler + shapes": torch_profiler(record_shapes=True),
        "torch.profiler + shapes, memory": torch_profiler(record_shapes=True, profile_memory=True),
        "torch.profiler + shapes, memory, stack": torch_profiler(**full),
    }


def loop_of_additions() -> Callable[[], object]:
    left, right = torch.ones(4), torch.ones(4)

    def step() -> None:
        for _ in range(2000):
            torch.add(left, right)

    return step


def training(model: torch.nn.Module, batch: torch.Tensor) -> Callable[[], object]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        model(batch).sum().backward()
        optimizer.step()

    return step


def programs() -> dict[str, Callable[[], object]]:
    layers = [layer for _ in range(50) for layer in (torch.nn.Linear(32, 32), torch.nn.ReLU())]
    block = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    encoder = torch.nn.TransformerEncoder(block, 4, enable_nested_tensor=False)
    return {
        "loop of torch.add": loop_of_additions(),
        "MLP, 50 layers": training(torch.nn.Sequential(*layers), torch.ones(8, 32)),
        "transformer, 4 layers": training(encoder, torch.ones(4, 16, 64)),
    }


def thread_ns(step: Callable[[], object], repeats: int) -> float:
    start = time.thread_time_ns()
    for _ in range(repeats):
        step()
    return (time.thread_time_ns() - start) / repeats


def low(values: list[float]) -> float:
    return sorted(values)[len(values) // 10]


def measure(step: Callable[[], object], library: ctypes.CDLL, rounds: int) -> None:
    for _ in range(3):
        step()
    seen: dict[str, list[float]] = {}
    writer: dict[str, float] = {}
    with stepscope()() as figures:
        step()
    operators = figures["events"]
    repeats = max(1, round(_PIECE_NS / min(thread_ns(step, 1) for _ in range(10))))
    for _ in range(rounds):
        for name, way in ways(library).items():
            with way() as figures:
                step()
                pieces = [thread_ns(step, repeats) for _ in range(_PIECES)]
            seen.setdefault(name, []).extend(pieces)
            if "writer_cpu_seconds" in figures:
                cost = figures["writer_cpu_seconds"] * 1e9 / (repeats * _PIECES + 1) / operators
                writer[name] = min(writer.get(name, cost), cost)
    report({name: low(pieces) for name, pieces in seen.items()}, writer, operators)


def report(best: dict[str, float], writer: dict[str, float], operators: int) -> None:
    usual = best["torch.profiler"] - best["off"]
    full = best["torch.profiler + shapes, memory, stack"] - best["off"]
    print(f"  {operators} operators, {best['off'] / 1e6:.3f} ms without recording")
    titles = ("ns/operator", "x step", "/ default", "/ full", "/ floor", "writer")
    print(f"  {'way':44}" + "".join(f"{title:>12}" for title in titles))
    for name, ns in best.items():
        if name == "off":
            continue
        added = ns - best["off"]
        floor = best[_FLOORS[name]] - best["off"] if name in _FLOORS else added
        beside = f"{writer[name]:12.0f}" if name in writer else ""
        print(
            f"  {name:44}{added / operators:12.0f}{ns / best['off']:12.2f}"
            f"{added / usual:12.2f}{added / full:12.2f}{added / floor:12.2f}{beside}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Added CPU time per PyTorch operator.")
    parser.add_argument("--rounds", type=int, default=9)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(1)
    source = Path(__file__).parent / "empty_callback.cc"
    built = _build.build(
        _build.Torch.installed(), _library.collector_library(), _library.header_folder(), [source]
    )
    library = ctypes.CDLL(str(built))
    print(f"torch {torch.__version__}, {os.cpu_count()} CPUs, {rounds} rounds")
    print("/ default and / full: share of what torch.profiler adds without options, and with")
    print("shapes, memory and stack. / floor: times what the empty callback of its kind adds.")
    print("writer: CPU time of Stepscope's own thread, ns/operator")
    for name, step in programs().items():
        print(f"{name}; load {os.getloadavg()[0]:.1f}")
        measure(step, library, rounds)


if __name__ == "__main__":
    main()
