"""Data parallel, started by msrun: ranks.py STRAGGLER SECONDS FOLDER. The straggler comes late to
the exchange of gradients."""

import json
import pathlib
import sys
import time

import mindspore as ms
import stepscope
from mindspore import nn
from mindspore.communication import get_rank, init
from mindspore.graph.api import _pynative_executor
from networks import MLP, tensors

straggler, seconds, folder = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
init()
rank = get_rank()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
network = MLP()
loss = nn.CrossEntropyLoss()
optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)


def forward(x, y):
    return loss(network(x), y)


gradient = ms.value_and_grad(forward, None, optimizer.parameters)
exchange = nn.DistributedGradReducer(optimizer.parameters)
x, y = tensors(network, 16)
times = []
with stepscope.profile(
    activities=[stepscope.ProfilerActivity.CPU],
    record_shapes=True,
    schedule=stepscope.schedule(wait=1, warmup=1, active=3, repeat=1),
    on_trace_ready=stepscope.tensorboard_trace_handler(folder, analyse_flag=False),
) as profiler:
    for number in range(6):
        value, gradients = gradient(x, y)
        value.asnumpy()
        _pynative_executor.sync()
        if rank == straggler:
            time.sleep(seconds)
        times.append([number, time.time_ns()])
        optimizer(exchange(gradients))
        _pynative_executor.sync()
        profiler.step()
if rank == 0:
    pathlib.Path(folder, "truth.json").write_text(json.dumps({"steps": times}))
