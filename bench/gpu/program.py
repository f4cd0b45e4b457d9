"""A CUDA program that knows nothing of Stepscope, for recording it from outside.

    stepscope record --tier full -- python3 bench/gpu/program.py

Trains a small network for ten steps, each an NVTX range of its own, replays a CUDA graph ten times,
and launches a kernel of Triton's ten times, where that is installed. Prints what it did.
"""

from __future__ import annotations

import torch
from loops import graph_mlp, tiny_mlp

TIMES = 10


def run_triton() -> int:
    try:
        from triton_kernel import add_one
    except ImportError:
        return 0
    numbers = torch.zeros(4096, device="cuda")
    for _ in range(TIMES):
        add_one(numbers)
    assert numbers.sum().item() == TIMES * len(numbers)
    return TIMES


def main() -> None:
    step = tiny_mlp()
    replay = graph_mlp()
    for number in range(TIMES):
        with torch.cuda.nvtx.range(f"training step {number}"):
            step()
    for _ in range(TIMES):
        replay()
    of_triton = run_triton()
    big = torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    print(f"{TIMES} steps, {TIMES} replays, {of_triton} kernels of Triton, {big.numel()} bytes")


if __name__ == "__main__":
    main()
