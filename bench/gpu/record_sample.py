"""Makes the recording of tests/data/gpu_training: three steps of a small network with everything.

python3 bench/gpu/record_sample.py FOLDER
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import stepscope
import torch
from loops import Block
from torch import nn
from torch.nn import functional
from triton_kernel import add_one

BATCH, LENGTH, WIDTH, VOCABULARY = 8, 64, 64, 512


def captured(model: nn.Module) -> Callable[[], None]:
    """A forward pass as a CUDA graph."""
    inputs = torch.randn(BATCH, LENGTH, WIDTH, device="cuda")
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            model(inputs)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(inputs)
    return graph.replay


def main() -> None:
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Embedding(VOCABULARY, WIDTH), Block(WIDTH, 4), nn.Linear(WIDTH, VOCABULARY)
    ).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    replay = captured(Block(WIDTH, 4).cuda())
    numbers = torch.zeros(4096, device="cuda")
    add_one(numbers)
    batches = [torch.randint(VOCABULARY, (BATCH, LENGTH)).pin_memory() for _ in range(5)]
    schedule = stepscope.schedule(wait=1, warmup=1, active=3, repeat=1)
    with stepscope.Profiler(
        output_path=sys.argv[1], schedule=schedule, record_shapes=True, profile_memory=True
    ) as profiler:
        for batch in batches:
            with torch.cuda.nvtx.range("copy"):
                tokens = batch.cuda(non_blocking=True)
            with stepscope.record_function("forward"):
                scores = model(tokens)
                loss = functional.cross_entropy(scores.flatten(0, 1), tokens.flatten())
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            replay()
            add_one(numbers)
            loss.item()
            profiler.step()


if __name__ == "__main__":
    main()
