"""A hand-written loop: loop.py MODE NETWORK STEPS OPTIONS FOLDER; MODE is graph or pynative."""

import json
import os
import pathlib
import sys
import time

import mindspore as ms
import stepscope
from networks import NETWORKS, make_step, tensors

mode, name, steps, options, folder = sys.argv[1:]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = NETWORKS[name]()
step = make_step(network)
if mode == "graph":
    step = ms.jit(step)
x, y = tensors(network, 16)
step(x, y).asnumpy()


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * 4096


times, memory = [], []
with stepscope.profile(
    activities=[stepscope.ProfilerActivity.CPU],
    schedule=stepscope.schedule(wait=1, warmup=1, active=int(steps), repeat=1),
    on_trace_ready=stepscope.tensorboard_trace_handler(folder, analyse_flag=False),
    **json.loads(options),
) as profiler:
    for number in range(int(steps) + 3):
        before = time.time_ns()
        step(x, y).asnumpy()
        times.append([number, before, time.time_ns()])
        memory.append(resident())
        profiler.step()
truth = {
    "pid": os.getpid(),
    "steps": times[2 : 2 + int(steps)],
    "memory": memory[2 : 2 + int(steps)],
}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
