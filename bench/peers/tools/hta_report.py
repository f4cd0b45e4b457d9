"""Holistic Trace Analysis: TraceAnalysis() and every analysis of a single rank that it has."""

from __future__ import annotations

import pathlib
import sys

from hta.trace_analysis import TraceAnalysis
from result import report

path = pathlib.Path(sys.argv[1]).resolve()
analysis = TraceAnalysis(
    trace_files={0: str(path)}, trace_dir=str(path.parent), include_last_profiler_step=True
)
CALLS = {
    "temporal breakdown": lambda: analysis.get_temporal_breakdown(visualize=False),
    "overlap": lambda: analysis.get_comm_comp_overlap(visualize=False),
    "kernel breakdown": lambda: analysis.get_gpu_kernel_breakdown(visualize=False),
    "idle time": lambda: analysis.get_idle_time_breakdown(visualize=False),
    "launches": lambda: analysis.get_cuda_kernel_launch_stats(visualize=False),
    "annotations": lambda: analysis.get_gpu_user_annotation_breakdown(visualize=False),
    "queues": lambda: analysis.get_queue_length_summary(),
    "copies": lambda: analysis.get_memory_bw_summary(),
    "critical path": lambda: analysis.critical_path_analysis(
        rank=0, annotation="ProfilerStep", instance_id=1
    ),
}
failed = []
for name, call in CALLS.items():
    try:
        call()
    except Exception:  # an analysis that HTA cannot do of this trace; the others count
        failed.append(name)
report(len(analysis.t.get_trace(0)), "HolisticTraceAnalysis", failed)
