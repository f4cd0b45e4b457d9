"""The TensorBoard plugin: what its RunLoader does for one worker, parsing and all page data.

Done here in one process; RunLoader starts another one for it and adds a queue.
"""

from __future__ import annotations

import sys
import tempfile

from result import report
from torch_tb_profiler.profiler.data import DistributedRunProfileData, RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator

with tempfile.TemporaryDirectory() as cache:
    data = RunProfileData.parse("worker0", None, sys.argv[1], cache)
    RunGenerator("worker0", None, data).generate_run_profile()
    DistributedRunProfileData(data)
report(sum(hasattr(event, "duration") for event in data.events), "torch-tb-profiler")
