"""One profiler, started and stopped twice: segments.py FOLDER."""

import json
import pathlib
import sys

import mindspore as ms
import numpy as np
import stepscope

folder = pathlib.Path(sys.argv[1])
ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_device("CPU")
x = ms.Tensor(np.ones((4, 4), np.float32))


def work(times):
    for _ in range(times):
        (ms.ops.relu(x) + x).asnumpy()


work(1)
profiler = stepscope.Profiler(output_path=str(folder / "o"), start_profile=False)
for _ in range(2):
    profiler.start()
    work(3)
    profiler.stop()
    work(1)
profiler.analyse()
folder.joinpath("truth.json").write_text(json.dumps({}))
