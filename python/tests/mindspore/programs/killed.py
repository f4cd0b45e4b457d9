"""Trains for three seconds and is killed: killed.py FOLDER."""

import json
import os
import pathlib
import signal
import sys
import time

import mindspore as ms
import stepscope
from networks import MLP, make_step, tensors

folder = sys.argv[1]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = MLP()
step = ms.jit(make_step(network))
x, y = tensors(network, 16)
step(x, y).asnumpy()
profiler = stepscope.Profiler(
    activities=[stepscope.ProfilerActivity.CPU], output_path=folder, data_process=True
)
begun, number = time.monotonic(), 0
while time.monotonic() < begun + 3:
    step(x, y).asnumpy()
    profiler.step()
    number += 1
truth = {"last_step": number, "killed_ns": time.time_ns(), "pid": os.getpid()}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
os.kill(os.getpid(), signal.SIGKILL)
