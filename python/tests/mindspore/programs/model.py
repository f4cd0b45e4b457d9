"""Model.train: model.py MODE SINK CALLBACK FOLDER; CALLBACK is none, step or epoch."""

import json
import pathlib
import sys
import time

import mindspore as ms
import mindspore.dataset as ds
import stepscope
from mindspore import nn
from mindspore.train import Callback, Model
from networks import LeNet, batch
from stepscope.mindspore import StopAtEpoch, StopAtStep

mode, sink, callback, folder = sys.argv[1:]
ms.set_context(mode=ms.GRAPH_MODE if mode == "graph" else ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = LeNet()
values, labels = batch(network, 16 * 8)
data = ds.GeneratorDataset(
    lambda: zip(values, labels), ["x", "y"], shuffle=False, python_multiprocessing=False
).batch(16)
times = []


class Bracket(Callback):
    def on_train_step_begin(self, context):
        self.begun = time.time_ns()

    def on_train_step_end(self, context):
        number = context.original_args().cur_step_num
        times.append([number, self.begun, time.time_ns()])


options = {
    "output_path": folder, "activities": [stepscope.ProfilerActivity.CPU], "record_shapes": True,
    "data_process": True,
}  # fmt: skip
callbacks, profiler = [Bracket()], None
if callback == "step":
    callbacks.append(StopAtStep(3, 5, **options))
elif callback == "epoch":
    callbacks.append(StopAtEpoch(2, 2, **options))
else:
    profiler = stepscope.Profiler(**options)
optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, optimizer)
model.train(3, data, callbacks=callbacks, dataset_sink_mode=sink == "sink")
if profiler:
    profiler.stop()
pathlib.Path(folder, "truth.json").write_text(json.dumps({"steps": times}))
