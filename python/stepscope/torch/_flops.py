"""FLOPs of operators by the shapes of their inputs, for those that torch counts, as torch counts.

The analyses of ``stepscope.open`` count more operators, and see docs/analyses.md for how.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Shapes = list[list[int]]

# Where the two matrices stand among the inputs.
_MATRICES = {"aten::mm": 0, "aten::addmm": 1, "aten::bmm": 0, "aten::baddbmm": 1}
_ELEMENTWISE = ("aten::add", "aten::mul")
_CONVOLUTION, _ITS_BACKWARD = "aten::conv2d", "aten::convolution_backward"


def flops_of(events: Any) -> NDArray[Any]:
    """One number for each row of a table with names and shapes, 0 where there is none."""
    names, texts = events.categories("name"), [*events.categories("shapes"), ""]
    shapes = events.codes("shapes").astype(np.int64) % len(texts)  # -1, none, is the last
    pairs = events.codes("name").astype(np.int64) * len(texts) + shapes
    used, rows = np.unique(pairs, return_inverse=True)
    calls = [(names[pair // len(texts)], _parsed(texts[pair % len(texts)])) for pair in used]
    # A convolution's inputs do not tell the size of its output; its gradient, given to the
    # backward operator with the same input and weight, has that size.
    outputs = {
        str(inputs[1:3]): inputs[0]
        for name, inputs in calls
        if name == _ITS_BACKWARD and len(inputs) > 2
    }
    counts = np.array([_count(name, inputs, outputs) for name, inputs in calls], np.int64)
    return counts[rows] if len(counts) else np.zeros(len(rows), np.int64)


def _parsed(text: str) -> Shapes:
    return json.loads(text) if text else []


def _count(name: str, inputs: Shapes, outputs: dict[str, list[int]]) -> int:
    first = _MATRICES.get(name)
    if first is not None and len(inputs) > first + 1:
        left, right = inputs[first : first + 2]
        dimensions = 3 if "bmm" in name else 2
        if len(left) == len(right) == dimensions:
            return 2 * math.prod(left) * right[-1]
    elif name in _ELEMENTWISE and inputs:
        return math.prod(inputs[0])
    elif name == _CONVOLUTION and len(inputs) > 1 and len(inputs[0]) == len(inputs[1]) == 4:
        output = outputs.get(str(inputs[:2]))
        return 2 * math.prod(output) * math.prod(inputs[1][1:]) if output else 0
    return 0
