"""A kernel that is launched through the driver, not through the runtime."""

from __future__ import annotations

import torch
import triton
from triton import language


@triton.jit
def _add_one(numbers, count, BLOCK: language.constexpr):  # type: ignore[no-untyped-def] # noqa: N803
    places = language.program_id(0) * BLOCK + language.arange(0, BLOCK)
    inside = places < count
    language.store(numbers + places, language.load(numbers + places, mask=inside) + 1, mask=inside)


def add_one(numbers: torch.Tensor) -> None:
    _add_one[(triton.cdiv(len(numbers), 1024),)](numbers, len(numbers), BLOCK=1024)
