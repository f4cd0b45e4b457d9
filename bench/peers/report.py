#!/usr/bin/env python3
"""From a trace to what its tool has to say about it: Stepscope's report, HTA, TensorBoard's plugin.

    bench/peers/report.py TRACE.json.gz ... [--repeat 3]

Every tool runs in a process of its own, in turns, and reads the trace itself: Stepscope imports it
and writes its report of all analyses as JSON, HTA runs all analyses of one rank and the critical
path of one step, the plugin makes the data of its pages. The environments are those of run.py.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import statistics
import tempfile

import run

STEPSCOPE = run.Tool("stepscope", "Stepscope report, with import", "", "", "")
FROM_STORE = run.Tool("store", "Stepscope report, imported before", "", "", "")
PEERS = [
    run.Tool("hta", "HTA, all analyses", "hta_report.py", "hta.txt", ""),
    run.Tool("tensorboard", "TensorBoard plugin", "tensorboard_load.py", "tensorboard.txt", ""),
]


def run_stepscope(program: pathlib.Path, trace: pathlib.Path, outcome: run.Outcome) -> None:
    with tempfile.TemporaryDirectory(prefix="stepscope-peers-") as folder:
        # A store is made beside the trace, where there is none yet.
        copy = pathlib.Path(folder) / trace.name
        shutil.copyfile(trace, copy)
        command = [str(program), "report", str(copy), "--json"]
        measurement, _ = run.measure(command, 900)
        if outcome.tool is FROM_STORE:
            measurement, _ = run.measure(command, 900)
    outcome.runs.append(measurement)


def compare(trace: pathlib.Path, program: pathlib.Path, repeat: int) -> list[run.Outcome]:
    outcomes = [run.Outcome(tool) for tool in (STEPSCOPE, FROM_STORE, *PEERS)]
    for _ in range(repeat):
        for outcome in outcomes:
            if outcome.problem:
                continue
            try:
                if outcome.tool.script:
                    python = run.prepare_environment(outcome.tool)
                    script = run.HERE / "tools" / outcome.tool.script
                    measurement, output = run.measure([str(python), str(script), str(trace)], 900)
                    outcome.runs.append(measurement)
                    told = json.loads(run.last_line(output))
                    without = ", ".join(told["failed"])
                    outcome.version = told["version"] + (f", without {without}" if without else "")
                else:
                    run_stepscope(program, trace, outcome)
            except run.ToolError as error:
                outcome.problem = str(error)
    return outcomes


def table(trace: pathlib.Path, outcomes: list[run.Outcome]) -> str:
    lines = [
        f"### {trace.name}, load {os.getloadavg()[0]:.1f}",
        "",
        "| tool | median s | min s | CPU s | peak MB | ours is |",
        "|---|---|---|---|---|---|",
    ]
    ours = outcomes[0]
    for outcome in outcomes:
        if not outcome.runs:
            lines.append(f"| {outcome.tool.title} | {outcome.problem} | | | | |")
            continue
        title = f"{outcome.tool.title} {outcome.version}".strip()
        cpu = statistics.median(one.cpu_s for one in outcome.runs)
        peak = max(one.peak_bytes for one in outcome.runs)
        ratio = ""
        if outcome.tool.script and ours.runs:
            our_cpu = statistics.median(one.cpu_s for one in ours.runs)
            ratio = (
                f"{outcome.median_s() / ours.median_s():.0f} x faster, {cpu / our_cpu:.0f} x in CPU"
            )
        lines.append(
            f"| {title} | {outcome.median_s():.2f} "
            f"| {min(one.wall_s for one in outcome.runs):.2f} | {cpu:.2f} | {peak / 1e6:.0f} "
            f"| {ratio} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("traces", nargs="+", type=pathlib.Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--stepscope", type=pathlib.Path, default=run.BUILD / "stepscope")
    options = parser.parse_args()
    for trace in options.traces:
        print(table(trace, compare(trace.resolve(), options.stepscope, options.repeat)))


if __name__ == "__main__":
    main()
