"""What a benchmark's worker can record with: nothing, our collector, torch.profiler, bare CUPTI.

Each has start(folder) and stop(folder), which returns what was recorded. The libraries are those
of build-gpu/lib (see build_portable.sh) or build/lib.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parents[2]
Facts = dict[str, Any]


def library_folder() -> Path:
    for name in ("build-gpu/lib", "build/lib"):
        if (ROOT / name / "libstepscope_collector.so").exists():
            return ROOT / name
    raise SystemExit("no libstepscope_collector.so: run bench/gpu/build_portable.sh")


class Options(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("rank", ctypes.c_int64),
        ("max_host_mb", ctypes.c_uint32),
        ("max_disk_mb", ctypes.c_uint32),
        ("min_free_mb", ctypes.c_uint32),
        ("ring_kb", ctypes.c_uint32),
        ("system_interval_ms", ctypes.c_uint32),
        ("gpu_tier", ctypes.c_uint32),
    )


class Off:
    def start(self, folder: Path) -> None:
        del folder

    def stop(self, folder: Path) -> Facts:
        del folder
        return {}


class Ours:
    """Our collector, and PyTorch's operators where the callback library is built."""

    def __init__(self, tier: int, operators: bool, wishes: int = 0) -> None:
        self.tier = tier
        self.wishes = wishes  # 1 shapes, 2 allocator events
        self.library = ctypes.CDLL(str(library_folder() / "libstepscope_collector.so"))
        self.library.stepscope_stop.restype = ctypes.c_char_p
        self.library.stepscope_last_error.restype = ctypes.c_char_p
        self.operators: ctypes.CDLL | None = None
        path = library_folder() / "libstepscope_torch.so"
        if operators and path.exists():
            self.operators = ctypes.CDLL(str(path))

    def start(self, folder: Path) -> None:
        options = Options(size=ctypes.sizeof(Options), gpu_tier=self.tier, min_free_mb=64)
        if self.library.stepscope_start(str(folder).encode(), ctypes.byref(options)) != 0:
            raise SystemExit(self.library.stepscope_last_error().decode())
        if self.operators is not None:
            self.operators.stepscope_torch_start(self.wishes)

    def stop(self, folder: Path) -> Facts:
        began = time.perf_counter()
        if self.operators is not None:
            self.operators.stepscope_torch_stop()
        statistics = json.loads(self.library.stepscope_stop())
        seconds = time.perf_counter() - began
        summary = read_summary(folder)
        gpu = (summary.get("gpu") or [{}])[-1]
        return {
            "stop_seconds": seconds,
            "events": statistics["events"],
            "not_recorded": statistics["not_recorded"],
            "bytes": statistics["bytes"],
            "writer_cpu_seconds": statistics["writer_cpu_seconds"],
            "kernels": gpu.get("kernels", 0),
            "operators": self.operators is not None,
            "summary": summary,
        }


def read_summary(folder: Path) -> Facts:
    tool = library_folder() / "raw_summary"
    done = subprocess.run([tool, folder / "stepscope.raw"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"error": done.stderr}


class TorchProfiler:
    def __init__(self, everything: bool) -> None:
        self.everything = everything
        self.profiler: torch.profiler.profile | None = None

    def start(self, folder: Path) -> None:
        del folder
        both = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
        self.profiler = torch.profiler.profile(
            activities=both,
            record_shapes=self.everything,
            with_stack=self.everything,
            profile_memory=self.everything,
        )
        self.profiler.start()

    def stop(self, folder: Path) -> Facts:
        assert self.profiler is not None
        path = folder / "trace.json"
        began = time.perf_counter()
        self.profiler.stop()
        stopped = time.perf_counter()
        self.profiler.export_chrome_trace(str(path))
        written = time.perf_counter()
        self.profiler = None
        text = path.read_bytes()
        facts = {
            "stop_seconds": written - began,
            "profiler_stop_seconds": stopped - began,
            "events": text.count(b'"ph": "X"') or text.count(b'"ph":"X"'),
            "kernels": text.count(b'"cat": "kernel"') or text.count(b'"cat":"kernel"'),
            "bytes": len(text),
        }
        path.unlink()
        return facts


class Floor:
    """CUPTI switched on and its records thrown away."""

    def __init__(self, tier: int) -> None:
        self.tier = tier
        self.library = ctypes.CDLL(str(library_folder() / "libstepscope_cupti_floor.so"))
        self.library.stepscope_floor_stop.restype = ctypes.c_uint64

    def start(self, folder: Path) -> None:
        del folder
        if self.library.stepscope_floor_start(self.tier) != 0:
            raise SystemExit("CUPTI does not start")

    def stop(self, folder: Path) -> Facts:
        del folder
        began = time.perf_counter()
        record_bytes = self.library.stepscope_floor_stop()
        return {"stop_seconds": time.perf_counter() - began, "record_bytes": record_bytes}


def make(mode: str) -> Off | Ours | TorchProfiler | Floor:
    """The profiler of a mode; the environment is changed before CUPTI is opened."""
    if mode == "kernels_no_flush":
        os.environ["STEPSCOPE_CUPTI_TUNING"] = "flush_ms=0"
    makers = {
        "off": Off,
        "pulse": lambda: Ours(1, operators=False),
        "kernels": lambda: Ours(2, operators=False),
        "kernels_no_flush": lambda: Ours(2, operators=False),
        "full": lambda: Ours(3, operators=True),
        "full_shapes_memory": lambda: Ours(3, operators=True, wishes=3),
        "torch_default": lambda: TorchProfiler(everything=False),
        "torch_full": lambda: TorchProfiler(everything=True),
        "floor_kernels": lambda: Floor(2),
        "floor_full": lambda: Floor(3),
    }
    return makers[mode]()


MODES = (
    "off",
    "floor_kernels",
    "pulse",
    "kernels",
    "floor_full",
    "full",
    "full_shapes_memory",
    "torch_default",
    "torch_full",
)
