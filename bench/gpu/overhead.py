"""What recording adds to a training step on an NVIDIA GPU, ours beside torch.profiler.

    python3 bench/gpu/overhead.py [--seconds 240] [--loops tiny_mlp,gpt2_small,resnet50]
                                  [--modes off,kernels,full,torch_default] [--output FOLDER]

One process, round after round. In a round every way of recording has three turns of each loop:
steps as they are, steps while it records, steps after it has stopped; what it adds is the second
against the first of the same round. Then CUPTI is taken out of the process, so that the next way
begins as the first one did. The figures are medians over the rounds with their quartiles; "least"
is the fastest turn against the fastest one without recording, which slow phases of the machine do
not touch.

The thread that trains and the one that autograd runs the backward pass on are kept on one processor
(--no-pin: they are not): in a virtual machine, waking a thread on another processor takes as long
as a launch, and varies more than what is measured here. Threads of the profilers, and what the data
loader starts, have the other processors.

Prints a table and the ratios, and writes overhead.json.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import loops
import profilers
import torch

Facts = dict[str, Any]
Step = loops.Step


class Threads:
    """Those that launch: this one and autograd's."""

    def __init__(self, pin: bool) -> None:
        found = [threading.get_native_id()]
        tensor = torch.zeros(1, device="cuda", requires_grad=True)
        tensor.register_hook(lambda _gradient: found.append(threading.get_native_id()))
        (tensor * 2).sum().backward()
        self.ids = list(dict.fromkeys(found))
        everywhere = sorted(os.sched_getaffinity(0))
        self.pin = pin and len(everywhere) > 2
        self.processor = everywhere[1 if self.pin else 0]
        self.others = set(everywhere) - {self.processor}
        self.free()

    def bind(self) -> None:
        if self.pin:
            for thread in self.ids:
                os.sched_setaffinity(thread, {self.processor})

    def free(self) -> None:
        """What this thread starts now stays off the processor that launches."""
        if self.pin:
            os.sched_setaffinity(self.ids[0], self.others)

    def cpu_seconds(self) -> float:
        files = [Path(f"/proc/self/task/{thread}/schedstat") for thread in self.ids]
        return sum(int(file.read_text().split()[0]) for file in files) * 1e-9


