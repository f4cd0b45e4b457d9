#!/usr/bin/env python3
"""What recording costs a MindSpore program: nothing, MindSpore's own profiler, Stepscope.

One process trains a small network in rounds, in PyNative and in graph mode; each round has a window
without a profiler, one with mindspore.profiler and one with stepscope, one after the other, so that
all three see the same machine. On a machine that others use too, minima and low quantiles mean
something, means do not.

Needs mindspore 2.10 and stepscope in the environment. Prints a table of each mode, and JSON with
--json.

    OMP_NUM_THREADS=1 python bench/frameworks/mindspore_overhead.py
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any, Callable

logging.getLogger("stepscope").setLevel(logging.ERROR)
os.environ.setdefault("GLOG_v", "3")  # MindSpore's warnings

import mindspore as ms  # noqa: E402, after its environment
import mindspore.profiler as theirs  # noqa: E402
import numpy as np  # noqa: E402
import stepscope as ours  # noqa: E402
from mindspore import Tensor, nn  # noqa: E402

KINDS = ("off", "mindspore", "stepscope")
MODES = ("pynative", "graph")


class Network(nn.Cell):  # type: ignore[misc]
    """Many small operators: the hardest case for a profiler of operators."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Dense(64, 128), nn.Dense(128, 128)
        self.third, self.relu = nn.Dense(128, 10), nn.ReLU()

    def construct(self, x: Any) -> Any:
        return self.third(self.relu(self.second(self.relu(self.first(x)))))


def make_step(mode: str) -> Callable[[], object]:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    network, loss = Network(), nn.CrossEntropyLoss()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)

    def forward(x: Any, y: Any) -> Any:
        return loss(network(x), y)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def train(x: Any, y: Any) -> Any:
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    run = ms.jit(train) if mode == "graph" else train
    x = Tensor(np.random.default_rng(0).standard_normal((16, 64)).astype(np.float32))
    y = Tensor((np.arange(16) % 10).astype(np.int32))
    return lambda: run(x, y).asnumpy()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """MindSpore's analysis prints its progress, also from other processes."""
    sys.stdout.flush()
    kept, nothing = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nothing)


class Off:
    def start(self) -> None: ...
    def step(self) -> None: ...
    def stop(self) -> None: ...


def make_profiler(kind: str, steps: int, folder: str, analyse: bool) -> Any:
    if kind == "off":
        return Off()
    module: Any = theirs if kind == "mindspore" else ours
    return module.profile(
        activities=[module.ProfilerActivity.CPU],
        start_profile=False,
        schedule=module.schedule(wait=0, warmup=0, active=steps, repeat=1),
        on_trace_ready=module.tensorboard_trace_handler(folder, analyse_flag=analyse),
    )


def resident_mib() -> float:
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def window(kind: str, train: Callable[[], object], steps: int, analyse: bool = True) -> Any:
    """Seconds of the training steps, of the profiler's calls between them, and at the end; and what
    memory grew by between a tenth of the window and its end."""
    folder = tempfile.mkdtemp(prefix="stepscope-bench-")
    clock = time.perf_counter
    trained, called = [], []
    memory = 0.0
    with quiet():
        before = clock()
        profiler = make_profiler(kind, steps, folder, analyse)
        profiler.start()
        start = clock() - before
        for number in range(steps):
            if number == steps // 10:
                memory = resident_mib()
            before = clock()
            train()
            between = clock()
            if number < steps - 1:
                profiler.step()
                called.append(clock() - between)
            trained.append(between - before)
        grown = resident_mib() - memory
        before = clock()
        profiler.step()  # the schedule ends: stop, analysis
        profiler.stop()
        end = clock() - before
    size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*") if file.is_file())
    shutil.rmtree(folder)
    return {
        "trained": trained, "called": called, "start": start, "end": end,
        "grown": grown, "bytes": size,
    }  # fmt: skip


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def figures(results: dict[str, list[Any]], steps: int) -> dict[str, dict[str, float]]:
    table: dict[str, dict[str, float]] = {}
    for kind, windows in results.items():
        trained = [value for one in windows for value in one["trained"]]
        # With the profiler's call at its end, in which what a step left behind is taken over. The
        # last step's call ends the window.
        steps_with_calls = [
            train + call for one in windows for train, call in zip(one["trained"], one["called"])
        ]
        outside = [one["start"] + sum(one["called"]) + one["end"] for one in windows]
        row = table[kind] = {
            "step_mean_ms": statistics.fmean(steps_with_calls) * 1e3,
            "step_median_ms": statistics.median(steps_with_calls) * 1e3,
            "step_min_ms": min(trained) * 1e3,
            "step_10pct_ms": quantile(trained, 0.1) * 1e3,
            "step_25pct_ms": quantile(trained, 0.25) * 1e3,
            "call_of_step_us": quantile([c for one in windows for c in one["called"]], 0.5) * 1e6,
            "longest_call_ms": quantile([max(one["called"]) for one in windows], 0.5) * 1e3,
            "end_of_window_s": quantile([one["end"] for one in windows], 0.5),
            "all_calls_s": quantile(outside, 0.5),
            "bytes_per_step": windows[-1]["bytes"] / steps,
        }
        for which in ("mean", "median"):
            added = row[f"step_{which}_ms"] - table["off"][f"step_{which}_ms"]
            row[f"added_{which}_us"] = added * 1e3
        # What the window takes longer: slower steps, and all calls, also stop and analysis. By the
        # least steps: what others do on the machine only ever adds.
        slower = (row["step_min_ms"] - table["off"]["step_min_ms"]) * steps / 1e3
        row["added_to_window_s"] = slower + row["all_calls_s"]
    return table


