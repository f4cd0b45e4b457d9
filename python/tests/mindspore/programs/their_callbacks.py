"""Callbacks as MindSpore's documentation has them, which know ms.Callback and ms.Profiler only:
their_callbacks.py CALLBACK FOLDER; CALLBACK is step or epoch."""

import json
import os
import pathlib
import sys

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.communication import get_rank
from mindspore.train import Model
from networks import LeNet, batch

callback, folder = sys.argv[1:]


class StopAt(ms.Callback):
    def __init__(self, first, last):
        super().__init__()
        self.first, self.last = first, last
        try:
            rank = get_rank()
        except RuntimeError:
            rank = int(os.getenv("RANK_ID", "0"))
        output_path = f"profiler_data/rank_{rank}"
        self.profiler = ms.Profiler(start_profile=False, output_path=output_path)

    def came(self, number):
        if number == self.first:
            self.profiler.start()

    def done(self, number):
        if number == self.last:
            self.profiler.stop()
            self.profiler.analyse()


class StopAtStep(StopAt):
    def on_train_step_begin(self, run_context):
        self.came(run_context.original_args().cur_step_num)

    def on_train_step_end(self, run_context):
        self.done(run_context.original_args().cur_step_num)


class StopAtEpoch(StopAt):
    def on_train_epoch_begin(self, run_context):
        self.came(run_context.original_args().cur_epoch_num)

    def on_train_epoch_end(self, run_context):
        self.done(run_context.original_args().cur_epoch_num)


ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")
network = LeNet()
values, labels = batch(network, 16 * 8)
data = ds.GeneratorDataset(
    lambda: zip(values, labels), ["x", "y"], shuffle=False, python_multiprocessing=False
).batch(16)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, nn.Momentum(network.trainable_params(), 0.01, 0.9))
chosen = StopAtStep(3, 5) if callback == "step" else StopAtEpoch(2, 2)
model.train(3, data, callbacks=[chosen], dataset_sink_mode=callback == "epoch")
truth = {"profiler_is_from": type(chosen.profiler).__module__}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
