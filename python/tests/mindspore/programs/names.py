"""All of mindspore.profiler that programs use, and a schedule of their own: names.py FOLDER."""

import json
import pathlib
import sys

import mindspore as ms
from mindspore.profiler import Profiler, ProfilerActivity
from mindspore.profiler.profiler import analyse
from mindspore.profiler.schedule import ProfilerAction
from networks import MLP, make_step, tensors

folder = sys.argv[1]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
network = MLP()
step = ms.jit(make_step(network))
x, y = tensors(network, 16)


def every_second(number):
    return ProfilerAction.RECORD_AND_SAVE if number == 2 else ProfilerAction.NONE


with Profiler(
    activities=[ProfilerActivity.CPU],
    output_path=folder,
    schedule=every_second,
    parallel_strategy=True,
) as profiler:
    for _ in range(4):
        step(x, y).asnumpy()
        profiler.step()
truth = {"modules": [one.__module__ for one in (Profiler, analyse, ProfilerAction)]}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
