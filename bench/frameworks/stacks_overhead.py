"""What sampling Python's stacks adds to a program, with and without other threads that wait.

    python bench/frameworks/stacks_overhead.py [--rounds 5]

Needs no framework. Ways alternate in one process; CPU time of the whole process.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time

from stepscope import _record


def work(depth: int) -> int:
    return work(depth - 1) if depth else sum(square(i) for i in range(3_000_000))


def square(i: int) -> int:
    return i * i


def measure(stacks: bool) -> tuple[float, float, int]:
    """CPU seconds, seconds and records."""
    sources = {"python_stacks": {"interval_ms": 1}} if stacks else {}
    with tempfile.TemporaryDirectory() as folder:
        recording = _record.Recording(folder, json.dumps({"sources": sources}))
        cpu, begin = time.process_time(), time.monotonic()
        work(20)
        spent = time.process_time() - cpu, time.monotonic() - begin
        return (*spent, json.loads(recording.stop())["events"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    python = sys.version.split()[0]
    print(f"Python {python}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    for waiting in (0, 8):
        done = threading.Event()
        for _ in range(waiting):
            threading.Thread(target=done.wait, daemon=True).start()
        off = on = seconds = 0.0
        records = 0
        for _ in range(rounds):
            off += measure(False)[0]
            cpu, wall, count = measure(True)
            on, seconds, records = on + cpu, seconds + wall, records + count
        done.set()
        print(
            f"{waiting} threads wait: {100 * (on - off) / off:+.1f} % CPU time, "
            f"{records / seconds:.0f} records a second"
        )


if __name__ == "__main__":
    main()
