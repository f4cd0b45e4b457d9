"""CANN and msprof on a machine without them: stand-ins of ours (tests/support), which keep a log of
what they are asked for."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[4]
FAKE_CANN = Path(
    os.environ.get(
        "STEPSCOPE_FAKE_ASCENDCL", REPOSITORY / "build/tests/libstepscope_fake_ascendcl.so"
    )
)
FAKE_MSPROF = REPOSITORY / "tests/support/fake_msprof"

# A machine with an NPU; its device files cannot be faked, all else is found as on a real one.
PROGRAM = """
import json, logging, sys
from stepscope.profiler import *
from stepscope.profiler import devices
logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
CPU, NPU = ProfilerActivity.CPU, ProfilerActivity.NPU
devices.present = lambda: frozenset({CPU, NPU})
"""


def calls_of(tmp_path: Path) -> list[str]:
    calls = (tmp_path / "calls").read_text().splitlines()
    assert not [line for line in calls if line.startswith("VIOLATION")]
    return calls
