"""Statistics of operators: op_analyse.py MODE FOLDER; MODE is graph or pynative."""

import json
import pathlib
import sys

import mindspore as ms
import stepscope
from networks import MLP, make_step, tensors

mode, folder = sys.argv[1:]
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
network = MLP()
step = make_step(network)
if mode == "graph":
    step = ms.jit(step)
x, y = tensors(network, 16)
step(x, y).asnumpy()
profiler = stepscope.Profiler(output_path=f"{folder}/o", record_shapes=True)
early = profiler.op_analyse("ReLU")
for _ in range(3):
    step(x, y).asnumpy()
profiler.stop()
truth = {
    "two": profiler.op_analyse(["ReLU", "BiasAdd"]),
    "none": [early, profiler.op_analyse("NoSuch"), profiler.op_analyse(5), profiler.op_analyse([])],
}
pathlib.Path(folder, "truth.json").write_text(json.dumps(truth))
