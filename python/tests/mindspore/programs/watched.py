"""Model.train under a watch, with one slow step: watched.py SLOW_STEP FOLDER."""

import json
import pathlib
import sys
import time

import mindspore as ms
import mindspore.dataset as ds
import stepscope.triggers
from mindspore import nn
from mindspore.train import Model
from networks import MLP, batch

slow_step = int(sys.argv[1])
folder = pathlib.Path(sys.argv[2])
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = MLP()
values, labels = batch(network, 60)


def samples():
    for number, sample in enumerate(zip(values, labels), 1):
        # The loader is a little ahead: it is the step that waits which is slow.
        time.sleep(8 if number == slow_step else 0.02)
        yield sample


data = ds.GeneratorDataset(samples, ["x", "y"], shuffle=False, python_multiprocessing=False).batch(
    1
)
optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, optimizer)
watch = stepscope.triggers.watch(
    folder / "captures",
    slow_step=stepscope.triggers.SlowStep(factor=25, steps=1),  # more than a busy machine's
    no_progress_s=None,
)
model.train(1, data, dataset_sink_mode=False)
watch.stop()
captures = [[str(capture.path), capture.kind] for capture in watch.captures]
folder.joinpath("truth.json").write_text(json.dumps({"captures": captures}))
