"""What the benchmarks record with: nothing, Stepscope, torch.profiler, bare CUPTI.

Each has start(folder) and stop(folder), which returns what was recorded.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any, Protocol

import torch
from stepscope import _record
from stepscope.torch import _build, _library
from stepscope.torch._profile import TorchParameters
from stepscope.torch._source import TorchSource

ROOT = Path(__file__).resolve().parents[2]
Facts = dict[str, Any]


class Profiler(Protocol):
    def start(self, folder: Path) -> None: ...
    def stop(self, folder: Path) -> Facts: ...


def built(name: str) -> Path:
    """A library or program of bench/gpu/CMakeLists.txt."""
    for folder in ("build-gpu/bench", "build/bench"):
        if (ROOT / folder / name).exists():
            return ROOT / folder / name
    raise SystemExit(f"{name} is not there: run bench/gpu/build_portable.sh")


class Off:
    def start(self, folder: Path) -> None:
        del folder

    def stop(self, folder: Path) -> Facts:
        del folder
        return {}


def set_tuning(tuning: str) -> None:
    """Before threads launch: a library that reads the environment while it changes may crash."""
    if os.environ.get("STEPSCOPE_CUPTI_TUNING", "") != tuning:
        os.environ["STEPSCOPE_CUPTI_TUNING"] = tuning


class Ours:
    """A recording as Profiler makes it, but for its folder; torch's operators with them."""

    def __init__(
        self, tier: int, operators: bool = False, extras: tuple[str, ...] = (), tuning: str = ""
    ) -> None:
        self.tuning = tuning
        self.sources: Facts = {"system": {"interval_ms": 1000}}
        if tier > 0:
            self.sources["gpu"] = {"tier": tier}
        if "with_stack" in extras:
            self.sources["python_stacks"] = {"interval_ms": 1}
        self.parameters = TorchParameters(**dict.fromkeys(extras, True))
        self.operators = operators
        self.recording: Any = None
        self.source: TorchSource | None = None

    def start(self, folder: Path) -> None:
        set_tuning(self.tuning)
        self.recording = _record.Recording(str(folder), json.dumps({"sources": self.sources}))
        if self.operators:
            self.source = TorchSource()
            missing = self.source.start(self.parameters, folder)
            if missing:
                raise RuntimeError(str(missing))

    def stop(self, folder: Path) -> Facts:
        began = time.perf_counter()
        if self.source is not None:
            self.source.stop()
        figures = json.loads(self.recording.stop())
        seconds = time.perf_counter() - began
        self.recording = self.source = None
        summary = read_summary(folder)
        gpu = (summary.get("gpu") or [{}])[-1]
        return {
            "stop_seconds": seconds,
            "events": figures["events"],
            "not_recorded": figures["not_recorded"],
            "bytes": figures["bytes"],
            "writer_cpu_seconds": figures["writer_cpu_seconds"],
            "kernels": gpu.get("kernels", 0),
            "summary": summary,
        }


def read_summary(folder: Path) -> Facts:
    done = subprocess.run(
        [built("raw_summary"), folder / "stepscope.raw"], capture_output=True, text=True
    )
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
        path.unlink()
        return {
            "stop_seconds": written - began,
            "profiler_stop_seconds": stopped - began,
            "events": text.count(b'"ph": "X"') or text.count(b'"ph":"X"'),
            "kernels": text.count(b'"cat": "kernel"') or text.count(b'"cat":"kernel"'),
            "bytes": len(text),
        }


def floor_library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(built("libstepscope_cupti_floor.so")))
    library.stepscope_floor_stop.restype = ctypes.c_uint64
    return library


def empty_callback() -> ctypes.CDLL:
    """A callback for operators that does nothing, built against the torch that is installed."""
    source = ROOT / "bench/frameworks/empty_callback.cc"
    path = _build.build(
        _build.Torch.installed(), _library.collector_library(), _library.header_folder(), [source]
    )
    return ctypes.CDLL(str(path))


class Floor:
    """CUPTI switched on and its records thrown away; with a callback for operators that is empty
    where operators are recorded. Tier 3 has calls as records, 4 by callbacks that are empty, 0 is
    the callback for operators alone."""

    def __init__(self, tier: int, operators: bool = False, inputs: bool = False) -> None:
        self.tier = tier
        self.inputs = inputs
        self.library = floor_library()
        self.callback = empty_callback() if operators else None

    def start(self, folder: Path) -> None:
        del folder
        if self.tier > 0 and self.library.stepscope_floor_start(self.tier) != 0:
            raise RuntimeError("CUPTI does not start")
        if self.callback:
            self.callback.start_empty(int(self.inputs), 0)

    def stop(self, folder: Path) -> Facts:
        del folder
        began = time.perf_counter()
        if self.callback:
            self.callback.stop_empty()
        record_bytes = self.library.stepscope_floor_stop() if self.tier > 0 else 0
        return {"stop_seconds": time.perf_counter() - began, "record_bytes": record_bytes}


EXTRAS = ("record_shapes", "profile_memory", "with_stack")
MODES: dict[str, Any] = {
    "off": Off,
    "pulse": lambda: Ours(1),
    "floor_kernels": lambda: Floor(2),
    "kernels": lambda: Ours(2),
    "floor_full": lambda: Floor(3, operators=True),
    "floor_calls": lambda: Floor(4, operators=True),
    "full": lambda: Ours(3, operators=True),
    # Both halves of `full`, and the floor of each.
    "floor_operators": lambda: Floor(0, operators=True),
    "operators": lambda: Ours(0, operators=True),
    "floor_gpu": lambda: Floor(4),
    "gpu": lambda: Ours(3),
    "full_records": lambda: Ours(3, operators=True, tuning="subscribe=0"),
    "full_attached": lambda: Ours(3, operators=True, tuning="detach=0"),
    # What `everything` is made of.
    "shapes": lambda: Ours(3, operators=True, extras=("record_shapes",)),
    "memory": lambda: Ours(3, operators=True, extras=("profile_memory",)),
    "stacks": lambda: Ours(3, operators=True, extras=("with_stack",)),
    "floor_inputs": lambda: Floor(4, operators=True, inputs=True),
    "everything": lambda: Ours(3, operators=True, extras=EXTRAS),
    "torch_default": lambda: TorchProfiler(everything=False),
    "torch_everything": lambda: TorchProfiler(everything=True),
}


def make(mode: str) -> Profiler:
    profiler: Profiler = MODES[mode]()
    return profiler