class Bench:
    def __init__(self, modes: list[str], pin: bool) -> None:
        self.threads = Threads(pin)
        self.modes = modes
        self.profilers = {mode: profilers.make(mode) for mode in modes}
        self.floor = profilers.floor_library()
        self.rounds: list[Facts] = []
        began = time.monotonic()
        matrix = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
        while time.monotonic() - began < 3:  # until the clocks are up
            (matrix @ matrix).sum().item()

    def turn(self, name: str, step: Step) -> Facts:
        count = loops.STEPS[name]
        self.threads.bind()
        for _ in range(max(2, count // 10)):
            step()
        torch.cuda.synchronize()
        cpu = self.threads.cpu_seconds()
        began = time.perf_counter()
        for _ in range(count):
            step()
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
        cpu = self.threads.cpu_seconds() - cpu
        self.threads.free()
        return {"us": seconds / count * 1e6, "cpu_us": cpu / count * 1e6}

    def turns(self, name: str, step: Step, mode: str) -> Facts:
        facts: Facts = {"loop": name, "mode": mode}
        profiler = self.profilers[mode]
        count = loops.STEPS[name]
        try:
            with tempfile.TemporaryDirectory() as folder:
                facts["before"] = self.turn(name, step)
                profiler.start(Path(folder))
                facts["recorded"] = self.turn(name, step)
                facts |= profiler.stop(Path(folder))
                facts["steps"] = count + max(2, count // 10)
                facts["after"] = self.turn(name, step)
        except Exception as failure:  # the other ways go on
            facts["error"] = f"{type(failure).__name__}: {failure}"
        time.sleep(loops.QUIET_SECONDS.get(name, 0))
        if mode != "off":
            facts["reset"] = self.floor.stepscope_floor_reset()
        return facts

    def run(self, name: str, seconds: float) -> None:
        ends = time.monotonic() + seconds
        step = loops.LOOPS[name]()
        for _ in range(max(10, loops.STEPS[name] // 4)):
            step()
        for mode in self.modes:  # what a profiler does the first time only
            self.turns(name, step, mode)
        longest = 0.0
        number = 0
        while number < 2 or time.monotonic() + longest < ends:
            began = time.monotonic()
            first = number % len(self.modes)
            for mode in self.modes[first:] + self.modes[:first]:
                self.rounds.append({"round": number} | self.turns(name, step, mode))
            longest = max(longest, time.monotonic() - began)
            number += 1


def quartiles(values: list[float]) -> tuple[float, float, float]:
    ordered = sorted(values)
    last = len(ordered) - 1
    return ordered[last // 4], statistics.median(ordered), ordered[last - last // 4]


def compare(rounds: list[Facts], name: str, mode: str) -> Facts:
    """Figures of one way of recording one loop."""
    of_mode = [r for r in rounds if r["loop"] == name and r["mode"] == mode]
    good = [r for r in of_mode if "after" in r]
    errors = sorted({r["error"] for r in of_mode if "error" in r})
    figures: Facts = {"loop": name, "mode": mode, "rounds": len(good), "errors": errors}
    if not good:
        return figures

    def added(turn: str, what: str) -> list[float]:
        return [(r[turn][what] / r["before"][what] - 1) * 100 for r in good]

    low, middle, high = quartiles(added("recorded", "us"))
    last = good[-1]
    least = min(r["before"]["us"] for r in rounds if r["loop"] == name and "before" in r)
    return figures | {
        "before_us": statistics.median(r["before"]["us"] for r in good),
        "before_cpu_us": statistics.median(r["before"]["cpu_us"] for r in good),
        "added_us": statistics.median(r["recorded"]["us"] - r["before"]["us"] for r in good),
        "added": middle,
        "least": (min(r["recorded"]["us"] for r in good) / least - 1) * 100,
        "least_us": min(r["recorded"]["us"] for r in good) - least,
        "least_after": (min(r["after"]["us"] for r in good) / least - 1) * 100,
        "added_low": low,
        "added_high": high,
        "added_cpu": statistics.median(added("recorded", "cpu_us")),
        "after": statistics.median(added("after", "us")),
        "stop_seconds": statistics.median(r.get("stop_seconds", 0) for r in good),
        "kernels_per_step": last["kernels"] / last["steps"] if "kernels" in last else None,
        "events": last.get("events", 0),
        "bytes": last.get("bytes", 0),
        "not_recorded": sum(r.get("not_recorded", 0) for r in good),
        "not_reset": sum(r.get("reset", 0) != 0 for r in good),
    }


def print_table(figures: list[Facts]) -> None:
    print(
        f"{'loop':12} {'recording':17} {'rounds':>6} {'step us':>9} {'added %':>8} "
        f"{'quartiles':>15} {'least %':>7} {'after %':>7} {'least %':>7} {'stop s':>7} "
        f"{'kern/step':>9} {'events':>8} {'MB':>7} {'lost':>5}"
    )
    for row in figures:
        if "added" not in row:
            print(f"{row['loop']:12} {row['mode']:17} {'; '.join(row['errors'])[:160]}")
            continue
        span = f"{row['added_low']:.1f}..{row['added_high']:.1f}"
        print(
            f"{row['loop']:12} {row['mode']:17} {row['rounds']:6} {row['before_us']:9.1f} "
            f"{row['added']:8.1f} {span:>15} {row['least']:7.1f} "
            f"{row['after']:7.1f} {row['least_after']:7.1f} "
            f"{row['stop_seconds']:7.3f} {row['kernels_per_step'] or 0:9.1f} {row['events']:8} "
            f"{row['bytes'] / 1e6:7.2f} {row['not_recorded']:5}"
            f"{'  ' + '; '.join(row['errors'])[:80] if row['errors'] else ''}"
        )


def print_ratios(figures: list[Facts]) -> None:
    """What docs/performance.md promises, or why not."""
    for name in dict.fromkeys(row["loop"] for row in figures):
        by_mode = {r["mode"]: r for r in figures if r["loop"] == name and "added" in r}

        def ratio(mode: str, other: str, what: str, rows: dict[str, Facts] = by_mode) -> str:
            if mode not in rows or other not in rows or rows[other][what] <= 0:
                return f"{mode} / {other}: -"
            return f"{mode} / {other}: {rows[mode][what] / rows[other][what]:.2f}"

        for what in ("added_us", "least_us"):
            print(f"{name}, {what}: " + ", ".join(
            ratio(*pair, what)
            for pair in (
                ("kernels", "floor_kernels"), ("operators", "floor_operators"),
                ("gpu", "floor_gpu"), ("full", "floor_full"), ("full", "floor_calls"),
                ("full", "torch_default"),
                ("full", "torch_everything"), ("everything", "torch_everything"),
                ("floor_full", "torch_default"),
            )
        ))  # fmt: skip
        print(f"{name}, stop with the file: " + ", ".join(
            ratio(*pair, "stop_seconds")
            for pair in (("full", "torch_default"), ("everything", "torch_everything"))
        ))  # fmt: skip
        counts = {mode: r["kernels_per_step"] for mode, r in by_mode.items()
                  if r["kernels_per_step"] and mode != "pulse"}  # fmt: skip
        same = "the same" if len(set(counts.values())) == 1 else "DIFFERENT"
        print(f"{name}, kernels a step: {same} {counts}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--loops", default=",".join(loops.LOOPS))
    parser.add_argument("--modes", default=",".join(profilers.MODES))
    parser.add_argument("--no-pin", action="store_true")
    parser.add_argument("--output", type=Path, default=Path())
    arguments = parser.parse_args()
    chosen = arguments.loops.split(",")
    bench = Bench(arguments.modes.split(","), not arguments.no_pin)
    arguments.output.mkdir(parents=True, exist_ok=True)
    figures: list[Facts] = []
    for name in chosen:
        share = loops.SHARES[name] / sum(loops.SHARES[other] for other in chosen)
        bench.run(name, arguments.seconds * share)
        of_loop = [compare(bench.rounds, name, mode) for mode in bench.modes]
        print_table(of_loop)
        print_ratios(of_loop)
        figures += of_loop
        (arguments.output / "overhead.json").write_text(
            json.dumps({"figures": figures, "rounds": bench.rounds}, indent=1)
        )
    os._exit(0)  # without waiting for the data loader's processes


if __name__ == "__main__":
    main()