def print_paired(results: dict[str, list[Any]]) -> None:
    """What is added to a step, each window against that of its own round: phases of the machine are
    longer than a round."""
    print("added to a step, ms: median of the rounds (quartiles)")
    for share, name in ((0, "shortest"), (0.1, "10 %"), (0.25, "25 %"), (0.5, "50 %")):
        steps = {
            kind: [quantile(one["trained"], share) * 1e3 for one in windows]
            for kind, windows in results.items()
        }
        line = f"  {name:10}"
        for kind, base in (("mindspore", "off"), ("stepscope", "off"), ("stepscope", "mindspore")):
            added = [ours - theirs for ours, theirs in zip(steps[kind], steps[base])]
            low, middle, high = (quantile(added, part) for part in (0.25, 0.5, 0.75))
            line += f"  {kind} - {base} {middle:+.3f} ({low:+.3f}..{high:+.3f})"
        print(line)


def print_table(table: dict[str, dict[str, float]]) -> None:
    names = list(next(iter(table.values())))
    print(f"{'':24}" + "".join(f"{kind:>14}" for kind in table))
    for name in names:
        print(f"{name:24}" + "".join(f"{row[name]:14.3f}" for row in table.values()))
    for name, what in (
        ("added_mean_us", "a step with the call behind it, mean"),
        ("added_median_us", "a step with the call behind it, median"),
        ("added_to_window_s", "the whole window with its end"),
    ):
        ours_added, theirs_added = table["stepscope"][name], table["mindspore"][name]
        ratio = f"{ours_added / theirs_added:.2f}" if theirs_added > 0 else "no ratio"
        print(f"added to {what}, stepscope / mindspore: {ratio}")


def measure(
    mode: str, steps: int, rounds: int, memory_steps: int, analyse: bool
) -> dict[str, dict[str, float]]:
    train = make_step(mode)
    for kind in ("off", *KINDS):  # warm
        window(kind, train, 30)
    # First, as MindSpore reuses what it has grown to once; and ours before theirs.
    long = {
        kind: window(kind, train, memory_steps, analyse=False)
        for kind in ("off", "stepscope", "mindspore")
        if memory_steps
    }
    results: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for round_number in range(rounds):
        turn = round_number % len(KINDS)  # nobody is always the first
        for kind in KINDS[turn:] + KINDS[:turn]:
            results[kind].append(window(kind, train, steps, analyse))
    print_paired(results)
    table = figures(results, steps)
    for kind, one in long.items():
        table[kind][f"grown_mib_{memory_steps}"] = one["grown"]
        table[kind]["long_longest_call_ms"] = max(one["called"]) * 1e3
        table[kind]["long_end_s"] = one["end"]
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mode", choices=MODES, help="only this one")
    parser.add_argument("--steps", type=int, default=400, help="of a window")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-analysis", action="store_true", help="for many rounds: steps only")
    parser.add_argument("--memory-steps", type=int, default=2000, help="0: leave memory out")
    parser.add_argument("--json", type=pathlib.Path, help="also write the figures here")
    chosen = parser.parse_args()
    tables = {}
    for mode in [chosen.mode] if chosen.mode else MODES:
        tables[mode] = measure(
            mode, chosen.steps, chosen.rounds, chosen.memory_steps, not chosen.no_analysis
        )
        load = " ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f"{mode}, {chosen.rounds} rounds of {chosen.steps} steps, load {load}")
        print_table(tables[mode])
    if chosen.json:
        chosen.json.write_text(json.dumps(tables))


if __name__ == "__main__":
    main()
