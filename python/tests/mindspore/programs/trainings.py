"""Two trainings in one recording: trainings.py FOLDER."""

import json
import pathlib
import sys

import mindspore as ms
import stepscope
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Model
from networks import MLP, batch

ms.set_device("CPU")
network = MLP()
values, labels = batch(network, 32)
optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, optimizer)
with stepscope.Profiler(output_path=sys.argv[1]):
    for _ in range(2):
        data = NumpySlicesDataset({"x": values, "y": labels}).batch(8)
        model.train(1, data, dataset_sink_mode=False)
pathlib.Path(sys.argv[1], "truth.json").write_text(json.dumps({}))
