"""A dataset of which the iterator is made before or after the start: iterator.py WHEN FOLDER."""

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
batches = data.create_tuple_iterator(num_epochs=1) if when == "before" else None
with stepscope.Profiler(output_path=folder, data_process=True):
    batches = batches or data.create_tuple_iterator(num_epochs=1)
    count = len(list(batches))
pathlib.Path(folder, "truth.json").write_text(json.dumps({"batches": count}))
