"""The training loops that the GPU benchmarks run: plain PyTorch, nothing downloaded.

Each function returns step(), which does one training step and returns nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional

Step = Callable[[], None]


def tiny_mlp() -> Step:
    """Launch-bound: small kernels, one after another; the host is the bottleneck."""
    model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(128, 128), nn.ReLU())])
    model = model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, foreach=False)
    batch = torch.randn(64, 128, device="cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        model(batch).square().mean().backward()
        optimizer.step()

    return step


def graph_mlp() -> Step:
    """The same network as a CUDA graph: one launch for many kernels."""
    model = nn.Sequential(*[layer for _ in range(8) for layer in (nn.Linear(128, 128), nn.ReLU())])
    model = model.cuda()
    batch = torch.randn(64, 128, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            model(batch).square().mean().backward()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(batch).square().mean().backward()
    return graph.replay


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.projection = nn.Linear(width, width)
        self.before_mlp = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.before_attention(x)).chunk(3, dim=-1)
        q, k, v = (p.view(batch, length, self.heads, -1).transpose(1, 2) for p in parts)
        attended = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.before_mlp(x))


def gpt2_small() -> Step:
    """12 blocks of width 768, sequences of 512, bf16: about 124 million parameters."""
    vocabulary, length, batch = 50257, 512, 8
    embedding = nn.Embedding(vocabulary, 768)
    positions = nn.Embedding(length, 768)
    blocks = nn.Sequential(*[Block(768, 12) for _ in range(12)])
    head = nn.Sequential(nn.LayerNorm(768), nn.Linear(768, vocabulary, bias=False))
    model = nn.ModuleList([embedding, positions, blocks, head]).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(vocabulary, (batch, length), device="cuda")
    places = torch.arange(length, device="cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            logits = head(blocks(embedding(tokens) + positions(places)))
            loss = functional.cross_entropy(logits.view(-1, vocabulary), tokens.view(-1))
        loss.backward()
        optimizer.step()

    return step


class Bottleneck(nn.Module):
    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, stride, 1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet50() -> Step:
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
    ]
    inputs = 64
    for width, count, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for index in range(count):
            layers.append(Bottleneck(inputs, width, stride if index == 0 else 1))
            inputs = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)]
    model = nn.Sequential(*layers).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    images = torch.randn(64, 3, 224, 224, device="cuda").to(memory_format=torch.channels_last)
    labels = torch.randint(1000, (64,), device="cuda")

    def step() -> None:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


MODELS: dict[str, Callable[[], Step]] = {
    "tiny_mlp": tiny_mlp,
    "graph_mlp": graph_mlp,
    "gpt2_small": gpt2_small,
    "resnet50": resnet50,
}
# Steps of a round: long enough to average over, short enough for many rounds in a few minutes.
STEPS = {"tiny_mlp": 300, "graph_mlp": 1000, "gpt2_small": 25, "resnet50": 25}
