"""What recording adds to a training step on an NVIDIA GPU, ours beside torch.profiler.

    python3 bench/gpu/overhead.py [--seconds 240] [--models tiny_mlp,gpt2_small]
                                  [--modes off,kernels,full,torch_default] [--output FOLDER]

Every way of recording has a process of its own, because a CUPTI that was switched on once leaves
traces in its process; only one of them works at a time, in turns. Before anything is recorded each
process runs a few rounds as it is: its step time then, corrected by how the process `off` has
changed since, is what the recorded rounds are compared with. A last round without recording shows
whether the step got its old speed back. Prints a table and writes overhead.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

Facts = dict[str, Any]
PRISTINE_ROUNDS = 3
# Their files take seconds to write: in every third round only.
SLOW_MODES = ("torch_default", "torch_full")


def work(mode: str) -> None:
    """A worker: does what the lines of its input say, answers each with a line of JSON."""
    import models
    import profilers
    import torch

    profiler = profilers.make(mode)
    steps: dict[str, models.Step] = {}

    def run_round(model: str, count: int, record: bool) -> Facts:
        if model not in steps:
            steps[model] = models.MODELS[model]()
            for _ in range(10):
                steps[model]()
        step = steps[model]
        with tempfile.TemporaryDirectory() as folder:
            if record:
                profiler.start(Path(folder))
            for _ in range(max(3, count // 20)):
                step()
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(count):
                step()
            torch.cuda.synchronize()
            seconds = time.perf_counter() - began
            facts: Facts = {"step_us": seconds / count * 1e6}
            if record:
                facts |= profiler.stop(Path(folder))
                facts["steps"] = count + max(3, count // 20)
        return facts

    for line in sys.stdin:
        order = json.loads(line)
        try:
            answer = run_round(order["model"], order["steps"], order["record"])
        except Exception as failure:  # the other modes go on
            answer = {"error": f"{type(failure).__name__}: {failure}"}
        print("ANSWER " + json.dumps(answer), flush=True)


class Worker:
    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker", mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.dead = ""

    def round(self, model: str, steps: int, record: bool) -> Facts:
        if self.dead:
            return {"error": self.dead}
        assert self.process.stdin is not None and self.process.stdout is not None
        order = {"model": model, "steps": steps, "record": record}
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith("ANSWER "):
                    answer: Facts = json.loads(line[len("ANSWER ") :])
                    return answer
        except BrokenPipeError:
            pass
        self.dead = f"the worker {self.mode} ended with {self.process.wait()}"
        return {"error": self.dead}

    def close(self) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.close()
            self.process.wait(20)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()


def interval(values: list[float]) -> tuple[float, float]:
    """A 95 % interval of the median by resampling."""
    generator = random.Random(1)
    medians = sorted(
        statistics.median(generator.choices(values, k=len(values))) for _ in range(1000)
    )
    return medians[25], medians[974]


def compare(mode: str, model: str, rounds: list[Facts]) -> Facts:
    """Figures of one way of recording one loop."""

    def times(of_mode: str, phase: str) -> list[float]:
        return [
            r["step_us"]
            for r in rounds
            if r["mode"] == of_mode
            and r["model"] == model
            and r["phase"] == phase
            and "step_us" in r
        ]

    before = times(mode, "pristine")
    off_before = times("off", "pristine")
    recorded = [
        r for r in rounds if r["mode"] == mode and r["model"] == model and r["phase"] == "recorded"
    ]
    good = [r for r in recorded if "step_us" in r]
    errors = sorted({r["error"] for r in recorded if "error" in r})
    if not good or not before or not off_before:
        return {"mode": mode, "model": model, "errors": errors}
    base = statistics.median(before)
    off_base = statistics.median(off_before)
    off_by_round = {
        r["round"]: r["step_us"]
        for r in rounds
        if r["mode"] == "off" and r["model"] == model and r["phase"] == "recorded"
    }
    added = [
        (r["step_us"] / base) / (off_by_round.get(r["round"], off_base) / off_base) - 1
        for r in good
    ]
    after = times(mode, "after")
    last = good[-1]
    low, high = interval(added)
    return {
        "mode": mode,
        "model": model,
        "rounds": len(good),
        "step_us": statistics.median(r["step_us"] for r in good),
        "without_us": base,
        "added_percent": statistics.median(added) * 100,
        "added_low": low * 100,
        "added_high": high * 100,
        "after_percent": (statistics.median(after) / base - 1) * 100 if after else None,
        "stop_seconds": statistics.median(r.get("stop_seconds", 0) for r in good),
        "kernels_per_step": last.get("kernels", 0) / last["steps"] if "steps" in last else None,
        "events": last.get("events"),
        "bytes": last.get("bytes"),
        "not_recorded": sum(r.get("not_recorded", 0) for r in good),
        "operators": last.get("operators"),
        "errors": errors,
    }


def print_table(figures: list[Facts]) -> None:
    print(
        f"{'loop':11} {'recording':15} {'rounds':>6} {'step us':>9} {'added %':>8} "
        f"{'95 %':>15} {'of torch':>8} {'after %':>7} {'stop s':>7} {'kern/step':>9} "
        f"{'events':>9} {'MB':>7} {'lost':>5}"
    )
    for row in figures:
        if "step_us" not in row:
            print(f"{row['model']:11} {row['mode']:15} {'; '.join(row['errors'])[:120]}")
            continue
        reference = next(
            (
                f["added_percent"]
                for f in figures
                if f["model"] == row["model"] and f["mode"] == "torch_default"
                if "added_percent" in f
            ),
            None,
        )
        ratio = f"{row['added_percent'] / reference:8.2f}" if reference else f"{'-':>8}"
        after = f"{row['after_percent']:7.1f}" if row["after_percent"] is not None else f"{'-':>7}"
        span = f"{row['added_low']:.2f}..{row['added_high']:.2f}"
        print(
            f"{row['model']:11} {row['mode']:15} {row['rounds']:6} {row['step_us']:9.1f} "
            f"{row['added_percent']:8.2f} {span:>15} {ratio} {after} {row['stop_seconds']:7.3f} "
            f"{row['kernels_per_step'] or 0:9.1f} {row['events'] or 0:9} "
            f"{(row['bytes'] or 0) / 1e6:7.2f} {row['not_recorded']:5}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--worker")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--models", default="tiny_mlp,graph_mlp,gpt2_small,resnet50")
    parser.add_argument("--modes", default="")
    parser.add_argument("--output", type=Path, default=Path())
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments.worker)
        return

    import models as loops
    import profilers

    ends = time.monotonic() + arguments.seconds
    chosen = arguments.models.split(",")
    modes = arguments.modes.split(",") if arguments.modes else list(profilers.MODES)
    workers = [Worker(mode) for mode in modes]
    rounds: list[Facts] = []

    def run(worker: Worker, model: str, phase: str, number: int) -> None:
        facts = worker.round(model, loops.STEPS[model], phase == "recorded")
        rounds.append(
            {"mode": worker.mode, "model": model, "phase": phase, "round": number} | facts
        )

    for number in range(PRISTINE_ROUNDS):
        for model in chosen:
            for worker in workers:
                run(worker, model, "pristine", number)
    number = 0
    longest = 0.0
    # The round without recording at the end takes about as long as one before.
    while time.monotonic() + longest * 1.5 < ends - 10:
        began = time.monotonic()
        for model in chosen:
            for worker in workers if number % 2 == 0 else reversed(workers):
                if worker.mode in SLOW_MODES and number % 3 != 0:
                    continue
                run(worker, model, "recorded", number)
        longest = max(longest, time.monotonic() - began)
        number += 1
    for model in chosen:
        for worker in workers:
            run(worker, model, "after", 0)
    for worker in workers:
        worker.close()
    figures = [compare(mode, model, rounds) for model in chosen for mode in modes]
    print_table(figures)
    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "overhead.json").write_text(
        json.dumps({"figures": figures, "rounds": rounds}, indent=1)
    )


if __name__ == "__main__":
    main()
