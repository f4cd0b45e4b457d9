"""Small networks, with the operator counts of shared/spec/mindspore_2_10.md: a step of LeNet is 107
operators in PyNative mode, one of the MLP 75 in a graph and 90 in PyNative mode."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class LeNet(nn.Cell):
    shape = (1, 32, 32)

    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.c2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()
        self.d1, self.d2, self.d3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.c1(x)))
        x = self.pool(self.relu(self.c2(x)))
        return self.d3(self.relu(self.d2(self.relu(self.d1(self.flatten(x))))))


class MLP(nn.Cell):
    shape = (64,)

    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.d3 = nn.Dense(64, 128), nn.Dense(128, 128), nn.Dense(128, 10)
        self.relu = nn.ReLU()

    def construct(self, x):
        return self.d3(self.relu(self.d2(self.relu(self.d1(x)))))


NETWORKS = {"lenet": LeNet, "mlp": MLP}


def batch(network, size, seed=0):
    values = np.random.default_rng(seed).standard_normal((size, *network.shape))
    return values.astype(np.float32), (np.arange(size) % 10).astype(np.int32)


def make_step(network):
    loss = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)

    def forward(x, y):
        return loss(network(x), y)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        value, gradients = gradient(x, y)
        optimizer(gradients)
        return value

    return step


def tensors(network, size):
    return [Tensor(values) for values in batch(network, size)]
