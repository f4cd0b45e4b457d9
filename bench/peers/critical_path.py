#!/usr/bin/env python3
"""The critical path of one step: HTA, and Stepscope from a store, on the same trace.

    bench/peers/critical_path.py TRACE.json.gz [--instance 1] [--repeat 3]

HTA runs in the environment that bench/peers/run.py makes (run that first). Its time is that of
critical_path_analysis() alone, without loading; ours is analyses_bench's, from an imported store.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import subprocess
import tempfile

import run

HTA = """
import json, sys, time
from hta.trace_analysis import TraceAnalysis
path, instance, repeat = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
analysis = TraceAnalysis(
    trace_files={0: path}, trace_dir=path.rsplit("/", 1)[0], include_last_profiler_step=True
)
times = []
for _ in range(repeat):
    start = time.perf_counter()
    graph, ok = analysis.critical_path_analysis(
        rank=0, annotation="ProfilerStep", instance_id=instance
    )
    times.append(time.perf_counter() - start)
    assert ok
print(json.dumps({"ms": [1000 * t for t in times]}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--instance", type=int, default=1, help="which ProfilerStep, from 0")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    trace = arguments.trace.resolve()
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "run.stepscope"
        subprocess.run(
            [run.BUILD / "stepscope", "import", trace, "-o", store],
            check=True,
            capture_output=True,
        )
        ours = subprocess.run(
            [run.BUILD / "bench" / "analyses_bench", store, str(arguments.repeat)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        line = next(text for text in ours.splitlines() if text.startswith("critical path"))
        print("Stepscope:", line, "(segments, wall ms, CPU ms)")
    python = run.PEERS / "hta" / "bin" / "python"
    if not python.exists():
        print(f"HTA: not installed ({python}); run bench/peers/run.py first")
        return
    result = subprocess.run(
        [python, "-c", HTA, trace, str(arguments.instance), str(arguments.repeat)],
        check=False,
        capture_output=True,
        text=True,
    )
    if result.returncode != 0:
        print("HTA: failed:", result.stderr.strip().splitlines()[-1] if result.stderr else "")
        return
    times = json.loads(result.stdout.strip().splitlines()[-1])["ms"]
    print("HTA: critical path", ", ".join(f"{time:.0f}" for time in times), "ms")


if __name__ == "__main__":
    main()
