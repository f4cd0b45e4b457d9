"""What dynamic profiling costs a training that is not being recorded, and how fast it reacts.

    python bench/frameworks/dynamic_overhead.py [--processes 64] [--seconds 10]

Needs the installed package. Prints nanoseconds a step while nothing is asked for and while a window
far away is armed, the time from saving the configuration to the rank's being armed, and both the
reaction and the processor time of many processes that watch one folder.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from types import SimpleNamespace
from typing import Callable

from stepscope.profiler import DynamicProfilerMonitor

CALLS = 200_000
REPEATS = 15
EDITS = 50
FAR = 10**12


def per_call(function: Callable[[], object]) -> tuple[float, float]:
    """Nanoseconds of a call: the least and the median of some rounds."""
    rounds = []
    for _ in range(REPEATS):
        begun = time.perf_counter_ns()
        for _ in range(CALLS):
            function()
        rounds.append((time.perf_counter_ns() - begun) / CALLS)
    return min(rounds), statistics.median(rounds)


def save(file: pathlib.Path, start: int) -> None:
    unfinished = file.with_suffix(".new")
    unfinished.write_text(json.dumps({"start_step": start, "stop_step": start}))
    unfinished.replace(file)


def steps(monitor: DynamicProfilerMonitor, file: pathlib.Path) -> None:
    arguments = SimpleNamespace(cur_step_num=1)
    context = SimpleNamespace(original_args=lambda: arguments)

    def callbacks() -> None:
        monitor.on_train_step_begin(context)
        monitor.on_train_step_end(context)

    empty = per_call(lambda: None)
    print(f"an empty function: {empty[0]:.0f} ns, median {empty[1]:.0f} ns")
    for state in ("nothing is asked for", "a window is armed"):
        for name, function in (("step()", monitor.step), ("both callbacks", callbacks)):
            least, median = per_call(function)
            print(f"{state}, {name}: {least:.0f} ns, median {median:.0f} ns a step")
        save(file, FAR)
        wait_for(monitor, FAR)


def wait_for(monitor: DynamicProfilerMonitor, start: int) -> None:
    while not (monitor._armed and monitor._armed.start == start):
        time.sleep(0.0001)
        monitor.step()


def reactions(monitor: DynamicProfilerMonitor, file: pathlib.Path) -> None:
    taken = []
    for edit in range(1, EDITS + 1):
        begun = time.perf_counter()
        save(file, FAR + edit)
        wait_for(monitor, FAR + edit)
        taken.append(1000 * (time.perf_counter() - begun))
    taken.sort()
    print(
        f"from saving to armed, steps of 0.1 ms: median {statistics.median(taken):.2f} ms, "
        f"longest of {EDITS} {taken[-1]:.2f} ms"
    )


def watch(folder: str, seconds: float) -> None:
    """One of many: counts steps of 10 ms, then tells what it saw."""
    monitor = DynamicProfilerMonitor(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    while time.monotonic() < begun + seconds:
        time.sleep(0.01)
        monitor.step()
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    print(json.dumps({"cpu": cpu / seconds}), flush=True)
    file = pathlib.Path(folder) / "profiler_config.json"
    while not monitor._armed:
        time.sleep(0.001)
        monitor.step()
    seen = time.time()
    print(json.dumps({"armed": seen - file.stat().st_mtime}), flush=True)


def bare_loop(seconds: float) -> float:
    """Processor time of the same loop without a monitor."""
    before, begun = time.process_time(), time.monotonic()
    while time.monotonic() < begun + seconds:
        time.sleep(0.01)
    return (time.process_time() - before) / seconds


def many(count: int, seconds: float, folder: pathlib.Path) -> None:
    command = [sys.executable, __file__, "--watch", str(folder), "--seconds", str(seconds)]
    processes = [
        subprocess.Popen(
            command,
            env={**os.environ, "RANK": str(rank), "WORLD_SIZE": str(count)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for rank in range(count)
    ]  # fmt: skip
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("\n")
        process.stdin.flush()
    cpu = []
    for process in processes:
        assert process.stdout
        cpu.append(json.loads(process.stdout.readline())["cpu"])
    save(folder / "profiler_config.json", FAR)
    armed = []
    for process in processes:
        assert process.stdout
        armed.append(1000 * json.loads(process.stdout.readline())["armed"])
        process.wait()
    print(
        f"{count} processes, each in a loop of 10 ms steps: {100 * statistics.mean(cpu):.2f} % of "
        f"a core each, the loop alone {100 * bare_loop(3):.2f} %; from saving to armed: median "
        f"{statistics.median(armed):.0f} ms, last {max(armed):.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--watch", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.watch:
        watch(options.watch, options.seconds)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        monitor = DynamicProfilerMonitor(str(folder / "one"))
        monitor.step()
        file = folder / "one" / "profiler_config.json"
        time.sleep(0.5)
        steps(monitor, file)
        reactions(monitor, file)
        monitor.close()
        if options.processes:
            many(options.processes, options.seconds, folder / "many")


if __name__ == "__main__":
    main()
