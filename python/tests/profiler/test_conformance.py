"""The behaviour table that was taken from the MindSpore profiler, scenario by scenario."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import re
import subprocess
import sys

FAKE = pathlib.Path(__file__).parent / "fake"

# Lines that say that ASCEND_PROFILER_OUTPUT/trace_view.json is missing, and nothing else: so it is
# where the native modules are not built.
NEEDS_ANALYSIS = re.compile(
    r"folders, trace_views \((\d+), \d+\), expected \(\1, \d+\)|traces = \d+, wanted .*"
)
ANALYSES = all(
    importlib.util.find_spec(f"stepscope.{name}") is not None
    and getattr(importlib.util.find_spec(f"stepscope.{name}"), "has_location", False)
    for name in ("_native", "_record")
)
# Lines that count MindSpore's operators or data pipeline, which a Python workload does not have.
NEEDS_MINDSPORE = {
    "order.Profiler.two_segments": {"op_rows = 0, wanted 12"},
    "files.dataset_with_data_process": {
        "folders = 0, wanted 1",
        "traces = 0, wanted 1",
        "pipeline_files = 0, wanted ['>=', 1]",
    },
}


def differences(output: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in output.splitlines():
        if line.startswith("FAIL "):
            scenario = line[5:]
            found[scenario] = []
        elif line.startswith("      "):
            found[scenario].append(line.strip())
    return found


def test_table(shared_data: pathlib.Path, tmp_path: pathlib.Path) -> None:
    folder = shared_data / "mindspore_cpu"
    paths = [str(FAKE), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, folder / "conformance.py", "--api", "stepscope", "--jobs", "4"]
    command += ["--workload", "python"]
    command += ["--compare", folder / "conformance.json"]
    ended = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    counted = re.search(r"(\d+) scenarios, .* hangs 0, died 0", ended.stdout)
    assert counted and int(counted[1]) == 150, ended.stdout + ended.stderr
    unexpected = {}
    for scenario, lines in differences(ended.stdout).items():
        known = NEEDS_MINDSPORE.get(scenario, set())
        rest = [line for line in lines if line not in known]
        if not ANALYSES:
            rest = [line for line in rest if not NEEDS_ANALYSIS.fullmatch(line)]
        if rest:
            unexpected[scenario] = rest
    assert not unexpected
