"""Twenty steps on the GPU with each tier; the kernels of our recordings beside torch.profiler's.

Run before the benchmark: says whether the collector works on this machine at all. One process for
each way of recording, as in overhead.py. Exits 1 when kernel counts differ or records were lost.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

STEPS = 20


def record(mode: str, model: str) -> None:
    import models
    import profilers
    import torch

    step = models.MODELS[model]()
    for _ in range(5):
        step()
    torch.cuda.synchronize()
    profiler = profilers.make(mode)
    with tempfile.TemporaryDirectory() as folder:
        profiler.start(Path(folder))
        for _ in range(STEPS):
            step()
        # Not synchronised: what still runs now must be in the recording.
        facts = profiler.stop(Path(folder))
    print("ANSWER " + json.dumps(facts), flush=True)


def run_plainly(model: str) -> None:
    """A program that knows nothing of us, to be recorded from outside."""
    import models
    import torch

    step = models.MODELS[model]()
    for _ in range(STEPS):
        step()
    torch.cuda.synchronize()


def record_from_outside(tier: str) -> bool:
    import profilers

    libraries = profilers.library_folder()
    with tempfile.TemporaryDirectory() as output:
        settings = {
            "CUDA_INJECTION64_PATH": str(libraries / "libstepscope_injection.so"),
            "NVTX_INJECTION64_PATH": str(libraries / "libstepscope_injection.so"),
            "STEPSCOPE_OUTPUT": output,
            "STEPSCOPE_TIER": tier,
        }
        done = subprocess.run(
            [sys.executable, __file__, "plainly", "tiny_mlp"],
            env=os.environ | settings,
            capture_output=True,
            text=True,
            timeout=120,
        )
        runs = list(Path(output).glob("*/FRAMEWORK/stepscope.raw"))
        said = done.stderr[-2000:]
        print(f"from outside, {tier}: exit {done.returncode}, {len(runs)} runs {said}")
        for run in runs:
            print(f"    {json.dumps(profilers.read_summary(run.parent))}", flush=True)
        return done.returncode == 0 and len(runs) == 1


def main() -> None:
    if len(sys.argv) == 3:
        if sys.argv[1] == "plainly":
            run_plainly(sys.argv[2])
        else:
            record(sys.argv[1], sys.argv[2])
        return
    good = True
    for model in ("tiny_mlp", "graph_mlp", "gpt2_small"):
        kernels = {}
        for mode in ("torch_default", "pulse", "kernels", "full"):
            done = subprocess.run(
                [sys.executable, __file__, mode, model], capture_output=True, text=True, timeout=120
            )
            answers = [line for line in done.stdout.splitlines() if line.startswith("ANSWER ")]
            if not answers:
                print(f"{model} {mode}: exit {done.returncode}\n{done.stderr[-3000:]}")
                good = False
                continue
            facts = json.loads(answers[-1][len("ANSWER ") :])
            summary = facts.pop("summary", {})
            kernels[mode] = facts.get("kernels")
            print(f"{model} {mode}: {json.dumps(facts)}")
            for part in ("rows", "gpu", "device", "not_honoured", "source_left_out", "error"):
                if summary.get(part):
                    print(f"    {part}: {json.dumps(summary[part])}")
            good &= not facts.get("not_recorded")
        same = len({kernels.get(mode) for mode in ("torch_default", "kernels", "full")}) == 1
        print(f"{model}: kernels {kernels} {'the same' if same else 'DIFFERENT'}\n", flush=True)
        good &= same
    for tier in ("kernels", "full"):
        good &= record_from_outside(tier)
    print("smoke test:", "good" if good else "NOT GOOD")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
