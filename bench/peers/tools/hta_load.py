"""Holistic Trace Analysis: TraceAnalysis() up to the point where its analyses can be called."""

from __future__ import annotations

import pathlib
import sys

from hta.trace_analysis import TraceAnalysis
from result import report

path = pathlib.Path(sys.argv[1]).resolve()
analysis = TraceAnalysis(
    trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True
)
report(len(analysis.t.get_trace(0)), "HolisticTraceAnalysis")
