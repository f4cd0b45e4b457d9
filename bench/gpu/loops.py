"""The training loops that the GPU benchmarks run: plain PyTorch, nothing downloaded.

Each function returns step(), which does one training step and returns nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, Dataset

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


def gpt2_small(batch: int = 32, length: int = 1024) -> Step:
    """12 blocks of width 768, bf16, about 124 million parameters. The GPU is the bottleneck."""
    vocabulary = 50257
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


class Images(Dataset[tuple[torch.Tensor, int]]):
    """Random pictures in memory; workers copy them into batches, as they would decoded ones."""

    def __init__(self, count: int) -> None:
        self.pictures = torch.randint(0, 256, (count, 3, 224, 224), dtype=torch.uint8)

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        return self.pictures[index], index % 1000


def batches(batch: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    loader = DataLoader(
        Images(4 * batch), batch, shuffle=True, num_workers=8, pin_memory=True,
        persistent_workers=True, prefetch_factor=4, drop_last=True,
    )  # fmt: skip
    while True:
        yield from loader


def resnet50(batch: int = 256) -> Step:
    """With a data loader. The GPU is the bottleneck."""
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
    data = batches(batch)

    def step() -> None:
        pictures, numbers = next(data)
        labels = numbers.cuda(non_blocking=True)
        images = pictures.cuda(non_blocking=True).float().div_(255)
        images = images.to(memory_format=torch.channels_last)
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    return step


def gpt2_small_batch() -> Step:
    """The same with a sixteenth of the work: the host is the bottleneck."""
    return gpt2_small(batch=4, length=512)


LOOPS: dict[str, Callable[[], Step]] = {
    "tiny_mlp": tiny_mlp,
    "gpt2_small": gpt2_small,
    "resnet50": resnet50,
    "gpt2_few": gpt2_small_batch,
    "graph_mlp": graph_mlp,
}
# Steps of a turn: long enough to average over, short enough for many rounds in a few minutes.
STEPS = {"tiny_mlp": 60, "gpt2_small": 5, "resnet50": 6, "gpt2_few": 8, "graph_mlp": 400}
# Until the threads behind a loop (the one that pins batches) launch nothing more.
QUIET_SECONDS = {"resnet50": 0.5}
# How the time of a benchmark is divided.
SHARES = {"tiny_mlp": 2, "gpt2_small": 3, "resnet50": 3, "gpt2_few": 2, "graph_mlp": 1}
