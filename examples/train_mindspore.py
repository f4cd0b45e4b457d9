#!/usr/bin/env python3
"""A small convolutional network, trained with MindSpore on several ranks, recorded with Stepscope.

    python examples/train_mindspore.py --output runs/demo [--ranks 4] [--slow-rank 2] [--steps 12]

Each rank is a process with a data pipeline of mindspore.dataset and a profiler. Ranks average
their gradients through shared memory after each step. One rank does its forward pass three times:
the others wait for it, and the report names it.
"""

from __future__ import annotations

import argparse

import mindspore as ms
import numpy as np
import stepscope
from mindspore import nn
from mindspore.dataset import GeneratorDataset
from ranks import Rank, parse_options, run_ranks

BATCH, SIZE, CLASSES = 16, 28, 10


def make_network() -> nn.Cell:
    ms.set_seed(0)
    return nn.SequentialCell(
        nn.Conv2d(3, 16, 3, pad_mode="valid"),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(16, 32, 3, pad_mode="valid"),
        nn.ReLU(),
        nn.Flatten(),
        nn.Dense(32 * 11 * 11, CLASSES),
    )


def make_batches(count: int, seed: int) -> GeneratorDataset:
    def pictures():
        generator = np.random.default_rng(seed)
        for index in range(BATCH * count):
            picture = generator.random((3, SIZE, SIZE), dtype=np.float32)
            yield picture - picture.mean(axis=(1, 2), keepdims=True), np.int32(index % CLASSES)

    dataset = GeneratorDataset(pictures, ["picture", "label"], shuffle=False)
    return dataset.batch(BATCH)


def train(rank: Rank, options: argparse.Namespace) -> None:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    network = make_network()
    loss = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)

    def forward(pictures: ms.Tensor, labels: ms.Tensor) -> ms.Tensor:
        for _ in range(2 if rank.slow else 0):
            network(pictures)
        return loss(network(pictures), labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)
    batches = make_batches(options.steps, rank.number)
    rank.barrier.wait()
    with stepscope.Profiler(output_path=str(options.output), data_process=True) as profiler:
        for pictures, labels in batches.create_tuple_iterator(num_epochs=1):
            with stepscope.record_function("forward and backward"):
                _, gradients = gradient(pictures, labels)
                flat = np.concatenate([one.asnumpy().ravel() for one in gradients])
            rank.average(flat)
            averaged, at = [], 0
            for one in gradients:
                averaged.append(ms.Tensor(flat[at : at + one.size].reshape(one.shape)))
                at += one.size
            optimizer(tuple(averaged))
            profiler.step()


if __name__ == "__main__":
    count = sum(one.size for one in make_network().trainable_params())
    run_ranks(train, parse_options(__doc__, steps=12), count)
