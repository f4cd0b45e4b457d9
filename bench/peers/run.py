#!/usr/bin/env python3
"""Imports the same traces with Stepscope and with what people would use instead, and prints ratios.

    bench/peers/run.py --generate --sizes 100,500 --repeat 5

Every tool runs in a process of its own, in turns, so that a busy moment hits all of them alike.
Peers live in virtual environments under ${XDG_CACHE_HOME:-~/.cache}/stepscope/peers, made when
first needed. A tool that cannot be installed, fails or runs too long keeps its row and says so.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
BUILD = REPOSITORY / "build"
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PEERS = CACHE / "stepscope" / "peers"
QUIET_LOAD = 0.3
COLUMNS = (
    *("tool", "median s", "min s", "CPU s", "MB/s", "M events/s", "peak / file", "slices"),
    *("ours is", "keeps"),
)


@dataclasses.dataclass(frozen=True)
class Tool:
    name: str
    title: str
    script: str  # Under tools/; empty for Stepscope itself.
    requirements: str  # Under requirements/; empty when nothing needs installing.
    keeps: str
    drops_slices: bool = False  # Known to leave events out; its count is shown, not compared.


TOOLS = [
    Tool("stepscope", "Stepscope import", "", "", "everything: args, flows, nesting, tiles"),
    Tool("polars", "polars read_json", "polars_read_json.py", "polars.txt", "5 columns, no args"),
    Tool(
        "duckdb", "DuckDB read_json", "duckdb_read_json.py", "duckdb.txt", "8 columns, args as text"
    ),
    Tool("json", "Python json", "plain_json.py", "", "objects in memory"),
    Tool("hta", "HTA TraceAnalysis", "hta_load.py", "hta.txt", "a data frame, few args", True),
    Tool(
        "tensorboard",
        "TensorBoard plugin",
        "tensorboard_load.py",
        "tensorboard.txt",
        "its views",
        True,
    ),
]


@dataclasses.dataclass
class Measurement:
    wall_s: float
    cpu_s: float
    peak_bytes: int


@dataclasses.dataclass
class Outcome:
    """What a tool did with one file over all repeats."""

    tool: Tool
    runs: list[Measurement] = dataclasses.field(default_factory=list)
    slices: int | None = None
    version: str = ""
    problem: str = ""

    def median_s(self) -> float:
        return statistics.median(run.wall_s for run in self.runs)


class ToolError(Exception):
    """A tool could not be installed or run; the text goes into the table."""


def last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:160] if lines else "no message"


def prepare_environment(tool: Tool) -> pathlib.Path:
    """The Python that has the tool installed; makes its environment when it is missing or old."""
    if not tool.requirements:
        return pathlib.Path(sys.executable)
    requirements = HERE / "requirements" / tool.requirements
    environment = PEERS / tool.name
    python = environment / "bin" / "python"
    stamp = environment / "installed.txt"
    if stamp.exists() and stamp.read_text() == requirements.read_text():
        return python
    print(f"installing {tool.title} into its own environment ...", file=sys.stderr, flush=True)
    shutil.rmtree(environment, ignore_errors=True)
    for command in (
        [sys.executable, "-m", "venv", str(environment)],
        [str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)],
    ):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ToolError(f"not installed: {last_line(done.stderr)}")
    stamp.write_text(requirements.read_text())
    return python


def measure(command: list[str], timeout_s: float) -> tuple[Measurement, str]:
    """Runs a command alone; wall and CPU time and peak memory are the kernel's figures for it."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        timer = threading.Timer(timeout_s, process.kill)
        timer.start()
        # wait4 and not wait: it returns the usage of this child alone.
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - start
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            if wall_s >= timeout_s:
                raise ToolError(f"stopped after {timeout_s:.0f} s")
            raise ToolError(f"failed ({process.returncode}): {last_line(errors.read())}")
        measurement = Measurement(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)
        return measurement, output.read()


