"""Twenty steps on the GPU with each tier; the kernels of our recordings beside torch.profiler's.

Run before the benchmark: says whether the collector works on this machine at all. One process for
each way of recording, as in overhead.py. Exits 1 when kernel counts differ or records were lost.
"""

from __future__ import annotations

import json
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


def main() -> None:
    if len(sys.argv) == 3:
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
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
