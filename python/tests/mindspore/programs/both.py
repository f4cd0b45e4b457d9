"""MindSpore's profiler while ours records, and the other way round: both.py FOLDER."""

import json
import pathlib
import sys

import mindspore as ms
import mindspore.profiler
import stepscope
from networks import MLP, make_step, tensors

folder = pathlib.Path(sys.argv[1])
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = MLP()
step = ms.jit(make_step(network))
x, y = tensors(network, 16)
step(x, y).asnumpy()


def ours(name):
    return stepscope.Profiler(
        output_path=str(folder / name), activities=[stepscope.ProfilerActivity.CPU]
    )


def theirs():
    return mindspore.profiler.profile(
        activities=[mindspore.profiler.ProfilerActivity.CPU],
        on_trace_ready=mindspore.profiler.tensorboard_trace_handler(
            str(folder / "theirs"), analyse_flag=False
        ),
    )


def operators(name):
    with stepscope.open(str(folder / name)) as run:
        return int(run.query("select count(*) as n from ops")["n"][0])


first = ours("ours_first")
second = theirs()
second.start()
for _ in range(3):
    step(x, y).asnumpy()
second.stop()
first.stop()
other = theirs()
other.start()
late = ours("theirs_first")
for _ in range(3):
    step(x, y).asnumpy()
late.stop()
other.stop()
truth = {name: operators(name) for name in ("ours_first", "theirs_first")}
folder.joinpath("truth.json").write_text(json.dumps(truth))
