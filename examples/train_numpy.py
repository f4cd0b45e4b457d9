#!/usr/bin/env python3
"""A small convolutional network, trained with NumPy on several ranks, recorded with Stepscope.

    python examples/train_numpy.py --output runs/demo [--ranks 4] [--slow-rank 2] [--steps 12]

Each rank is a process with a thread that prepares batches, and a profiler. Ranks average their
gradients through shared memory after each step. One rank does its forward pass three times: the
others wait for it, and the report names it.
"""

from __future__ import annotations

import argparse
import queue
import threading

import numpy as np
import stepscope
from ranks import Rank, parse_options, run_ranks
from stepscope.pipeline import Stage

BATCH, SIZE, CHANNELS, FILTERS, CLASSES = 64, 28, 3, 8, 10
KERNEL = 3
OUT = SIZE - KERNEL + 1
PARAMETERS = FILTERS * CHANNELS * KERNEL * KERNEL + FILTERS * OUT * OUT * CLASSES


def operator(name: str) -> stepscope.record_function:
    return stepscope.record_function(name, "operator")


def prepare_batches(stage: Stage, batches: queue.Queue, seed: int, count: int) -> None:
    """The data pipeline: makes pictures with labels, and queues them."""
    generator = np.random.default_rng(seed)
    watched = stage.watch(batches)
    for _ in range(count):
        with stage.item():
            pictures = generator.random((BATCH, CHANNELS, SIZE, SIZE), dtype=np.float32)
            pictures -= pictures.mean(axis=(2, 3), keepdims=True)
            labels = generator.integers(0, CLASSES, BATCH)
        watched.put((pictures, labels))


class Network:
    def __init__(self) -> None:
        generator = np.random.default_rng(0)
        self.weights = generator.normal(0, 0.05, PARAMETERS).astype(np.float32)
        self.gradients = np.zeros_like(self.weights)

    def split(self, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        cut = FILTERS * CHANNELS * KERNEL * KERNEL
        return flat[:cut].reshape(FILTERS, -1), flat[cut:].reshape(FILTERS * OUT * OUT, CLASSES)

    def forward(self, pictures: np.ndarray) -> np.ndarray:
        filters, dense = self.split(self.weights)
        with operator("im2col"):
            views = np.lib.stride_tricks.sliding_window_view(pictures, (KERNEL, KERNEL), (2, 3))
            self.patches = views.transpose(0, 2, 3, 1, 4, 5).reshape(BATCH, OUT * OUT, -1)
        with operator("Conv2D"):
            self.feature = self.patches @ filters.T
        with operator("ReLU"):
            self.active = np.maximum(self.feature, 0).transpose(0, 2, 1).reshape(BATCH, -1)
        with operator("MatMul"):
            return self.active @ dense

    def backward(self, scores: np.ndarray, labels: np.ndarray) -> float:
        _, dense = self.split(self.weights)
        filter_gradients, dense_gradients = self.split(self.gradients)
        with operator("SoftmaxCrossEntropy"):
            odds = np.exp(scores - scores.max(axis=1, keepdims=True))
            odds /= odds.sum(axis=1, keepdims=True)
            loss = float(-np.log(odds[np.arange(BATCH), labels] + 1e-9).mean())
            odds[np.arange(BATCH), labels] -= 1
            odds /= BATCH
        with operator("MatMulGrad"):
            dense_gradients[:] = self.active.T @ odds
            upstream = odds @ dense.T
        with operator("ReluGrad"):
            upstream = upstream.reshape(BATCH, FILTERS, -1).transpose(0, 2, 1) * (self.feature > 0)
        with operator("Conv2DBackpropFilter"):
            filter_gradients[:] = np.einsum("bpf,bpk->fk", upstream, self.patches, optimize=True)
        return loss


def train(rank: Rank, options: argparse.Namespace) -> None:
    stage = Stage("prepare", kind="generator", workers=1, capacity=4)
    batches: queue.Queue = queue.Queue(4)
    watched = stage.watch(batches)
    loader = threading.Thread(
        target=prepare_batches, args=(stage, batches, rank.number, options.steps), daemon=True
    )
    network = Network()
    rank.barrier.wait()
    with stepscope.Profiler(output_path=str(options.output), data_process=True) as profiler:
        loader.start()
        for _ in range(options.steps):
            pictures, labels = watched.get()
            with stepscope.record_function("forward"):
                for _ in range(3 if rank.slow else 1):
                    scores = network.forward(pictures)
            with stepscope.record_function("backward"):
                network.backward(scores, labels)
            rank.average(network.gradients)
            with operator("Momentum"):
                network.weights -= 0.05 * network.gradients
            profiler.step()
    loader.join()


if __name__ == "__main__":
    run_ranks(train, parse_options(__doc__, steps=12), PARAMETERS)
