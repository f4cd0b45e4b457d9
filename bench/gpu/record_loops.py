"""Records the benchmark's loops as a user would, a run directory each, to be looked at elsewhere.

python3 bench/gpu/record_loops.py FOLDER [LOOP...]
"""

from __future__ import annotations

import sys

import stepscope
from loops import LOOPS

STEPS = 4


def record(loop: str, folder: str) -> None:
    step = LOOPS[loop]()
    for _ in range(4):
        step()
    with stepscope.Profiler(
        output_path=f"{folder}/{loop}",
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        data_process=True,
    ) as profiler:
        for _ in range(STEPS):
            step()
            profiler.step()


def main() -> None:
    for loop in sys.argv[2:] or ("tiny_mlp", "gpt2_small", "resnet50"):
        record(loop, sys.argv[1])


if __name__ == "__main__":
    main()