def count_in_store(program: pathlib.Path, store: pathlib.Path) -> int:
    command = [
        str(program),
        "query",
        str(store),
        "SELECT count(*) FROM slices WHERE flags & 4 = 0",
        "--format",
        "csv",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ToolError(f"query failed: {last_line(done.stderr)}")
    return int(last_line(done.stdout))


def run_stepscope(
    program: pathlib.Path, trace: pathlib.Path, outcome: Outcome, timeout_s: float
) -> None:
    if not program.exists():
        raise ToolError(f"not built: {program.name} is missing")
    with tempfile.TemporaryDirectory(prefix="stepscope-peers-") as folder:
        store = pathlib.Path(folder) / "store"
        measurement, _ = measure([str(program), "import", str(trace), "-o", str(store)], timeout_s)
        if outcome.slices is None:
            outcome.slices = count_in_store(program, store)
    outcome.runs.append(measurement)


def run_tool(
    tool: Tool, options: argparse.Namespace, trace: pathlib.Path, outcome: Outcome
) -> None:
    if not tool.script:
        run_stepscope(options.stepscope, trace, outcome, options.timeout)
        return
    python = prepare_environment(tool)
    command = [str(python), str(HERE / "tools" / tool.script), str(trace)]
    measurement, output = measure(command, options.timeout)
    found = json.loads(last_line(output))
    outcome.slices, outcome.version = found["slices"], found["version"]
    outcome.runs.append(measurement)


def run_script(name: str, *arguments: str) -> str:
    """Runs one of our scripts in a process of its own.

    The kernel counts the memory that a parent ever had as its child's peak, so this process must
    stay small.
    """
    command = [sys.executable, str(HERE / "tools" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def expected_counts(trace: pathlib.Path) -> tuple[int, int]:
    """Events and slices of a trace: from its answer key, or counted."""
    key = trace.with_name(trace.name.removesuffix(".json") + ".expected.json")
    if key.exists():
        rank = json.loads(key.read_text())["ranks"][0]
        return rank["events"], rank["slices"]
    found = json.loads(run_script("plain_json.py", str(trace)))
    return found["events"], found["slices"]


def generated_trace(size_mb: int, options: argparse.Namespace) -> pathlib.Path:
    trace = PEERS / "input" / f"generated_{size_mb}mb.json"
    if trace.exists() and not options.generate:
        return trace
    if not options.generate:
        sys.exit(f"{trace.name} is missing: run again with --generate")
    command = [str(options.generator), "--output", str(trace), "--size-mb", str(size_mb)]
    subprocess.run(command, check=True)
    return trace


def compare(trace: pathlib.Path, tools: list[Tool], options: argparse.Namespace) -> list[Outcome]:
    outcomes = [Outcome(tool) for tool in tools]
    read_gb_per_s(trace)  # Everyone starts with a warm file.
    for _ in range(options.repeat):
        for outcome in outcomes:
            if outcome.problem:
                continue
            try:
                run_tool(outcome.tool, options, trace, outcome)
            except ToolError as error:
                outcome.problem = str(error)
    return outcomes


def verdict(outcome: Outcome, slices: int) -> str:
    if outcome.slices == slices:
        return "all"
    if outcome.tool.drops_slices:
        return f"{outcome.slices:,} of {slices:,}"
    return f"WRONG: {outcome.slices:,} of {slices:,}"


def table(trace: pathlib.Path, outcomes: list[Outcome], events: int, slices: int) -> str:
    size = trace.stat().st_size
    ours = next((o for o in outcomes if o.tool.name == "stepscope" and o.runs), None)
    lines = [
        f"### {trace.name}: {size / 1e6:.0f} MB, {events:,} events, {slices:,} slices",
        "",
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "---|" * len(COLUMNS),
    ]
    for outcome in outcomes:
        title = f"{outcome.tool.title} {outcome.version}".strip()
        if outcome.problem or not outcome.runs:
            problem = outcome.problem or "not run"
            lines.append(f"| {title} | {problem} |" + " |" * (len(COLUMNS) - 2))
            continue
        median = outcome.median_s()
        cpu = statistics.median(run.cpu_s for run in outcome.runs)
        peak = max(run.peak_bytes for run in outcome.runs)
        ratio = f"{median / ours.median_s():.1f}x faster" if ours and ours is not outcome else ""
        cells = [
            title,
            f"{median:.2f}",
            f"{min(run.wall_s for run in outcome.runs):.2f}",
            f"{cpu:.2f}",
            f"{size / 1e6 / median:.0f}",
            f"{events / 1e6 / median:.2f}",
            f"{peak / size:.2f}",
            verdict(outcome, slices),
            ratio,
            outcome.tool.keeps,
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def copy_gb_per_s() -> float:
    return float(run_script("memcpy_speed.py")) / 1e9


def read_gb_per_s(path: pathlib.Path) -> float:
    """Reading a file that is in the page cache, 1 MiB at a time; best of three."""
    window = bytearray(1 << 20)
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        with open(path, "rb", buffering=0) as file:
            while file.readinto(window):
                pass
        best = min(best, time.perf_counter() - start)
    return path.stat().st_size / best / 1e9


def cpu_model() -> str:
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown CPU"


def machine(trace: pathlib.Path) -> str:
    load = os.getloadavg()[0]
    note = "" if load <= QUIET_LOAD else f" (above {QUIET_LOAD}: figures are not reliable)"
    return (
        f"Machine: {cpu_model()}, {os.cpu_count()} CPUs, memcpy {copy_gb_per_s():.1f} GB/s, "
        f"warm file read {read_gb_per_s(trace):.1f} GB/s, load average {load:.2f}{note}\n"
    )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [tool.name for tool in TOOLS]
    parser.add_argument(
        "traces", nargs="*", type=pathlib.Path, help="trace files; default: generated"
    )
    parser.add_argument("--sizes", default="100", help="generated sizes in MB: 100,500")
    parser.add_argument("--tools", default=",".join(names), help=f"any of {', '.join(names)}")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each tool (3)")
    parser.add_argument("--timeout", type=float, default=900, help="seconds for one run (900)")
    parser.add_argument("--generate", action="store_true", help="make the generated inputs anew")
    parser.add_argument("--stepscope", type=pathlib.Path, default=BUILD / "stepscope")
    parser.add_argument("--generator", type=pathlib.Path, default=BUILD / "stepscope-generate")
    options = parser.parse_args()
    unknown = set(options.tools.split(",")) - set(names)
    if unknown:
        parser.error(f"unknown tool {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    return options


def main() -> int:
    options = parse_arguments()
    wanted = options.tools.split(",")
    tools = [tool for tool in TOOLS if tool.name in wanted]
    sizes = [int(size) for size in options.sizes.split(",")]
    traces = options.traces or [generated_trace(size, options) for size in sizes]
    print(machine(traces[0]), flush=True)
    wrong = False
    for trace in traces:
        events, slices = expected_counts(trace)
        outcomes = compare(trace, tools, options)
        print(table(trace, outcomes, events, slices), flush=True)
        wrong |= any(o.runs and verdict(o, slices).startswith("WRONG") for o in outcomes)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
