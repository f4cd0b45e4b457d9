"""The GPU's tier, from the parameter to the vendor's library, of which a stand-in is here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import fake_record
import pytest
import stepscope
from stepscope import _record

REPOSITORY = Path(__file__).resolve().parents[3]
FAKE_CUPTI = Path(
    os.environ.get("STEPSCOPE_FAKE_CUPTI", REPOSITORY / "build/tests/libstepscope_fake_cupti.so")
)

# A machine with a GPU; its device files cannot be faked.
PROGRAM = """
import stepscope
from stepscope.profiler import devices
CPU, GPU = stepscope.ProfilerActivity.CPU, stepscope.ProfilerActivity.GPU
devices.present = lambda: frozenset({CPU, GPU})
profiler = stepscope.Profiler(activities=[CPU, GPU], output_path="o", gpu_tier="kernels")
profiler.stop()
"""


@pytest.mark.skipif(_record.Recording is fake_record.Recording, reason="needs the native recorder")
@pytest.mark.skipif(not FAKE_CUPTI.exists(), reason=f"needs {FAKE_CUPTI}, which is not built")
def test_the_tier_reaches_the_library(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "STEPSCOPE_CUPTI": str(FAKE_CUPTI)},
        check=True,
    )
    with stepscope.open(tmp_path / "o") as run:
        about = json.loads(run.query("select versions from ranks")["versions"][0])
    assert about["metadata"]["gpu"]["tier"] == "kernels"
