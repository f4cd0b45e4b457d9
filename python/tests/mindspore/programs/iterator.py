"""A dataset, its iterator and a profiler: iterator.py WHEN FOLDER.

WHEN is when the iterator is made: before the profiler, after its start, or between, when the
profiler is there and has not been started; then it is started twice. With "gone" another iterator
came and went there, with "second" another one came first. With "epochs" there is one for each of
three epochs, with "many" for each of 101.
"""

import json
import pathlib
import sys

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
import stepscope

when, folder = sys.argv[1:]
ms.set_device("CPU")
data = ds.NumpySlicesDataset({"x": np.arange(64, dtype=np.float32)}).batch(8)


def made():
    return data.create_tuple_iterator(num_epochs=1)


batches = made() if when == "before" else None
profiler = stepscope.Profiler(output_path=folder, data_process=True, start_profile=False)
if when in ("gone", "second"):
    other = data.repeat(2).create_tuple_iterator(num_epochs=1)
    next(other)
if when == "gone":
    del other
if when in ("between", "second"):
    batches = made()
    next(batches), next(batches)
profiler.start()
for _ in range({"epochs": 2, "many": 100}.get(when, 0)):
    assert len(list(made())) == 8
batches = batches or made()
next(batches)
if when == "between":
    profiler.stop()
    next(batches)
    profiler.start()
count = len(list(batches))
profiler.stop()
pathlib.Path(folder, "truth.json").write_text(json.dumps({"rest": count}))
