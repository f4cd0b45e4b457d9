"""Model.fit, which evaluates after each epoch: fit.py HOW FOLDER; HOW is profiler, slow_input (a
profiler, and batches that take long to make), callback or dynamic."""

import json
import pathlib
import sys
import time

import mindspore as ms
import stepscope
from mindspore import nn
from mindspore.dataset import GeneratorDataset
from mindspore.train import Callback, Model
from networks import LeNet, batch
from stepscope.mindspore import StopAtStep

how, folder = sys.argv[1:]
ms.set_context(mode=ms.GRAPH_MODE)
ms.set_device("CPU")
network = LeNet()
# What was made ahead while the network was compiled must not last for all steps.
values, labels = batch(network, 16 * (6 if how == "slow_input" else 4))
trained = []


def samples():
    for sample in zip(values, labels):
        time.sleep(0.05 if how == "slow_input" else 0)
        yield sample


def data():
    made = GeneratorDataset(samples, ["x", "y"], shuffle=False, python_multiprocessing=False)
    return made.batch(16)


class Count(Callback):
    def on_train_step_end(self, context):
        trained.append(context.original_args().cur_step_num)


callbacks, profiler = [Count()], None
if how == "callback":
    callbacks.append(StopAtStep(3, 6, output_path=folder))
elif how == "dynamic":
    settings = pathlib.Path(folder, "dyn_cfg")
    settings.mkdir()
    wanted = json.dumps({"start_step": 3, "stop_step": 6})
    (settings / "profiler_config.json").write_text(wanted)
    callbacks.append(stepscope.DynamicProfilerMonitor(str(settings), folder))
else:
    profiler = stepscope.Profiler(output_path=folder, data_process=True)
optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
model = Model(network, loss, optimizer, metrics={"accuracy"})
model.fit(3, data(), data(), callbacks=callbacks, dataset_sink_mode=False)
if profiler:
    profiler.stop()
pathlib.Path(folder, "truth.json").write_text(json.dumps({"trained": trained}))
