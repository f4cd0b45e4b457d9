"""Dynamic profiling: dynamic.py HOW FOLDER; HOW is callback, loop or drop-in.

The program edits the configuration between its own steps, so that every window is known.
"""

import json
import pathlib
import sys
import time

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn
from mindspore.train import Callback, Model
from networks import LeNet, batch, make_step, tensors

how, folder = sys.argv[1:]
if how == "drop-in":
    from mindspore.profiler import DynamicProfilerMonitor
else:
    from stepscope import DynamicProfilerMonitor

ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = LeNet()
config = pathlib.Path(folder, "cfg", "profiler_config.json")
monitor = DynamicProfilerMonitor(cfg_path=str(config.parent), output_path=f"{folder}/runs")
made = json.loads(config.read_text())
times = []
edits = {
    2: {**made, "start_step": 5, "stop_step": 7},
    8: {**made, "start_step": 7, "stop_step": 12},
    11: {**made, "start_step": 14, "stop_step": 14, "analyse_mode": 0},
}


def edit(number):
    if number in edits:
        version = monitor._version
        config.write_text(json.dumps(edits[number]))
        end = time.monotonic() + 120
        while monitor._version == version:
            assert time.monotonic() < end, "it was not read"
            time.sleep(0.01)


class Bracket(Callback):
    def on_train_step_begin(self, context):
        edit(context.original_args().cur_step_num)
        self.begun = time.time_ns()

    def on_train_step_end(self, context):
        number = context.original_args().cur_step_num
        times.append([number, self.begun, time.time_ns()])


if how == "loop":
    step, data = make_step(network), tensors(network, 16)
    for number in range(1, 17):
        edit(number)
        begun = time.time_ns()
        step(*data).asnumpy()
        times.append([number, begun, time.time_ns()])
        monitor.step()
else:
    values, labels = batch(network, 16 * 8)
    data = ds.GeneratorDataset(
        lambda: zip(values, labels), ["x", "y"], shuffle=False, python_multiprocessing=False
    ).batch(16)
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = Model(network, loss, optimizer)
    model.train(2, data, callbacks=[Bracket(), monitor], dataset_sink_mode=False)
truth = {"steps": times, "made": made, "monitor": f"{type(monitor).__mro__[1].__module__}"}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
