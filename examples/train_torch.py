#!/usr/bin/env python3
"""A small convolutional network, trained with PyTorch on several ranks, recorded with Stepscope.

    python examples/train_torch.py --output runs/demo [--ranks 4] [--slow-rank 2] [--steps 12]

Each rank is a process with a DataLoader and a profiler. Ranks average their gradients through
shared memory after each step. One rank does its forward pass three times: the others wait for it,
and the report names it.
"""

from __future__ import annotations

import argparse

import torch
from ranks import Rank, parse_options, run_ranks
from stepscope.torch import profile, record_function
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.data import DataLoader, Dataset

BATCH, SIZE, CLASSES = 32, 28, 10


class Pictures(Dataset):
    """Made up when they are asked for, as if they were read and decoded."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        picture = torch.rand(3, SIZE, SIZE)
        return picture - picture.mean(dim=(1, 2), keepdim=True), index % CLASSES


def make_network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(
        nn.Conv2d(3, 16, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(32 * 11 * 11, CLASSES),
    )


def train(rank: Rank, options: argparse.Namespace) -> None:
    torch.set_num_threads(1)
    network = make_network()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9)
    batches = DataLoader(Pictures(BATCH * options.steps), batch_size=BATCH)
    parameters = list(network.parameters())
    rank.barrier.wait()
    with profile(
        output_path=str(options.output), record_shapes=True, profile_memory=True, with_modules=True
    ) as profiler:
        for pictures, labels in batches:
            with record_function("forward"):
                for _ in range(3 if rank.slow else 1):
                    loss = nn.functional.cross_entropy(network(pictures), labels)
            optimizer.zero_grad()
            with record_function("backward"):
                loss.backward()
            flat = parameters_to_vector([one.grad for one in parameters])
            rank.average(flat.numpy())
            gradients = [torch.empty_like(one) for one in parameters]
            vector_to_parameters(flat, gradients)
            for one, gradient in zip(parameters, gradients):
                one.grad = gradient
            optimizer.step()
            profiler.step()


if __name__ == "__main__":
    count = sum(one.numel() for one in make_network().parameters())
    run_ranks(train, parse_options(__doc__, steps=12), count)
