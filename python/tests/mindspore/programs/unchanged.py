"""A program that knows mindspore.profiler only, and uses it as mindformers does: unchanged.py
FOLDER. With MS_PROFILER_OPTIONS it leaves profiling to them."""

import json
import os
import pathlib
import sys

import mindspore as ms
from mindspore.profiler import (
    ProfilerActivity,
    ProfilerLevel,
    _ExperimentalConfig,
    mstx,
    profile,
    schedule,
    tensorboard_trace_handler,
)
from networks import MLP, make_step, tensors

folder = sys.argv[1]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = MLP()
step = ms.jit(make_step(network))
x, y = tensors(network, 16)
step(x, y).asnumpy()
profiler = None
if not os.environ.get("MS_PROFILER_OPTIONS"):
    profiler = profile(
        activities=[ProfilerActivity.CPU],
        start_profile=False,
        schedule=schedule(wait=0, warmup=0, active=3, repeat=1, skip_first=2),
        on_trace_ready=tensorboard_trace_handler(folder, analyse_flag=False),
        experimental_config=_ExperimentalConfig(profiler_level=ProfilerLevel.Level0, mstx=True),
    )
for number in range(8):
    if profiler and number == 0:
        profiler.start()
        profiler.step()
    mark = mstx.range_start(f"step {number}", None)
    step(x, y).asnumpy()
    mstx.range_end(mark)
    if profiler:
        profiler.step()
truth = {"profile_is_from": profile.__module__}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
