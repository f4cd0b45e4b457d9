"""Trains a small LLaMA with mindformers' own Trainer: train.py CONFIG. Knows nothing of a profiler;
says in truth.json when each step began and ended."""

import json
import pathlib
import sys
import time

import mindspore as ms
import numpy as np
from mindformers import MindFormerConfig, Trainer
from mindformers.core.context import build_context
from mindformers.tools.register import MindFormerModuleType, MindFormerRegister
from mindformers.wrapper import MFTrainOneStepCell

STEPS = 12


@MindFormerRegister.register(MindFormerModuleType.WRAPPER)
class TrainStepOnCpu(MFTrainOneStepCell):
    """Without the check for overflows, which has no CPU kernel."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.never = ms.Tensor([False])

    def start_overflow_check(self, pre_cond, compute_input):
        return pre_cond, compute_input

    def get_overflow_status(self, status, compute_output):
        return self.never


@MindFormerRegister.register(MindFormerModuleType.CALLBACK)
class StepTimes(ms.Callback):
    def __init__(self, **options):
        super().__init__()
        self.steps = []

    def on_train_step_begin(self, run_context):
        self.steps.append([run_context.original_args().cur_step_num, time.time_ns()])

    def on_train_step_end(self, run_context):
        run_context.original_args().net_outputs[0].asnumpy()
        self.steps[-1].append(time.time_ns())

    def on_train_end(self, run_context):
        pathlib.Path("truth.json").write_text(json.dumps({"steps": self.steps}))


def dataset(batch_size, length):
    random = np.random.default_rng(0)
    tokens = random.integers(3, 255, (STEPS * batch_size, length)).astype(np.int32)
    return ms.dataset.NumpySlicesDataset({"input_ids": tokens}, shuffle=False).batch(batch_size)


def main(path):
    config = MindFormerConfig(path)
    build_context(config)
    tokens = config.model.model_config.seq_length + 1
    data = dataset(config.runner_config.batch_size, tokens)
    Trainer(args=config, task="text_generation", train_dataset=data).train()


if __name__ == "__main__":
    main(sys.argv[1])
